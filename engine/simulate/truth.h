// Ground truth of a simulated scan: boundaries, vessels, velocities, reflectors. It is written to the folder truth/
// next to the scan in plain formats (docs/simulator.md), and read by tests and validation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "engine/io/volume_file.h"
#include "engine/simulate/scene.h"

namespace echolux {

// Section [truth] of truth/truth.toml. Depths are geometric micrometres from zero delay.
struct TruthFacts {
    std::string scene;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    std::int64_t depth_bins = 0;  // rows of the labels: one-sided range without zero padding
    double pitch_um = 0;          // size of a bin, in the medium
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

// Labels of bins: 0 for nothing, 1 and up for layers from the top, and these for tubes.
constexpr std::uint8_t lumen_label = 100;  // + index of the tube
constexpr std::uint8_t wall_label = 200;   // + index of the tube

// The whole ground truth in memory.
struct Truth {
    struct Axis {
        float x_um, z_um, z_slope;  // axis of a tube next to an A-scan; x_um is relative to the A-scan
    };

    TruthFacts facts;
    std::vector<float> boundaries_um;   // [boundary][b_scan][a_scan]
    std::vector<Axis> axes;             // [tube][b_scan][a_scan]
    std::vector<std::uint8_t> labels;   // [b_scan][a_scan][bin]
    std::vector<std::uint8_t> en_face;  // [b_scan][a_scan], 1 if a lumen is below the surface

    // Returns the height of a boundary in depth bins, fractions included.
    double boundary_bin(std::int64_t boundary, std::int64_t a_scan, std::int64_t b_scan) const;

    // Returns the velocity, positive away from zero delay; 0 outside lumens.
    double axial_velocity_mm_s(std::int64_t a_scan, std::int64_t b_scan, double depth_um, double time_s) const;
};

// Returns the paths that write_truth() writes, including those of motion, which may be missing.
std::vector<std::filesystem::path> truth_files(const std::filesystem::path& folder);

// Computes the truth in memory. `simulation` must include its scene's defaults.
Truth truth_of(const Simulation& simulation, const Scenery& scenery, double pitch_um);

TruthFacts facts_of(const Simulation& simulation, const Scenery& scenery, double pitch_um);

// Returns section [truth] with all keys.
std::string toml_of(const TruthFacts& facts);

// Write and read the folder truth/. Throw Error{output} and Error{bad_file, bad_setting}.
void write_truth(const std::filesystem::path& folder, const Simulation& simulation, const Scenery& scenery,
                 double pitch_um);
Truth read_truth(const std::filesystem::path& folder);

// Returns the axial velocity in mm/s, positive away from zero delay, mean over time, as an f32 volume on `grid`. It can
// be overlaid on a reconstruction or compared with measured flow. Throws Error{bad_setting} if the grid is not of this
// scan.
Volume true_flow(const Truth& truth, const VolumeGrid& grid);

}  // namespace echolux
