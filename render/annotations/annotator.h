// Draws annotations over a picture on the device with shaders/annotate.comp, so that the picture of a window never
// returns to the host.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "render/annotations/sheet.h"
#include "render/picture.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "shaders/shared/annotate.h"

namespace echolux {

// Annotations of one picture in flight, with their buffers on the device.
class SheetBuffers {
  public:
    explicit SheetBuffers(const gpu::Device& device);

    void clear() { part_.tiles = 0; }  // draws nothing

  private:
    friend class Annotator;

    const gpu::Device* device_;
    gpu::Bindings bindings_;
    std::optional<gpu::HostBuffer> staging_;
    std::optional<gpu::DeviceBuffer> buffer_;
    std::size_t bytes_ = 0;
    shared::AnnotatePart part_{};  // draws nothing if there are no tiles
    bool is_of_floats_ = false;    // format of the picture
};

// Throws Error{device, out_of_memory}.
class Annotator {
  public:
    explicit Annotator(const gpu::Device& device);

    // Fills `drawn` with the part of `sheet` inside `region`, whose pixels are in `picture` (RGBA of 8 bits or floats,
    // straight alpha). Work that reads the previous content of `drawn` must have finished.
    void prepare(SheetBuffers& drawn, const Sheet& sheet, const Region& region, const gpu::DeviceImage& picture);

    // Records the drawing. Must follow the picture's own work; records nothing if there is nothing to draw.
    void record(const vk::raii::CommandBuffer& commands, const SheetBuffers& drawn) const;

  private:
    gpu::Bindings bindings_;  // defines the layout of all sheets
    vk::raii::Pipeline on_codes_;
    vk::raii::Pipeline on_floats_;
    std::unique_ptr<Typesetter> typesetter_ = make_typesetter();  // null in builds without text
};

// ---- Assignment of shapes to the tiles of a picture, so that the device tests few shapes per pixel and skips empty
// tiles.

struct Tiles {
    std::vector<shared::uvec4> tiles;  // left and top in tiles of the region; first and end index in `list`
    std::vector<std::uint32_t> list;   // indices of shapes, in drawing order within each tile
};

// Returns the tiles of a region that contain shapes.
Tiles tiles_of(std::span<const shared::Shape> shapes, const Region& region);

}  // namespace echolux
