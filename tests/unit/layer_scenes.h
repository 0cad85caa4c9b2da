// Painted layers and searches for them.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "engine/layers/find_surfaces.h"
#include "engine/validation/scenes.h"

namespace echolux {

inline SurfaceSearch search_for(const std::vector<int>& polarities, double min_rows = 3) {
    SurfaceSearch search;
    for (std::size_t k = 0; k < polarities.size(); ++k)
        search.wanted.push_back({std::to_string(k + 1), polarities[k], k == 0 ? 0 : min_rows, 0, 1});
    return search;
}

inline Surfaces found_in(const LayeredScene& scene, const SurfaceSearch& search) {
    SilentProgress silent;
    return find_surfaces(scene.intensity, scene.size, search, silent);
}

// Speckle with these powers between boundaries at these depths, blurred along the depth by a point spread function. A
// Gaussian blur divides the variance of white noise by 2 sqrt(pi) sigma; amplitudes are scaled so that the mean
// intensity stays as given.
inline LayeredScene blurred(const std::vector<float>& boundaries, const std::vector<double>& powers, const Size3& size,
                            unsigned seed) {
    constexpr double sigma = 1.1;
    LayeredScene scene{size, {}, {}};
    for (const float at : boundaries) scene.boundaries.emplace_back(index(scene.lines()), at);
    paint(scene, powers);
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, static_cast<float>(std::sqrt(sigma * std::sqrt(std::numbers::pi))));
    std::vector<float> real = scene.intensity, imaginary = real;
    for (std::size_t i = 0; i < real.size(); ++i) {
        const float amplitude = std::sqrt(scene.intensity[i]);
        real[i] = amplitude * normal(random);
        imaginary[i] = amplitude * normal(random);
    }
    smooth(real, scene.size, {sigma, 0, 0});
    smooth(imaginary, scene.size, {sigma, 0, 0});
    for (std::size_t i = 0; i < real.size(); ++i) scene.intensity[i] = real[i] * real[i] + imaginary[i] * imaginary[i];
    return scene;
}

// Includes noise at -20 dB.
inline LayeredScene three_boundaries(unsigned seed) {
    return blurred({30.5f, 55.5f, 85.5f}, {0.01, 1, 0.1, 0.01}, {120, 64, 24}, seed);
}

}  // namespace echolux
