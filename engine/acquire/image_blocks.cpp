#include "engine/acquire/image_blocks.h"

#include <cstring>
#include <utility>

#include "compute/indexing.h"

namespace echolux {

bool ImageLayout::sends_the_same(const ImageLayout& other) const {
    return format == other.format && image_pixels == other.image_pixels && plan.lines == other.plan.lines &&
           plan.block_b_scans == other.plan.block_b_scans && payload_bytes == other.payload_bytes;
}

void ImageBlocks::begin() {
    numbers_ = {};
    next_image_ = late_ = next_block_ = 0;
    sequence_ = 0;
    first_ns_.reset();
    partial_.reset();
}

std::optional<Block> ImageBlocks::add(std::uint64_t frame_id, std::uint64_t ns, const BlockMemory& image) {
    const std::int64_t number = numbers_.number(frame_id);
    if (number < next_image_) {
        ++late_;
        return std::nullopt;
    }
    late_ = 0;
    next_image_ = number + 1;
    if (!first_ns_) first_ns_ = ns;
    const double time_s = static_cast<double>(static_cast<std::int64_t>(ns - *first_ns_)) * 1e-9;
    const ImagePosition place = place_of(number, layout_.plan);
    if (place.block >= layout_.plan.blocks_per_volume) return std::nullopt;
    return layout_.images_are_blocks() ? block(place, image, time_s) : copied(image.data, place, time_s);
}

// Appends an image to the current block and returns the block when it is complete. A block with a missing image is
// dropped.
std::optional<Block> ImageBlocks::copied(const std::byte* image, const ImagePosition& place, double time_s) {
    const std::int64_t number = number_of(place);
    if (partial_ && (partial_->number != number || partial_->images != place.image)) partial_.reset();
    if (!partial_) {
        if (place.image != 0) return std::nullopt;  // the first image of the block was lost
        const std::optional<BlockMemory> memory = pool_.take_below(layout_.pool_blocks);
        if (!memory) return std::nullopt;
        partial_ = Partial{*memory, number, 0, time_s};
    }
    const std::int64_t bytes = layout_.block_bytes / layout_.plan.images_per_block;
    std::byte* to = partial_->memory.data + place.image * bytes;
    if (layout_.format->is_stored_as_sent()) {
        std::memcpy(to, image, index(bytes));
    } else {
        layout_.format->unpack(image, {to, index(bytes)});
    }
    if (++partial_->images < layout_.plan.images_per_block) return std::nullopt;
    const Partial whole = *std::exchange(partial_, std::nullopt);
    return block(place, whole.memory, whole.time_s);
}

Block ImageBlocks::block(const ImagePosition& place, const BlockMemory& memory, double time_s) {
    const std::int64_t number = number_of(place);
    Block block;
    block.data = memory.data;
    block.bytes = layout_.block_bytes;
    block.frames = layout_.frames;
    block.memory = memory.kind;
    block.volume = place.volume;
    block.first_b_scan = place.block * layout_.plan.block_b_scans;
    block.b_scans = layout_.plan.block_b_scans;
    block.sequence = sequence_++;
    block.lost_before = number - next_block_;
    block.time_s = time_s;
    block.keeper = memory.keeper;
    next_block_ = number + 1;
    return block;
}

}  // namespace echolux
