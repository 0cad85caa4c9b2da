// A volume file with flat layers and speckle. Its surfaces are at known rows, for tests of tissue analysis.
#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "compute/indexing.h"
#include "engine/io/volume_file.h"
#include "tests/support/volumes.h"

namespace echolux::test {

constexpr std::int64_t layered_depth = 96, layered_a_scans = 40, layered_b_scans = 24;
constexpr double first_surface = 29.5, second_surface = 59.5;  // rows where the bright layer begins and ends

// Intensities with exponential noise: mean 1, and 100 between the surfaces. `shifts` moves each B-scan in depth, in
// rows.
inline Volume layered_volume(unsigned seed = 1, const std::vector<int>& shifts = {}) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> speckle(1);
    std::vector<float> values, line(index(layered_depth));
    for (std::int64_t b = 0; b < layered_b_scans; ++b) {
        const int by = shifts.empty() ? 0 : shifts[index(b)];
        for (std::int64_t a = 0; a < layered_a_scans; ++a) {
            for (std::int64_t z = 0; z < layered_depth; ++z) {
                const bool is_bright =
                    static_cast<double>(z) > first_surface && static_cast<double>(z) < second_surface;
                line[index(z)] = (is_bright ? 100.0f : 1.0f) * speckle(random);
            }
            for (std::int64_t z = 0; z < layered_depth; ++z)
                values.push_back(line[index((z - by + layered_depth) % layered_depth)]);
        }
    }
    return make_volume({layered_depth, layered_a_scans, layered_b_scans}, values, "intensity", {2, 5, 5});
}

}  // namespace echolux::test
