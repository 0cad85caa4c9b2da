// What the simulated instrument looks at: scattering layers between curved boundaries, tubes with flowing blood, plane
// reflectors. All lengths are geometric micrometres: x along A-scans, y along B-scans, z down from zero delay.
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

// Height over the scene, u and v from -1/2 to 1/2 across it.
struct Boundary {
    double base_um = 0;
    double tilt_um = 0;        // rise along x, and half of it along y
    double bow_um = 0;         // in the corners, relative to the middle
    double wave_um = 0;        // amplitude of a gentle ripple
    double pit_um = 0;         // depth of a foveal pit in the middle
    double pit_radius_um = 1;  // 1/e
};

struct Layer {
    double brightness = 0;          // amplitude relative to Simulation::brightness
    double attenuation_per_mm = 0;  // of the amplitude, there and back
};

// Its section at right angles to y is a disc. The laminar flow along y is the same in every section, so nothing is lost
// where the tube bends.
struct Tube {
    double x_um = 0;      // from the middle of the field
    double swing_um = 0;  // meanders around x_um ...
    double period_um = 1;
    double phase_rad = 0;  // ... with this phase in the middle of the field
    double z_um = 0;       // in the middle of the field
    double descent = 0;
    double bow_um = 0;
    double radius_um = 0;
    double wall_um = 0;
    double brightness = 0;
    double wall_brightness = 0;
    double attenuation_per_mm = 0;  // on top of what the layer has
    double peak_mm_s = 0;           // speed along y on the axis, mean over time
};

struct Reflector {
    double depth_um = 0;
    double amplitude = 0;  // fringe relative to the reference light
};

class Scenery {
  public:
    // Throws Error{bad_setting} when the scene does not fit the depth range.
    Scenery(const Simulation& simulation, double depth_range_um);

    // The scene's x and y of a point of the scan: the first A-scan of a raster is at 0, 0.
    FieldPoint in_scene(const FieldPoint& point) const {
        return {point.x_um + to_first_.x_um, point.y_um + to_first_.y_um};
    }

    double height_um(const Boundary& boundary, double x, double y) const;
    double x_um(const Tube& tube, double y) const;
    double z_um(const Tube& tube, double y) const;
    double x_slope(const Tube& tube, double y) const;
    double z_slope(const Tube& tube, double y) const;

    // Exponent of the amplitude's attenuation on the way to (x, y, z) and back, given the heights of all boundaries.
    double loss(const std::vector<double>& heights, double x, double y, double z) const;

    // Time during which the mean flow would have carried blood as far as the pulsing flow did in `time_s`.
    double flow_time_s(double time_s) const;

    // Makes room for tissue that moves so far: what it brings into sight from below exists. Throws Error{bad_setting}
    // naming `key` where it would leave the depth range.
    void make_room(const Motion::Excursion& excursion, double reach_um, double depth_range_um, const std::string& key);

    std::vector<Boundary> boundaries;  // from above; layer i lies between i and i + 1
    std::vector<Layer> layers;
    std::vector<Tube> tubes;
    std::vector<Reflector> reflectors;
    double width_um = 0;     // of the field, along x
    double length_um = 0;    // along y
    double deepest_um = 0;   // nothing scatters below
    double shown_to_um = 0;  // what lies deeper is there only to move into sight
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

    // The least and the greatest of what scatters or reflects, at most `x_um`, `y_um` outside of the field.
    std::pair<double, double> depths_um(double x_um, double y_um) const;

    FieldPoint to_first_;       // from the first A-scan of a raster to the field's centre
    double form_width_um_ = 0;  // what forms scale with: the field, but never so small that they become steep
    double form_length_um_ = 0;
};

}  // namespace echolux
