#include "render/stereo.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace echolux {
namespace {

constexpr std::size_t rgba_channels = 4;

// Interleaves the rows of both eyes.
std::vector<std::byte> side_by_side(std::size_t bytes_per_row, const std::vector<std::vector<std::byte>>& eyes) {
    std::vector<std::byte> rows;
    rows.reserve(eyes.size() * eyes.front().size());
    for (std::size_t begin = 0; begin < eyes.front().size(); begin += bytes_per_row) {
        for (const auto& eye : eyes) {
            const auto row = std::span(eye).subspan(begin, bytes_per_row);
            rows.insert(rows.end(), row.begin(), row.end());
        }
    }
    return rows;
}

// Rec. 601 weights, for non-linear display codes.
template <class Code>
Code luminance_of(const Code* rgb) {
    return static_cast<Code>(std::lround(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]));
}

// Overwrites `left` with the anaglyph.
template <class Code>
void put_beside(std::span<std::byte> left, std::span<const std::byte> right) {
    constexpr std::size_t bytes = rgba_channels * sizeof(Code);
    for (std::size_t at = 0; at < left.size(); at += bytes) {
        Code of_left[rgba_channels], of_right[rgba_channels];
        std::memcpy(of_left, left.data() + at, bytes);
        std::memcpy(of_right, right.data() + at, bytes);
        const Code both[rgba_channels]{luminance_of(of_left), of_right[1], of_right[2],
                                       std::max(of_left[3], of_right[3])};
        std::memcpy(left.data() + at, both, bytes);
    }
}

std::vector<std::byte> anaglyph(PictureBits bits, std::vector<std::vector<std::byte>> eyes) {
    if (bits == PictureBits::sixteen)
        put_beside<std::uint16_t>(eyes[0], eyes[1]);
    else
        put_beside<std::uint8_t>(eyes[0], eyes[1]);
    return std::move(eyes[0]);
}

}  // namespace

std::vector<View> eyes_of(const View& view) {
    if (view.stereo == Stereo::off) return {view};
    View left = view;
    left.stereo = Stereo::off;
    if (view.stereo == Stereo::side_by_side) left.width /= 2;
    View right = left;
    left.eye = -0.5;
    right.eye = 0.5;
    return {left, right};
}

std::vector<std::byte> joined(const View& view, PictureBits bits, std::vector<std::vector<std::byte>> eyes) {
    if (view.stereo == Stereo::off) return std::move(eyes.front());
    if (view.stereo == Stereo::anaglyph) return anaglyph(bits, std::move(eyes));
    return side_by_side(rgba_channels * static_cast<std::size_t>(bits) / 8 * static_cast<std::size_t>(view.width / 2),
                        eyes);
}

}  // namespace echolux
