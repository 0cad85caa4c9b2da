// Layered tissue that is painted instead of simulated: speckle from a random field around exactly known boundaries. It
// is fast enough to test searches and filters on many scenes.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "engine/analysis/intensity.h"

namespace echolux {

struct LayeredScene {
    Size3 size{};
    std::vector<std::vector<float>> boundaries;  // [boundary][A-scan] in rows, voxel centres at integers
    std::vector<float> intensity;                // [b_scan][a_scan][depth]

    std::int64_t lines() const { return size[1] * size[2]; }
};

// Fills the intensity from the powers of the layers above, between and below the boundaries. Voxels at a boundary are
// weighted by their share in each layer.
void paint(LayeredScene& scene, const std::vector<double>& powers);

// Returns the real or imaginary part of a circular Gaussian field with a power of one half, about as wide as a point
// spread.
std::vector<float> random_field(const Size3& size, std::mt19937& random);

// Turns painted powers into speckle, blurred in depth by the point spread, and adds noise of `snr_db` below power 1.
void add_speckle(LayeredScene& scene, double snr_db, std::mt19937& random);

// Layer powers and boundary polarities of retina_scene(); polarity 1: brighter below, -1: darker.
extern const std::vector<double> retina_powers;
extern const std::vector<int> retina_polarities;

// Returns ten boundaries with bow, foveal pit and independent waviness of `wave_rows` rms, without speckle.
LayeredScene painted_retina(const Size3& size, unsigned seed, double wave_rows);

// Returns the same with a waviness of one row, speckle and noise.
LayeredScene retina_scene(const Size3& size, unsigned seed, double snr_db);

}  // namespace echolux
