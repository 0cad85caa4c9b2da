// Blocks from the images of a GenICam line camera. If possible, images are used as blocks without copying. Otherwise,
// if images cannot be that tall or the pixel format must be unpacked, images are copied into blocks. The frame id
// determines each image's position in the volume, so a lost image does not shift later ones.
#pragma once

#include <cstdint>
#include <optional>

#include "compute/voxel_target.h"
#include "engine/acquire/genicam_images.h"
#include "engine/memory.h"

namespace echolux {

// The relation of images and blocks for one stream.
struct ImageLayout {
    const PixelFormat* format = nullptr;
    ImagePlan plan;
    std::int64_t image_pixels = 0;
    std::int64_t payload_bytes = 0;  // size of an image as sent
    std::int64_t block_bytes = 0;
    std::int64_t pool_blocks = 0;
    FrameLayout frames;

    // Whether images can be used as blocks without copying.
    bool images_are_blocks() const { return plan.images_per_block == 1 && format->is_stored_as_sent(); }
    // Whether a reconnected camera can continue the stream.
    bool sends_the_same(const ImageLayout& other) const;
};

class ImageBlocks {
  public:
    // `memory` is the preferred memory for blocks that are assembled from images.
    ImageBlocks(const ImageLayout& layout, MemoryKind memory) : layout_(layout), pool_(layout.block_bytes, memory) {}

    // Numbers and time count from the next image.
    void begin();

    // Adds a whole image that was received `ns` on the camera's clock, and returns the block that it completes. Images
    // of the flyback, of incomplete blocks and with old frame ids are dropped; the next block counts the lost ones.
    // `image.keeper` is released at once unless the image is the block.
    std::optional<Block> add(std::uint64_t frame_id, std::uint64_t ns, const BlockMemory& image);

    // Whether many images in a row had old frame ids, more than a network reorders.
    bool runs_backwards() const { return late_ >= max_late; }

    // Drops a block that is being assembled.
    void drop_partial() { partial_.reset(); }

  private:
    static constexpr std::int64_t max_late = 16;

    // A block that is being assembled from images.
    struct Partial {
        BlockMemory memory;
        std::int64_t number = 0;
        std::int64_t images = 0;
        double time_s = 0;
    };

    std::optional<Block> copied(const std::byte* image, const ImagePosition& place, double time_s);
    Block block(const ImagePosition& place, const BlockMemory& memory, double time_s);
    // Returns the number of the block since the start, without flyback.
    std::int64_t number_of(const ImagePosition& place) const {
        return place.volume * layout_.plan.blocks_per_volume + place.block;
    }

    ImageLayout layout_;
    BlockPool pool_;

    // State since begin().
    FrameNumbers numbers_;
    std::int64_t next_image_ = 0;
    std::int64_t late_ = 0;        // consecutive images with an old frame id
    std::int64_t next_block_ = 0;  // including lost blocks
    std::uint64_t sequence_ = 0;
    std::optional<std::uint64_t> first_ns_;
    std::optional<Partial> partial_;
};

}  // namespace echolux
