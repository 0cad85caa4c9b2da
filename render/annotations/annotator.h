// Draws annotations over a picture on the device with shaders/annotate.comp, so that the picture of a window never
// returns to the host.
#pragma once

#include <memory>
#include <optional>

#include "render/annotations/sheet.h"
#include "render/annotations/typesetter.h"
#include "render/region.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"

namespace echolux {

// Annotations of one picture in flight, with their buffers on the device.
class DrawnSheet {
  public:
    explicit DrawnSheet(const gpu::Device& device);

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
    void prepare(DrawnSheet& drawn, const Sheet& sheet, const Region& region, const gpu::DeviceImage& picture);

    // Records the drawing. Must follow the picture's own work; records nothing if there is nothing to draw.
    void record(const vk::raii::CommandBuffer& commands, const DrawnSheet& drawn) const;

  private:
    gpu::Bindings bindings_;  // defines the layout of all sheets
    vk::raii::Pipeline on_codes_;
    vk::raii::Pipeline on_floats_;
    std::unique_ptr<Typesetter> typesetter_ = make_typesetter();  // null in builds without text
};

}  // namespace echolux
