// Draws annotations over a picture on the device, by the compute shader shaders/annotate.comp: a window needs nothing
// to come back to the host for it.
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

// The annotations of one picture under way, on their way to the device.
class DrawnSheet {
  public:
    explicit DrawnSheet(const gpu::Device& device);

    void clear() { part_.tiles = 0; }  // nothing is drawn

  private:
    friend class Annotator;

    const gpu::Device* device_;
    gpu::Bindings bindings_;
    std::optional<gpu::HostBuffer> staging_;
    std::optional<gpu::DeviceBuffer> buffer_;
    std::size_t bytes_ = 0;
    shared::AnnotatePart part_{};  // no tiles: nothing is drawn
    bool is_of_floats_ = false;    // the picture
};

class Annotator {
  public:
    explicit Annotator(const gpu::Device& device);

    // What of `sheet` lies in the region whose pixels are in `picture` (RGBA of 8 bits or floats, straight alpha). The
    // device must be done with what `drawn` held before.
    void prepare(DrawnSheet& drawn, const Sheet& sheet, const Region& region, const gpu::DeviceImage& picture);

    // After the picture has been drawn. Records nothing where nothing is to be drawn.
    void record(const vk::raii::CommandBuffer& commands, const DrawnSheet& drawn) const;

  private:
    gpu::Bindings bindings_;  // the layout of every sheet's
    vk::raii::Pipeline on_codes_;
    vk::raii::Pipeline on_floats_;
    std::unique_ptr<Typesetter> typesetter_ = make_typesetter();  // null: built without text
};

}  // namespace echolux
