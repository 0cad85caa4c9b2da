#include "engine/io/movie/video_colours.h"

#include <array>
#include <cmath>

#include "compute/parallel_for.h"

namespace echolux {
namespace {

// Luma coefficients of BT.709.
constexpr double red = 0.2126, blue = 0.0722, green = 1 - red - blue;

// Weights of red, green and blue.
using Weights = std::array<double, 3>;
constexpr Weights luma{red, green, blue};
constexpr Weights blueness{-red / (2 - 2 * blue), -green / (2 - 2 * blue), 0.5};
constexpr Weights redness{0.5, -green / (2 - 2 * red), -blue / (2 - 2 * red)};

// The same weights in fixed point with 16 fractional bits, rounded.
struct WholeWeights {
    std::int32_t r, g, b, offset;

    constexpr WholeWeights(const Weights& weights, double range, double zero)
        : r(whole(weights[0] * range)), g(whole(weights[1] * range)), b(whole(weights[2] * range)),
          offset(static_cast<std::int32_t>((zero + 0.5) * 65536)) {}

    constexpr std::uint8_t of(std::int32_t red_sum, std::int32_t green_sum, std::int32_t blue_sum) const {
        return static_cast<std::uint8_t>((r * red_sum + g * green_sum + b * blue_sum + offset) >> 16);
    }

    // Clamps, because in full range the result can exceed 255 by rounding.
    constexpr std::uint8_t whole_of(std::int32_t red_sum, std::int32_t green_sum, std::int32_t blue_sum) const {
        const std::int32_t code = (r * red_sum + g * green_sum + b * blue_sum + offset) >> 16;
        return static_cast<std::uint8_t>(code < 0 ? 0 : code > 255 ? 255 : code);
    }

  private:
    static constexpr std::int32_t whole(double weight) {
        return static_cast<std::int32_t>(weight * 65536 + (weight < 0 ? -0.5 : 0.5));
    }
};

constexpr double luma_range = 219.0 / 255, chroma_range = 224.0 / 255;
constexpr WholeWeights whole_luma(luma, luma_range, 16);
constexpr WholeWeights whole_blueness(blueness, chroma_range / 8, 128);  // for sums over weights of eight
constexpr WholeWeights whole_redness(redness, chroma_range / 8, 128);

void luma_row(const std::uint8_t* rgba, std::int64_t width, std::uint8_t* y) {
    for (std::int64_t x = 0; x < width; ++x, rgba += 4) y[x] = whole_luma.of(rgba[0], rgba[1], rgba[2]);
}

// Weights 1 2 1 around every other column, summed over two rows.
void chroma_row(const std::uint8_t* upper, const std::uint8_t* lower, std::int64_t width, std::uint8_t* u,
                std::uint8_t* v, std::ptrdiff_t step) {
    for (std::int64_t x = 0; x < width; x += 2, u += step, v += step) {
        const std::int64_t left = 4 * (x > 0 ? x - 1 : 0), here = 4 * x, right = here + 4;
        std::array<std::int32_t, 3> sum{};
        for (int i = 0; i < 3; ++i) {
            sum[static_cast<std::size_t>(i)] = upper[left + i] + 2 * upper[here + i] + upper[right + i] +
                                               lower[left + i] + 2 * lower[here + i] + lower[right + i];
        }
        *u = whole_blueness.of(sum[0], sum[1], sum[2]);
        *v = whole_redness.of(sum[0], sum[1], sum[2]);
    }
}

// JFIF (BT.601).
constexpr Weights jpeg_luma{0.299, 0.587, 0.114};
constexpr WholeWeights whole_jpeg_luma(jpeg_luma, 1, 0);
constexpr WholeWeights whole_jpeg_blueness({-0.299 / 1.772, -0.587 / 1.772, 0.5}, 1.0 / 4, 128);  // of four pixels
constexpr WholeWeights whole_jpeg_redness({0.5, -0.587 / 1.402, -0.114 / 1.402}, 1.0 / 4, 128);

// Converts two rows.
void jpeg_rows(const std::uint8_t* upper, const std::uint8_t* lower, std::int64_t width, std::uint8_t* y,
               std::ptrdiff_t y_stride, std::uint8_t* u, std::uint8_t* v) {
    for (std::int64_t x = 0; x < width; ++x) {
        const std::uint8_t *one = upper + 4 * x, *other = lower + 4 * x;
        y[x] = whole_jpeg_luma.of(one[0], one[1], one[2]);
        y[y_stride + x] = whole_jpeg_luma.of(other[0], other[1], other[2]);
    }
    for (std::int64_t x = 0; x < width / 2; ++x) {
        const std::uint8_t *one = upper + 8 * x, *other = lower + 8 * x;
        const std::int32_t r = one[0] + one[4] + other[0] + other[4], g = one[1] + one[5] + other[1] + other[5],
                           b = one[2] + one[6] + other[2] + other[6];
        u[x] = whole_jpeg_blueness.whole_of(r, g, b);
        v[x] = whole_jpeg_redness.whole_of(r, g, b);
    }
}

double weighted(const Weights& weights, const std::uint8_t* rgb) {
    return weights[0] * rgb[0] + weights[1] * rgb[1] + weights[2] * rgb[2];
}

}  // namespace

void to_yuv420(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height, const YuvPlanes& planes) {
    parallel_for(0, height / 2, [&](std::int64_t pair) {
        const std::uint8_t* upper = rgba.data() + 2 * pair * width * 4;
        const std::uint8_t* lower = upper + width * 4;
        luma_row(upper, width, planes.y + 2 * pair * planes.y_stride);
        luma_row(lower, width, planes.y + (2 * pair + 1) * planes.y_stride);
        chroma_row(upper, lower, width, planes.u + pair * planes.chroma_stride, planes.v + pair * planes.chroma_stride,
                   planes.chroma_step);
    });
}

void to_jpeg_yuv420(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                    const YuvPlanes& planes) {
    parallel_for(0, height / 2, [&](std::int64_t pair) {
        const std::uint8_t* upper = rgba.data() + 2 * pair * width * 4;
        jpeg_rows(upper, upper + width * 4, width, planes.y + 2 * pair * planes.y_stride, planes.y_stride,
                  planes.u + pair * planes.chroma_stride, planes.v + pair * planes.chroma_stride);
    });
}

void to_yuva444(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                const Yuva10Planes& planes) {
    parallel_for(0, height, [&](std::int64_t row) {
        const auto row_of = [&](std::byte* plane) {
            return reinterpret_cast<std::uint16_t*>(plane + row * planes.stride);
        };
        const auto code = [](double value, double range, double zero) {
            return static_cast<std::uint16_t>(std::lround(zero + range / 255 * value));
        };
        const std::uint8_t* pixel = rgba.data() + row * width * 4;
        for (std::int64_t x = 0; x < width; ++x, pixel += 4) {
            // 10-bit limited range: luma from 64 to 940, chroma from 64 to 960.
            row_of(planes.y)[x] = code(weighted(luma, pixel), 876, 64);
            row_of(planes.u)[x] = code(weighted(blueness, pixel), 896, 512);
            row_of(planes.v)[x] = code(weighted(redness, pixel), 896, 512);
            if (planes.a != nullptr) row_of(planes.a)[x] = code(pixel[3], 1023, 0);
        }
    });
}

}  // namespace echolux
