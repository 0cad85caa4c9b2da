#include "engine/validation/tissue_scene.h"

#include <algorithm>
#include <cmath>

namespace echolux {
namespace {

// Returns waviness of unit rms, smooth over a sixth of the field.
std::vector<float> wave_of(const Size3& size, std::mt19937& random) {
    std::vector<float> wave(static_cast<std::size_t>(size[1] * size[2]));
    std::normal_distribution<float> normal;
    for (float& value : wave) value = normal(random);
    const auto sigma = [](std::int64_t count) { return count > 1 ? static_cast<double>(count) / 12 : 0; };
    smooth(wave, {1, size[1], size[2]}, {0, sigma(size[1]), sigma(size[2])});
    double square = 0;
    for (const float value : wave) square += static_cast<double>(value) * static_cast<double>(value);
    const auto scale = static_cast<float>(1 / std::sqrt(square / static_cast<double>(wave.size())));
    for (float& value : wave) value *= scale;
    return wave;
}

}  // namespace

void paint(LayeredScene& scene, const std::vector<double>& powers) {
    scene.intensity.assign(static_cast<std::size_t>(scene.size[0] * scene.lines()), 0.0f);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        for (std::int64_t z = 0; z < scene.size[0]; ++z) {
            double power = powers[0];
            for (std::size_t k = 0; k < scene.boundaries.size(); ++k) {
                const auto at = static_cast<double>(scene.boundaries[k][static_cast<std::size_t>(line)]);
                const double share = std::clamp(static_cast<double>(z) + 0.5 - at, 0.0, 1.0);
                power += share * (powers[k + 1] - powers[k]);
            }
            scene.intensity[static_cast<std::size_t>(line * scene.size[0] + z)] = static_cast<float>(power);
        }
    }
}

std::vector<float> random_field(const Size3& size, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<float> field(static_cast<std::size_t>(size[0] * size[1] * size[2]));
    for (float& value : field) value = normal(random);
    smooth(field, size, {1.1, 1, 1});
    double square = 0;
    for (const float value : field) square += static_cast<double>(value) * static_cast<double>(value);
    const auto scale = static_cast<float>(std::sqrt(0.5 * static_cast<double>(field.size()) / square));
    for (float& value : field) value *= scale;
    return field;
}

void add_speckle(LayeredScene& scene, double snr_db, std::mt19937& random) {
    smooth(scene.intensity, scene.size, {0.8, 0, 0});
    const std::vector<float> real = random_field(scene.size, random), imaginary = random_field(scene.size, random);
    std::normal_distribution<float> noise(0, static_cast<float>(std::pow(10, -snr_db / 20) / std::sqrt(2.0)));
    for (std::size_t i = 0; i < scene.intensity.size(); ++i) {
        const float amplitude = std::sqrt(scene.intensity[i]);
        const float re = amplitude * real[i] + noise(random), im = amplitude * imaginary[i] + noise(random);
        scene.intensity[i] = re * re + im * im;
    }
}

const std::vector<double> retina_powers{0, 0.81, 0.2025, 0.04, 0.2025, 0.0144, 0.64, 0.04, 1, 0.16, 0};
const std::vector<int> retina_polarities{1, -1, -1, 1, -1, 1, -1, 1, -1, -1};

LayeredScene painted_retina(const Size3& size, unsigned seed, double wave_rows) {
    constexpr double depths[] = {.17, .22, .32, .38, .42, .54, .57, .61, .65, .84}, pits[] = {.12, .08, .02, .005};
    std::mt19937 random(seed);
    LayeredScene scene{size, {}, {}};
    for (std::size_t k = 0; k < std::size(depths); ++k) {
        std::vector<float> rows =
            wave_rows > 0 ? wave_of(size, random) : std::vector<float>(static_cast<std::size_t>(scene.lines()));
        for (std::int64_t line = 0; line < scene.lines(); ++line) {
            const double x = static_cast<double>(line % size[1]) / static_cast<double>(size[1]) - 0.5;
            const double y = size[2] > 1 ? static_cast<double>(line / size[1]) / static_cast<double>(size[2]) - 0.5 : 0;
            const double r2 = x * x + y * y;
            const double depth = depths[k] - 0.12 * r2 + (k < std::size(pits) ? pits[k] * std::exp(-r2 / 0.0784) : 0);
            float& row = rows[static_cast<std::size_t>(line)];
            row = static_cast<float>(static_cast<double>(size[0]) * depth + wave_rows * static_cast<double>(row));
            if (k > 0) row = std::max(row, scene.boundaries.back()[static_cast<std::size_t>(line)]);
        }
        scene.boundaries.push_back(std::move(rows));
    }
    paint(scene, retina_powers);
    return scene;
}

LayeredScene retina_scene(const Size3& size, unsigned seed, double snr_db) {
    LayeredScene scene = painted_retina(size, seed, 1);
    std::mt19937 random(seed + 1000);
    add_speckle(scene, snr_db, random);
    return scene;
}

}  // namespace echolux
