#include "render/sky_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/vec3.hpp>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr double pi = std::numbers::pi;

// Inverse of the sRGB transfer function.
double light_of_code(std::uint8_t code) {
    const double shown = code / 255.0;
    return shown <= 0.04045 ? shown / 12.92 : std::pow((shown + 0.055) / 1.055, 2.4);
}

// Texels average whole pixels; the last column and row may average fewer.
std::int64_t pixels_per_texel(std::int64_t columns) {
    return (columns + max_sky_columns - 1) / max_sky_columns;
}

// Returns the mean of the pixels of a texel.
glm::dvec3 light_of(std::int64_t columns, std::int64_t rows, int channels, std::span<const std::uint8_t> codes,
                    std::int64_t column, std::int64_t row, const std::array<double, 256>& light) {
    const std::int64_t edge = pixels_per_texel(columns);
    const std::int64_t right = std::min((column + 1) * edge, columns), bottom = std::min((row + 1) * edge, rows);
    glm::dvec3 sum(0);
    for (std::int64_t y = row * edge; y < bottom; ++y) {
        for (std::int64_t x = column * edge; x < right; ++x) {
            const auto* pixel = &codes[index((y * columns + x) * channels)];
            for (int i = 0; i < 3; ++i) sum[i] += light[pixel[channels < 3 ? 0 : i]];
        }
    }
    return sum / static_cast<double>((right - column * edge) * (bottom - row * edge));
}

// Builds the alias table: M. Vose, "A linear algorithm for generating random numbers with a given distribution", IEEE
// TSE 17(9), 1991.
void set_aliases(std::vector<shared::SkyTexel>& texels, std::vector<double> chances) {
    std::vector<std::size_t> small, large;
    for (std::size_t i = 0; i < chances.size(); ++i) {
        chances[i] *= static_cast<double>(chances.size());
        (chances[i] < 1 ? small : large).push_back(i);
        texels[i].kept = 1;
        texels[i].alias = static_cast<float>(i);
    }
    while (!small.empty() && !large.empty()) {
        const std::size_t from = small.back(), to = large.back();
        small.pop_back();
        texels[from].kept = static_cast<float>(chances[from]);
        texels[from].alias = static_cast<float>(to);
        chances[to] -= 1 - chances[from];
        if (chances[to] >= 1) continue;
        large.pop_back();
        small.push_back(to);
    }
}

}  // namespace

SkyPicture sky_picture(std::int64_t columns, std::int64_t rows, int channels, std::span<const std::uint8_t> codes) {
    if (columns < 1 || rows < 1 || std::ssize(codes) != columns * rows * channels) {
        throw Error(ErrorCode::bad_setting, "is not an image", "view.sky_picture", "choose a PNG file");
    }
    std::array<double, 256> light{};
    for (int code = 0; code < 256; ++code) light[index(code)] = light_of_code(static_cast<std::uint8_t>(code));
    const std::int64_t edge = pixels_per_texel(columns);
    SkyPicture sky{.columns = (columns + edge - 1) / edge, .rows = (rows + edge - 1) / edge, .texels = {}, .mean = 0};
    std::vector<double> powers;
    for (std::int64_t row = 0; row < sky.rows; ++row) {
        const auto height = [&](std::int64_t i) { return std::cos(pi * double(i) / double(sky.rows)); };
        const double solid_angle = 2 * pi / double(sky.columns) * (height(row) - height(row + 1));
        for (std::int64_t column = 0; column < sky.columns; ++column) {
            const glm::dvec3 here = light_of(columns, rows, channels, codes, column, row, light);
            const double luminance = 0.2126 * here.r + 0.7152 * here.g + 0.0722 * here.b;
            sky.texels.push_back({.radiance = glm::vec3(here),
                                  .density = static_cast<float>(luminance),
                                  .kept = {},
                                  .alias = {},
                                  .padding = {}});
            powers.push_back(luminance * solid_angle);
            sky.mean += luminance * solid_angle / (4 * pi);
        }
    }
    const double all = 4 * pi * sky.mean;
    for (double& power : powers) power = all > 0 ? power / all : 1.0 / double(powers.size());
    for (shared::SkyTexel& texel : sky.texels) texel.density = all > 0 ? static_cast<float>(texel.density / all) : 0;
    set_aliases(sky.texels, std::move(powers));
    return sky;
}

}  // namespace echolux
