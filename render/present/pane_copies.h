// Copies pictures into panes of the screen: pixel by pixel if sizes match, else filtered, and clipped at the screen's
// edges.
#pragma once

#include <optional>

#include "render/region.h"
#include "render/vk/image.h"

namespace echolux {

// Source pixels and destination pixels of a copy.
struct PaneCopy {
    Region from, to;

    bool is_scaled() const { return from.width != to.width || from.height != to.height; }
};

// Returns the copy that fills `place` with a picture, clipped to the screen. Empty if nothing is visible. If scaled and
// clipped, the source is rounded outwards to whole pixels.
std::optional<PaneCopy> pane_copy(const Region& place, vk::Extent3D picture, vk::Extent3D screen);

// `screen` needs transfer usage. Work that drew on it before must have finished.
void record_pane(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& picture, const Region& place,
                 const gpu::DeviceImage& screen);

}  // namespace echolux
