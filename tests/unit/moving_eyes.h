// Simulated eyes that move during the scan, their volumes, and the true beam positions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/offline/reconstruction.h"
#include "engine/registration/registration.h"
#include "engine/simulate/motion.h"
#include "tests/support/set_fields.h"

namespace echolux {

// 109 B-scans per second, spaced by half of the beam width.
inline Simulation eye(const std::string& scene) {
    Simulation s;
    set(s, "a_scans=128 b_scans=96 volumes=4 spacing_a_um=5 spacing_b_um=5 line_rate_hz=14000");
    s.scene = scene;
    return s;
}

// Simulates and reconstructs; calls `use` for each volume.
template <class Use>
void each_volume(const Simulation& s, const std::filesystem::path& folder, const Use& use) {
    SilentProgress silent;
    simulate(s, folder / "scan.toml", silent);
    Scan scan = open_scan(folder / "scan.toml");
    scan.recipe.quantity = Quantity::intensity;
    Reconstruction reconstruction(std::move(scan));
    for (std::int64_t v = 0; v < s.volumes; ++v) use(v, power_of(reconstruction.run({.volume = v}, silent)));
}

// Beam position at the middle of each B-scan.
struct RowTruth {
    Displacement moved;
    bool is_saccade = false;
};

inline RowTruth truth_of_row(const Motion& motion, const Simulation& s, std::int64_t row) {
    RowTruth truth;
    for (std::int64_t line = 0; line < s.a_scans; ++line) {
        const double t = static_cast<double>(row * s.a_scans + line) / s.line_rate_hz;
        const Displacement now = motion.at(t);
        truth.moved.x_um += now.x_um / static_cast<double>(s.a_scans);
        truth.moved.y_um += now.y_um / static_cast<double>(s.a_scans);
        truth.moved.z_um += now.z_um / static_cast<double>(s.a_scans);
        truth.is_saccade = truth.is_saccade || (line % 8 == 0 && motion.is_saccade(t));
    }
    return truth;
}

}  // namespace echolux
