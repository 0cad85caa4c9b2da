#include "engine/io/movie/video_colours.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace echolux {
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
