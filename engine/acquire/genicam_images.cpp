#include "engine/acquire/genicam_images.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"

namespace echolux {

namespace {

constexpr std::int64_t max_parts = 64;  // images per acquired B-scan

// Returns the height of images that are whole blocks, or 0 if the camera does not support it.
std::int64_t block_image(const ScanGeometry& geometry, std::int64_t b_scans, const ImageHeights& heights) {
    const std::int64_t frames = b_scans * geometry.b_repeats;
    const std::int64_t lines = frames * geometry.lines_per_frame();
    return geometry.flyback_frames % frames == 0 && heights.allow(lines) ? lines : 0;
}

// Returns the height of images that are one acquired B-scan or its largest equal part; 0 if there is none.
std::int64_t part_image(const ScanGeometry& geometry, const ImageHeights& heights) {
    const std::int64_t frame = geometry.lines_per_frame();
    for (std::int64_t parts = 1; parts <= max_parts && frame / parts >= heights.low; ++parts) {
        if (frame % parts == 0 && heights.allow(frame / parts)) return frame / parts;
    }
    return 0;
}

// Returns the divisors of a volume: first those up to `wanted` positions, in descending order, then larger ones.
std::vector<std::int64_t> block_sizes(std::int64_t b_scans, std::int64_t wanted) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = std::clamp<std::int64_t>(wanted, 1, b_scans); size >= 1; --size) {
        if (b_scans % size == 0) sizes.push_back(size);
    }
    for (std::int64_t size = sizes.front() + 1; size <= b_scans; ++size) {
        if (b_scans % size == 0) sizes.push_back(size);
    }
    return sizes;
}

}  // namespace

ImagePlan plan_images(const ScanGeometry& geometry, std::int64_t wanted_b_scans, const ImageHeights& heights,
                      const std::string& camera) {
    const std::int64_t frame = geometry.lines_per_frame();
    const auto plan = [&](std::int64_t b_scans, std::int64_t lines) {
        return ImagePlan{lines, b_scans, b_scans * geometry.b_repeats * frame / lines, geometry.b_scans / b_scans,
                         (geometry.frames_per_volume() + geometry.flyback_frames) * frame / lines};
    };
    const std::vector<std::int64_t> sizes = block_sizes(geometry.b_scans, wanted_b_scans);
    for (const std::int64_t b_scans : sizes) {
        if (const std::int64_t lines = block_image(geometry, b_scans, heights); lines > 0) return plan(b_scans, lines);
    }
    if (const std::int64_t lines = part_image(geometry, heights); lines > 0) return plan(sizes.front(), lines);
    throw Error(ErrorCode::bad_setting,
                fmt::format("an acquired B-scan of {} cannot be divided into images of {} to {} in steps of {}",
                            plural(frame, "lines"), heights.low, plural(heights.high, "lines"), heights.step),
                camera + ", scan.a_scans", "change a_scans, a_repeats or flyback_lines so that it can be divided");
}

ImagePosition place_of(std::int64_t image, const ImagePlan& plan) {
    const std::int64_t in_volume = image % plan.images_per_volume;
    return {image / plan.images_per_volume, in_volume / plan.images_per_block, in_volume % plan.images_per_block};
}

std::int64_t FrameNumbers::number(std::uint64_t id) {
    constexpr std::uint64_t max = 65535;  // ids of 16 bits skip 0
    if (!has_begun_) {
        has_begun_ = true;
        last_id_ = id;
        return last_ = 0;
    }
    auto since = static_cast<std::int64_t>(id - last_id_);
    if (id >= 1 && id <= max && last_id_ >= 1 && last_id_ <= max) {  // choose the shorter way around
        constexpr auto round = static_cast<std::int64_t>(max);
        if (since < -round / 2) since += round;
        if (since > round / 2) since -= round;
    }
    if (since <= 0) return last_ + since;
    last_id_ = id;
    return last_ += since;
}

static unsigned at(const std::byte* bytes, std::int64_t i) {
    return static_cast<unsigned>(bytes[i]);
}

// Mono12Packed: the outer bytes hold the upper eight bits of two pixels, the middle byte their lower four bits.
static std::uint16_t gev_packed12(const std::byte* image, std::int64_t index) {
    const std::byte* pair = image + index / 2 * 3;
    const bool odd = index % 2 == 1;
    return static_cast<std::uint16_t>(at(pair, odd ? 2 : 0) << 4 | (at(pair, 1) >> (odd ? 4 : 0) & 15));
}

// Mono10Packed: like Mono12Packed, with two lower bits.
static std::uint16_t gev_packed10(const std::byte* image, std::int64_t index) {
    const std::byte* pair = image + index / 2 * 3;
    const bool odd = index % 2 == 1;
    return static_cast<std::uint16_t>(at(pair, odd ? 2 : 0) << 2 | (at(pair, 1) >> (odd ? 4 : 0) & 3));
}

// Mono10p: pixels are packed bit by bit, lowest bit first.
static std::uint16_t packed10(const std::byte* image, std::int64_t index) {
    const std::byte* first = image + index * 10 / 8;
    const auto both = at(first, 0) | at(first, 1) << 8;
    return static_cast<std::uint16_t>(both >> (index % 4 * 2) & 1023);
}

constexpr std::array formats{
    PixelFormat{"Mono12p", 12, SampleFormat::packed12, 0, nullptr},
    PixelFormat{"Mono12", 16, SampleFormat::u16, 12, nullptr},
    PixelFormat{"Mono14", 16, SampleFormat::u16, 14, nullptr},
    PixelFormat{"Mono16", 16, SampleFormat::u16, 0, nullptr},
    PixelFormat{"Mono12Packed", 12, SampleFormat::u16, 12, gev_packed12},
    PixelFormat{"Mono10", 16, SampleFormat::u16, 10, nullptr},
    PixelFormat{"Mono10p", 10, SampleFormat::u16, 10, packed10},
    PixelFormat{"Mono10Packed", 12, SampleFormat::u16, 10, gev_packed10},
    PixelFormat{"Mono8", 8, SampleFormat::u8, 0, nullptr},
};

void PixelFormat::describe_to(RawFormat& format) const {
    format.sample_format = stored;
    format.bits = bits;
    format.byte_order = ByteOrder::little;
    format.shift = 0;
    format.line_bytes = 0;
}

void PixelFormat::unpack(const std::byte* image, std::span<std::byte> samples) const {
    const auto pixels = static_cast<std::int64_t>(samples.size() / sizeof(std::uint16_t));
    for (std::int64_t i = 0; i < pixels; ++i) {
        const std::uint16_t value = pixel(image, i);
        std::memcpy(&samples[index(i) * sizeof value], &value, sizeof value);
    }
}

std::span<const PixelFormat> pixel_formats() {
    return formats;
}

const PixelFormat* find_pixel_format(std::string_view name) {
    const auto* found = std::ranges::find(formats, name, &PixelFormat::name);
    return found == formats.end() ? nullptr : found;
}

std::string pixel_format_names() {
    std::string names;
    for (const PixelFormat& format : formats) names += (names.empty() ? "" : ", ") + std::string(format.name);
    return names;
}

}  // namespace echolux
