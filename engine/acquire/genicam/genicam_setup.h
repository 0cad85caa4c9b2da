// What a GenICam camera and a scan make of each other: the scan says how wide, how fast and in which blocks; the camera
// says what it can do, and in which format.
#pragma once

#include "engine/acquire/genicam/genicam_camera.h"
#include "engine/acquire/source.h"

namespace echolux {

struct GenicamSetup {
    Scan scan;
    SourceCapabilities capabilities;
    const PixelFormat* format = nullptr;
    ImagePlan plan;
    std::int64_t image_pixels = 0;
    std::int64_t payload_bytes = 0;  // of an image as sent
    std::int64_t block_bytes = 0;
    std::int64_t pool_blocks = 0;
    FrameLayout frames;

    bool images_are_blocks() const { return plan.images_per_block == 1 && format->is_stored_as_sent(); }
    bool sends_the_same(const GenicamSetup& other) const;
};

// Sets the camera. Throws Error{bad_setting, bad_file, device}.
GenicamSetup set_up(GenicamCamera& camera, const SourceWanted& wanted);

}  // namespace echolux
