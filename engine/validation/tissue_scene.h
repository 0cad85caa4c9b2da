// Layered tissue that is painted, not simulated: speckle of a random field around boundaries whose place is exact, in
// no time, so that searches and filters can be judged on many of them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "engine/analysis/intensity.h"

namespace echolux {

struct LayeredScene {
    Size3 size{};
    std::vector<std::vector<float>> boundaries;  // [boundary][A-scan] in rows, voxel centres whole
    std::vector<float> intensity;                // [b_scan][a_scan][depth]

    std::int64_t lines() const { return size[1] * size[2]; }
};

// Powers of the layers above, between and below the boundaries; what part of a voxel lies in a layer counts.
void paint(LayeredScene& scene, const std::vector<double>& powers);

// A circular Gaussian field's real or imaginary part, of half of unit power, about as wide as a point spread.
std::vector<float> random_field(const Size3& size, std::mt19937& random);

// The painted powers become speckle, blurred in depth by the point spread; noise of `snr_db` below power 1 is added.
void add_speckle(LayeredScene& scene, double snr_db, std::mt19937& random);

// Of the layers of retina_scene(), and of its boundaries: 1 brighter below, -1 darker.
extern const std::vector<double> retina_powers;
extern const std::vector<int> retina_polarities;

// Ten boundaries with bow, foveal pit and, where `wave_rows` is not 0, a waviness of their own (rms). Only painted.
LayeredScene painted_retina(const Size3& size, unsigned seed, double wave_rows);

// The same with a waviness of one row, speckle and noise.
LayeredScene retina_scene(const Size3& size, unsigned seed, double snr_db);

}  // namespace echolux
