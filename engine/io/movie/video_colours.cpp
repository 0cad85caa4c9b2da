#include "engine/io/movie/video_colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compute/indexing.h"
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
            sum[index(i)] = upper[left + i] + 2 * upper[here + i] + upper[right + i] + lower[left + i] +
                            2 * lower[here + i] + lower[right + i];
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

namespace {

constexpr int bits = 6;  // per channel of a histogram bin
constexpr std::size_t bin_count = std::size_t{1} << (3 * bits);
constexpr std::uint8_t opaque_from = 128;

using Colour = std::array<double, 3>;

std::uint32_t bin_of(int r, int g, int b) {
    constexpr int drop = 8 - bits;
    return static_cast<std::uint32_t>(((r >> drop) << (2 * bits)) | ((g >> drop) << bits) | (b >> drop));
}

// A colour and its frequency.
struct Weighted {
    Colour colour;
    double weight;
};

// A set of colours that is replaced by their mean.
struct Box {
    Box(Weighted* from, Weighted* to) : begin(from), end(to) {
        Colour squares{};
        for (const Weighted* at = begin; at != end; ++at) {
            weight += at->weight;
            for (std::size_t i = 0; i < 3; ++i) {
                mean[i] += at->weight * at->colour[i];
                squares[i] += at->weight * at->colour[i] * at->colour[i];
            }
        }
        for (std::size_t i = 0; i < 3; ++i) {
            mean[i] /= weight;
            const double variance = squares[i] - weight * mean[i] * mean[i];
            if (end - begin > 1 && variance > spread) spread = variance, widest = i;
        }
    }

    Weighted *begin, *end;
    Colour mean{};
    double weight = 0;
    double spread = 0;       // largest of the channels' sums of squared deviations from the mean
    std::size_t widest = 0;  // channel with that spread
};

// Splits a box at the mean of its widest channel. Neither part is empty.
std::pair<Box, Box> cut(const Box& box) {
    Weighted* middle = std::partition(
        box.begin, box.end, [&](const Weighted& colour) { return colour.colour[box.widest] < box.mean[box.widest]; });
    middle = std::clamp(middle, box.begin + 1, box.end - 1);
    return {Box(box.begin, middle), Box(middle, box.end)};
}

// Splits the box with the largest spread until there are `max` boxes or each has one colour.
std::vector<Box> boxes_of(std::vector<Weighted>& colours, std::size_t max) {
    std::vector<Box> boxes;
    if (colours.empty()) return boxes;
    boxes.emplace_back(colours.data(), colours.data() + colours.size());
    while (boxes.size() < max) {
        const auto widest = std::ranges::max_element(boxes, {}, &Box::spread);
        if (widest->spread <= 0) break;
        const auto [low, high] = cut(*widest);
        *widest = low;
        boxes.push_back(high);
    }
    return boxes;
}

// Returns the offset to add to a pixel before quantising: Bayer's 8 x 8 pattern, from -1/2 to 1/2 bin.
int dither(std::int64_t x, std::int64_t y) {
    std::int64_t code = 0;
    for (int bit = 0; bit < 3; ++bit) {
        const std::int64_t a = (x >> bit) & 1, b = (y >> bit) & 1;
        code = (code << 2) | ((a ^ b) << 1) | b;
    }
    constexpr int bin = 1 << (8 - bits);
    return static_cast<int>(code * bin / 64) - bin / 2;
}

}  // namespace

// Builds the histogram of the opaque pixels.
void Palettes::count(std::span<const std::uint8_t> rgba, bool has_alpha) {
    bins_.assign(bin_count, {});
    for (std::size_t i = 0; i < rgba.size(); i += 4) {
        if (has_alpha && rgba[i + 3] < opaque_from) continue;
        Bin& bin = bins_[bin_of(rgba[i], rgba[i + 1], rgba[i + 2])];
        ++bin.count;
        for (std::size_t channel = 0; channel < 3; ++channel) bin.sum[channel] += rgba[i + channel];
    }
}

// Returns the palette index closest to the bin's centre. Results are cached per bin.
std::uint8_t Palettes::nearest(const Palette& palette, std::size_t colours, std::uint32_t bin) {
    if (nearest_[bin] >= 0) return static_cast<std::uint8_t>(nearest_[bin]);
    const auto middle = [&](int shift) { return static_cast<int>(((bin >> shift) & 63) << 2) + 2; };
    const std::array<int, 3> wanted{middle(2 * bits), middle(bits), middle(0)};
    int min = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < colours; ++i) {
        int distance = 0;
        for (std::size_t channel = 0; channel < 3; ++channel) {
            const int difference = static_cast<int>((palette.colours[i] >> (16 - 8 * channel)) & 255) - wanted[channel];
            distance += difference * difference;
        }
        if (distance >= min) continue;
        min = distance;
        nearest_[bin] = static_cast<std::int16_t>(i);
    }
    return static_cast<std::uint8_t>(std::max<std::int16_t>(0, nearest_[bin]));
}

Palette Palettes::quantise(std::span<const std::uint8_t> rgba, std::int64_t width, bool has_alpha, std::uint8_t* codes,
                           std::ptrdiff_t stride) {
    count(rgba, has_alpha);
    std::vector<Weighted> colours;
    for (const Bin& bin : bins_) {
        if (bin.count == 0) continue;
        Weighted colour{{}, static_cast<double>(bin.count)};
        for (std::size_t i = 0; i < 3; ++i) colour.colour[i] = bin.sum[i] / colour.weight;
        colours.push_back(colour);
    }
    Palette palette;
    palette.colours.fill(0xff000000);
    const std::vector<Box> boxes = boxes_of(colours, has_alpha ? 255 : 256);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        for (const double channel : boxes[i].mean)
            palette.colours[i] = palette.colours[i] << 8 | static_cast<std::uint32_t>(std::lround(channel));
        palette.colours[i] |= 0xff000000;
    }
    if (has_alpha) palette.colours.back() = 0;

    nearest_.assign(bin_count, -1);
    const auto rows = std::ssize(rgba) / (4 * width);
    const std::uint8_t* pixel = rgba.data();
    for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < width; ++x, pixel += 4) {
            std::uint8_t& code = codes[y * stride + x];
            if (has_alpha && pixel[3] < opaque_from) {
                code = 255;
                continue;
            }
            const int shift = dither(x, y);
            const auto moved = [&](int channel) { return std::clamp(pixel[channel] + shift, 0, 255); };
            code = nearest(palette, boxes.size(), bin_of(moved(0), moved(1), moved(2)));
        }
    }
    return palette;
}

}  // namespace echolux
