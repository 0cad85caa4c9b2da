// Puts a picture into its place on another one: pixel by pixel where sizes agree, else filtered; cut off at the edges.
#pragma once

#include <optional>

#include "render/region.h"
#include "render/vk/image.h"

namespace echolux {

// Pixels of a picture, and those that they become on the screen.
struct PaneCopy {
    Region from, to;

    bool is_scaled() const { return from.width != to.width || from.height != to.height; }
};

// What of a picture that is to fill `place` is seen on a screen: nothing where they do not meet. Where it is scaled and
// cut off, to a pixel of the picture.
std::optional<PaneCopy> pane_copy(const Region& place, vk::Extent3D picture, vk::Extent3D screen);

// `screen` has transfer usage. Pictures that were drawn on it before must be finished.
void record_pane(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& picture, const Region& place,
                 const gpu::DeviceImage& screen);

}  // namespace echolux
