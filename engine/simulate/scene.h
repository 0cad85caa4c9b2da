// The scene in front of the simulated instrument: scattering layers between curved boundaries, tubes with flowing
// blood, plane reflectors. Lengths are geometric micrometres: x along A-scans, y along B-scans, z downwards from zero
// delay.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/scan/scan_pattern.h"
#include "engine/simulate/motion.h"
#include "engine/simulate/scene_file.h"
#include "engine/simulate/simulator.h"

namespace echolux {

// A surface as height over the scene. u and v range from -1/2 to 1/2 across the scene.
struct Boundary {
    double base_um = 0;
    double tilt_um = 0;        // rise along x, and half as much along y
    double bow_um = 0;         // height of the corners relative to the centre
    double wave_um = 0;        // amplitude of a shallow ripple
    double pit_um = 0;         // depth of a foveal pit at the centre
    double pit_radius_um = 1;  // radius at 1/e
};

// A scattering layer between two boundaries.
struct Layer {
    double brightness = 0;          // amplitude relative to Simulation::brightness
    double attenuation_per_mm = 0;  // attenuation of the amplitude, round trip
};

// A vessel whose sections perpendicular to y are discs. Laminar flow along y is the same in every section, so volume is
// conserved where the tube bends.
struct Tube {
    double x_um = 0;      // offset from the centre of the field
    double swing_um = 0;  // amplitude of the meander around x_um
    double period_um = 1;
    double phase_rad = 0;  // phase of the meander at the centre of the field
    double z_um = 0;       // depth at the centre of the field
    double descent = 0;
    double bow_um = 0;
    double radius_um = 0;
    double wall_um = 0;
    double brightness = 0;
    double wall_brightness = 0;
    double attenuation_per_mm = 0;  // in addition to that of the layer
    double peak_mm_s = 0;           // speed along y on the axis, mean over time
};

// A plane reflector perpendicular to the beam.
struct Reflector {
    double depth_um = 0;
    double amplitude = 0;  // fringe amplitude relative to the reference light
};

// A scene for a given field and depth range.
class Scenery {
  public:
    // Throws Error{bad_setting} if the scene does not fit in the depth range.
    Scenery(const Simulation& simulation, double depth_range_um);

    // Converts a point of the scan to the scene's x and y, where the first A-scan of a raster is at (0, 0).
    FieldPoint in_scene(const FieldPoint& point) const {
        return {point.x_um + to_first_.x_um, point.y_um + to_first_.y_um};
    }

    // Heights and positions in um; slopes are derivatives by y.
    double height_um(const Boundary& boundary, double x, double y) const;
    // Position of the axis at `y`, and its slopes dx/dy and dz/dy.
    double x_um(const Tube& tube, double y) const;
    double z_um(const Tube& tube, double y) const;
    double x_slope(const Tube& tube, double y) const;
    double z_slope(const Tube& tube, double y) const;

    // Returns the exponent of the amplitude's round-trip attenuation to (x, y, z). `heights` are those of all
    // boundaries at (x, y).
    double loss(const std::vector<double>& heights, double x, double y, double z) const;

    // Returns the time in which the mean flow moves blood as far as the pulsating flow does in `time_s`.
    double flow_time_s(double time_s) const;

    // Extends the scene downwards so that tissue that moves into view exists. Throws Error{bad_setting} that names
    // `key` if the moving scene leaves the depth range.
    void make_room(const Motion::Excursion& excursion, double reach_um, double depth_range_um, const std::string& key);

    std::vector<Boundary> boundaries;  // from the top; layer i is between boundaries i and i + 1
    std::vector<Layer> layers;
    std::vector<Tube> tubes;
    std::vector<Reflector> reflectors;
    double width_um = 0;     // size of the field along x
    double length_um = 0;    // size of the field along y
    double deepest_um = 0;   // no scatterers below
    double shown_to_um = 0;  // deeper tissue exists only to move into view
    double heart_rate_hz = 0;
    double pulsation = 0;

  private:
    double u(double x) const { return (x - width_um / 2) / form_width_um_; }
    double v(double y) const { return (y - length_um / 2) / form_length_um_; }
    void add_boundaries(const SceneFile& file, Relief relief, double range);
    void add_tubes(const TubeLists& lists, const Simulation& simulation, double range);
    double radius_um(const TubeLists& lists, std::size_t tube, double range) const;
    void check_fits(const Tube& tube, const std::string& scene, double range) const;
    void add_mirrors(const Simulation& simulation, double range);

    // Returns the min and max depth of scatterers and reflectors, up to `x_um`, `y_um` outside the field.
    std::pair<double, double> depths_um(double x_um, double y_um) const;

    FieldPoint to_first_;  // from the first A-scan of a raster, relative to the scene
    // Scale of the shapes: the size of the field, but large enough that slopes stay moderate.
    double form_width_um_ = 0;
    double form_length_um_ = 0;
};

}  // namespace echolux
