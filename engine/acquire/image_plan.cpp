#include "engine/acquire/image_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compute/counted.h"
#include "compute/error.h"

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
                            counted(frame, "lines"), heights.low, counted(heights.high, "lines"), heights.step),
                camera + ", scan.a_scans", "change a_scans, a_repeats or flyback_lines so that it can");
}

ImagePlace place_of(std::int64_t image, const ImagePlan& plan) {
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

}  // namespace echolux
