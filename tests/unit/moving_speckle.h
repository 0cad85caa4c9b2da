// Speckle seen at chosen positions, so that the expected result of registration is known.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "compute/indexing.h"
#include "engine/analysis/intensity.h"
#include "engine/registration/registration.h"

namespace echolux {

namespace moving_speckle {

inline constexpr std::int64_t depth = 72, a_scans = 64, b_scans = 40, margin = 12;
inline constexpr std::int64_t crosses = 3;

using SeenAt = std::array<double, 3>;  // z, x, y
using Motion = std::function<SeenAt(double)>;

inline VolumeGrid grid_of(std::int64_t rows, std::int64_t lines, std::int64_t slices) {
    return VolumeGrid{.depth = rows, .a_scans = lines, .b_scans = slices, .quantity = "intensity"};
}

// Fully developed, well-sampled speckle of layered brightness, interpolated cubically at any position.
class MovingSpeckle {
  public:
    explicit MovingSpeckle(unsigned seed) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        for (auto* field : {&real_, &imaginary_}) {
            field->resize(index(size_[0] * size_[1] * size_[2]));
            for (float& value : *field) value = normal(random);
            smooth(*field, size_, {1.6, 1.6, 1.6});
        }
    }

    float power(double z, double x, double y) const {
        const double r = at(real_, z, x, y), i = at(imaginary_, z, x, y);
        const double layers = 0.15 + std::exp(-std::pow((z - 26) / 7, 2)) + 0.6 * std::exp(-std::pow((z - 50) / 5, 2));
        return static_cast<float>(1e4 * (r * r + i * i) * layers);
    }

    // Row j is row j + y of the scene, shifted by z and x.
    PowerVolume seen(const Motion& motion) const {
        PowerVolume volume{grid_of(depth, a_scans, b_scans), {}};
        for (std::int64_t j = 0; j < b_scans; ++j) {
            const auto [z, x, y] = motion(static_cast<double>(j));
            for (std::int64_t a = 0; a < a_scans; ++a) {
                for (std::int64_t d = 0; d < depth; ++d) {
                    volume.power.push_back(
                        power(static_cast<double>(d) + z, static_cast<double>(a) + x, static_cast<double>(j) + y));
                }
            }
        }
        return volume;
    }

  private:
    static double cubic(const std::array<double, 4>& p, double t) {
        return p[1] +
               t / 2 *
                   (p[2] - p[0] + t * (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3] + t * (3 * (p[1] - p[2]) + p[3] - p[0])));
    }
    double at(const std::vector<float>& field, double z, double x, double y) const {
        const std::array<double, 3> place{z + margin, x + margin, y + margin};
        std::array<std::int64_t, 3> whole;
        std::array<double, 3> part;
        for (std::size_t i = 0; i < 3; ++i) {
            whole[i] = static_cast<std::int64_t>(std::floor(place[i]));
            part[i] = place[i] - static_cast<double>(whole[i]);
        }
        std::array<double, 4> along_y, along_x, along_z;
        for (std::int64_t k = 0; k < 4; ++k) {
            for (std::int64_t j = 0; j < 4; ++j) {
                const float* from =
                    field.data() + ((whole[2] + k - 1) * size_[1] + whole[1] + j - 1) * size_[0] + whole[0] - 1;
                std::copy_n(from, 4, along_z.begin());
                along_x[index(j)] = cubic(along_z, part[0]);
            }
            along_y[index(k)] = cubic(along_x, part[1]);
        }
        return cubic(along_y, part[2]);
    }

    const Size3 size_{depth + 2 * margin, a_scans + 2 * margin, b_scans + 2 * margin};
    std::vector<float> real_, imaginary_;
};

inline const MovingSpeckle& speckle() {
    static const MovingSpeckle one(3);
    return one;
}

inline SeenAt still(double) {
    return {0, 0, 0};
}

inline SeenAt wandering(double j) {
    return {3 * std::sin(j / 6) + 1.3, 2 * std::cos(j / 9) - 0.4, 1.4 * std::sin(j / 13) + 0.3};
}

inline RegistrationSettings ranges() {
    return {.axial_range = 12, .lateral_range = 12, .row_range = 8};
}

inline double part_of(std::int64_t index, std::int64_t count, std::int64_t of) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(count) * static_cast<double>(of) - 0.5;
}

// B-scans along y, each still but at its own position, followed by the raster.
inline PowerVolume crossed(const MovingSpeckle& tissue, const Motion& motion) {
    PowerVolume raster = tissue.seen(motion), all{grid_of(depth, a_scans, crosses + b_scans), {}};
    for (std::int64_t k = 0; k < crosses; ++k) {
        const double off = static_cast<double>(k);
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t d = 0; d < depth; ++d) {
                all.power.push_back(tissue.power(static_cast<double>(d) + 0.7 * off,
                                                 part_of(k, crosses, a_scans) - 0.4 * off,
                                                 part_of(a, a_scans, b_scans)));
            }
        }
    }
    all.power.insert(all.power.end(), raster.power.begin(), raster.power.end());
    return all;
}

inline SeenAt drifting(double j) {
    return {0.2 * j + 2 * std::sin(j / 9) + 0.8 * std::sin(1.3 * j), 2.5 * std::cos(j / 12), 0.8 * std::sin(j / 13)};
}

}  // namespace moving_speckle
}  // namespace echolux
