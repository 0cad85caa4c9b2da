// What is known of a simulated scan: boundaries, vessels, velocities, reflectors. Written to the folder truth/ beside
// the scan, in plain formats (docs/simulator.md), and read back by tests and by the demo's own measure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "engine/simulate/scene.h"

namespace echolux {

// truth/truth.toml, section [truth]. Depths are geometric micrometres from zero delay.
struct TruthFacts {
    std::string scene;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    std::int64_t depth_bins = 0;  // rows of the labels: one-sided range without zero padding
    double pitch_um = 0;          // of a bin, in the medium
    double spacing_a_um = 0;
    double spacing_b_um = 0;
    std::int64_t boundaries = 0;
    std::vector<double> tube_radius_um;
    std::vector<double> tube_peak_mm_s;  // along y on the axis, mean over time
    double heart_rate_hz = 0;
    double pulsation = 0;
    std::vector<double> reflector_um;
    std::vector<double> reflector_amplitude;
};

// Labels: 0 nothing, 1.. layers from above, then
constexpr std::uint8_t lumen_label = 100;  // + number of the tube
constexpr std::uint8_t wall_label = 200;   // + number of the tube

struct Truth {
    struct Axis {
        float x_um, z_um, z_slope;  // of a tube beside one A-scan: x from there
    };

    TruthFacts facts;
    std::vector<float> boundaries_um;   // [boundary][b_scan][a_scan]
    std::vector<Axis> axes;             // [tube][b_scan][a_scan]
    std::vector<std::uint8_t> labels;   // [b_scan][a_scan][bin]
    std::vector<std::uint8_t> en_face;  // [b_scan][a_scan], 1 where a lumen lies below the surface

    // Height of a boundary in depth bins, as a real number.
    double boundary_bin(std::int64_t boundary, std::int64_t a_scan, std::int64_t b_scan) const;

    // Speed away from zero delay; 0 outside the lumens.
    double axial_velocity_mm_s(std::int64_t a_scan, std::int64_t b_scan, double depth_um, double time_s) const;
};

// The files that write_truth() makes; those of motion where there is some.
std::vector<std::filesystem::path> truth_files(const std::filesystem::path& folder);

// The same in memory. `simulation` with its scene's defaults.
Truth truth_of(const Simulation& simulation, const Scenery& scenery, double pitch_um);

TruthFacts facts_of(const Simulation& simulation, const Scenery& scenery, double pitch_um);

// Section [truth], every key.
std::string toml_of(const TruthFacts& facts);

// `folder` is truth/ itself. Throws Error{output}, Error{bad_file, bad_setting}.
void write_truth(const std::filesystem::path& folder, const Simulation& simulation, const Scenery& scenery,
                 double pitch_um);
Truth read_truth(const std::filesystem::path& folder);

// Axial velocity in mm/s, positive away from zero delay, its mean over time, on the voxels of `grid`: f32, of the same
// extents and spacing; to be shown over a reconstruction or compared with measured flow. Throws Error{bad_setting} for
// a grid that is not of this scan.
Volume true_flow(const Truth& truth, const VolumeGrid& grid);

}  // namespace echolux
