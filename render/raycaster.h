// Turns a volume texture and a view into a picture on the device, by the compute shader shaders/raycast.comp.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "render/camera.h"
#include "render/slots/volume_texture.h"
#include "render/view.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "shaders/shared/raycast.h"

namespace echolux {

enum class RayOutput { colour, measures };  // RGBA8 with straight alpha, or four floats: see RayMeasure

// Hears how many rows of the picture are finished since it was last called; may throw to stop.
using BandDone = std::function<void(std::int64_t rows)>;

class Raycaster {
  public:
    Raycaster(const gpu::Device& device, gpu::Queue& queue);

    // Submits the work; the picture is valid until the next call. `view` has been checked.
    const gpu::DeviceImage& cast(const VolumeTexture& volume, const gpu::DeviceImage& bricks, const View& view,
                                 RayOutput output, const BandDone& done = {});

  private:
    using Constants = std::array<std::int32_t, 4>;

    const vk::raii::Pipeline& pipeline(const Constants& constants);
    void prepare_picture(const View& view, RayOutput output);
    void write_table(const TransferFunction& function);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::Bindings bindings_;
    vk::raii::Sampler sampler_;
    gpu::HostBuffer frame_;
    gpu::HostBuffer table_;  // extinctions, then colours
    gpu::DeviceImage extinctions_;
    gpu::DeviceImage colours_;
    std::optional<gpu::DeviceImage> picture_;
    std::map<Constants, vk::raii::Pipeline> pipelines_;
};

}  // namespace echolux
