// The scene in front of the simulated instrument: scattering layers between curved boundaries, tubes with flowing
// blood, plane reflectors. Lengths are geometric micrometres: x along A-scans, y along B-scans, z downwards from zero
// delay.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/described.h"
#include "engine/scan/scan_pattern.h"
#include "engine/simulate/motion.h"
#include "engine/simulate/simulator.h"

namespace echolux {

// ---- Scenes as files, shipped in assets/scenes or written by a user: texts, and numbers for each boundary, layer and
// tube. A list has one number per item, or one number for all; `depth` sets the number of items. Lengths are relative
// to the depth range or the field, as describe() states for each, so that a scene fits every instrument.

// Texts and defaults of a scene, section [scene].
struct SceneWords {
    std::string title, text;
    double refractive_index = 1.38;
    double spacing_a_um = 8;
    bool relief = false;
    bool pulsating = false;
    bool mirrors = false;
    std::string live;
};

// Section [boundaries]; depths as a fraction of the depth range.
struct BoundaryLists {
    std::vector<double> depth{}, tilt{0.0}, bow{0.0}, wave{0.0}, pit{0.0}, pit_radius{1.0}, reflex{0.0};
};

// Section [lumps]: places where boundaries are raised, such as drusen and pockets of fluid. `x` sets the number.
struct LumpLists {
    std::vector<double> x{}, y{0.0}, radius_um{50.0}, height_um{0.0}, first{1.0}, last{1.0};
};

// Section [layers], from the top.
struct LayerLists {
    std::vector<double> brightness{}, attenuation_per_mm{0.0};
};

// Section [tubes].
struct TubeLists {
    std::vector<double> depth{}, x{0.0}, swing{0.0}, period{1.0}, phase_rad{0.0}, descent{0.0}, bow{0.0};
    bool tilted = false;
    std::vector<double> radius{0.0}, radius_of_width{0.0}, radius_um{0.0}, wall_um{0.0};
    std::vector<double> brightness{0.0}, wall_brightness{0.0}, attenuation_per_mm{0.0}, speed{0.0}, flow{0.0};
};

struct SceneFile {
    SceneWords scene;
    BoundaryLists boundaries;
    LayerLists layers;
    LumpLists lumps;
    TubeLists tubes;
};

// Parses a scene. Throws Error{bad_file, bad_setting} that names file and key.
SceneFile scene_of(const Asset& asset);

// Returns the user's scene of that name, or the shipped one. Throws as scene_of() does, and Error{bad_setting} if the
// name is unknown.
SceneFile scene_named(std::string_view name);

// Entry of a list of scenes.
struct SceneEntry {
    std::string name;  // as in sim:NAME
    std::string title, text;
};

// Returns all readable scenes. `echolux info --presets` reports the errors of the others.
std::vector<SceneEntry> scene_entries();

// Returns the value of item `i`; a list of one number applies to all.
inline double of_each(const std::vector<double>& list, std::size_t i) {
    return list.size() == 1 ? list.front() : list.at(i);
}

// A Gaussian rise of a boundary. Lengths from the centre of the field.
struct Lump {
    double x_um = 0, y_um = 0;
    double radius_um = 1;  // at 1/e
    double height_um = 0;
};

// A surface as height over the scene. u and v range from -1/2 to 1/2 across the scene.
struct Boundary {
    double base_um = 0;
    double tilt_um = 0;        // rise along x, and half as much along y
    double bow_um = 0;         // height of the corners relative to the centre
    double wave_um = 0;        // amplitude of a shallow ripple
    double pit_um = 0;         // depth of a foveal pit at the centre
    double pit_radius_um = 1;  // radius at 1/e
    double reflex = 0;         // amplitude of its scatterers, which reflect like a smooth surface
    std::vector<Lump> lumps{};
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
    void add_lumps(const LumpLists& lists, const std::string& scene);
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

// ---- A section through the centre of a simulated scene, for a small drawing of it. Lengths are relative to the
// field's width and to the displayed depth, from the upper left corner.

struct SceneSection {
    struct Tube {
        double x, z, radius_x, radius_z;
        bool flows_away;  // away from zero delay
    };

    std::vector<std::vector<double>> boundaries;  // from the top; depth per column
    std::vector<double> brightness;               // brightness of the layers in between, relative to the brightest
    std::vector<Tube> tubes;
    std::vector<double> reflectors;  // depths
};

// Returns the section at y = 1/2 with the simulator's default settings, sampled in `columns`. Throws Error{bad_file,
// bad_setting}.
SceneSection scene_section(const std::string& scene, std::size_t columns);

}  // namespace echolux
