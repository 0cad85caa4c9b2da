// How the lines of a scan come in the images of a line camera. Best, an image holds whole B-scan positions: then its
// memory is the block. Where the camera's images cannot be that tall, several are put together to a block.
#pragma once

#include <cstdint>
#include <string>

#include "compute/plan/params.h"

namespace echolux {

// Image heights that a camera can be set to: low, low + step ... high.
struct ImageHeights {
    std::int64_t low = 1;
    std::int64_t high = 1;
    std::int64_t step = 1;

    bool allow(std::int64_t lines) const { return lines >= low && lines <= high && (lines - low) % step == 0; }
};

struct ImagePlan {
    std::int64_t lines = 0;             // of an image
    std::int64_t block_b_scans = 0;     // B-scan positions of a block
    std::int64_t images_per_block = 1;  // 1: images are blocks
    std::int64_t blocks_per_volume = 0;
    std::int64_t images_per_volume = 0;  // those of the flyback included
};

// Blocks divide a volume evenly. They have `wanted_b_scans` positions, or the next smaller number that fits, or, where
// only that spares copying, a larger one. Throws Error{bad_setting} naming `camera` where no height fits the scan.
ImagePlan plan_images(const ScanGeometry& geometry, std::int64_t wanted_b_scans, const ImageHeights& heights,
                      const std::string& camera);

// Where an image belongs, by its number since the start.
struct ImagePlace {
    std::int64_t volume = 0;
    std::int64_t block = 0;  // of the volume; blocks_per_volume and more: flyback
    std::int64_t image = 0;  // of the block
};
ImagePlace place_of(std::int64_t image, const ImagePlan& plan);

// Numbers of images without end, from frame ids of 16 bits, which jump from 65535 to 1, or of 64.
class FrameNumbers {
  public:
    // The number of the image with this id; the first one has number 0. An id that is not new gives a number that is
    // not new.
    std::int64_t number(std::uint64_t id);

  private:
    bool has_begun_ = false;
    std::uint64_t last_id_ = 0;
    std::int64_t last_ = 0;
};

}  // namespace echolux
