// Negotiation between a scan and a GenICam camera. The scan specifies width, speed and blocks; the camera its
// capabilities and pixel format.
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
    std::int64_t payload_bytes = 0;  // size of an image as sent
    std::int64_t block_bytes = 0;
    std::int64_t pool_blocks = 0;
    FrameLayout frames;

    // Whether images can be used as blocks without copying.
    bool images_are_blocks() const { return plan.images_per_block == 1 && format->is_stored_as_sent(); }
    // Whether a reconnected camera can continue the stream.
    bool sends_the_same(const GenicamSetup& other) const;
};

// Configures the camera for the scan. Throws Error{bad_setting, bad_file, device}.
GenicamSetup set_up(GenicamCamera& camera, const SourceWanted& wanted);

}  // namespace echolux
