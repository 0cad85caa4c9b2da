// Turns a volume texture and a view into a picture on the device, by the compute shader shaders/raycast.comp.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "render/camera.h"
#include "render/slots/volume_texture.h"
#include "render/view.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/raycast.h"

namespace echolux {

enum class RayOutput { colour, measures };  // RGBA8 with straight alpha, or four floats: see RayMeasure

// Hears how many rows of the picture are finished since it was last called; may throw to stop.
using BandDone = std::function<void(std::int64_t rows)>;

// What is looked at: a volume, or the part of one that is filled already with the one before it behind.
struct Scene {
    const VolumeTexture& volume;
    std::int64_t filled_to;  // slices from the first; all of them: the volume alone is shown
    const VolumeTexture* previous = nullptr;

    explicit Scene(const VolumeTexture& whole) : volume(whole), filled_to(whole.grid().b_scans) {}
    Scene(const VolumeTexture& newest, std::int64_t filled, const VolumeTexture* before)
        : volume(newest), filled_to(filled), previous(before) {}

    bool is_partial() const { return filled_to < volume.grid().b_scans; }
};

// A picture under way: finished when the queue has reached `value`. It stays until `pictures_under_way` more are cast.
struct CastPicture {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

class Raycaster {
  public:
    Raycaster(const gpu::Device& device, gpu::Queue& queue);

    // Submits the work as part of `chain`. The host waits only for the picture that was cast `pictures_under_way` calls
    // ago. `view` has been checked.
    CastPicture cast(const Scene& scene, const View& view, RayOutput output, const gpu::Chain& chain = {});

    // Band by band, each finished before the next begins.
    CastPicture cast_in_bands(const Scene& scene, const View& view, RayOutput output, const BandDone& done);

    // Whether the picture has not been overwritten by a later one.
    bool holds(const CastPicture& picture) const;

  private:
    using Constants = std::array<std::int32_t, 5>;

    // What one picture under way needs for itself.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        gpu::HostBuffer uniforms;
        gpu::HostBuffer table;  // extinctions, then colours
        std::optional<gpu::DeviceImage> picture;
        bool is_fresh = false;  // the picture has not been used yet
        std::uint64_t value = 0;
    };

    const vk::raii::Pipeline& pipeline(const Constants& constants);
    Frame& prepared_frame(const Scene& scene, const View& view, RayOutput output);
    void prepare_picture(Frame& frame, const View& view, RayOutput output);
    void bind(Frame& frame, const Scene& scene);
    void record_inputs(const vk::raii::CommandBuffer& commands, Frame& frame);
    void record_rows(const vk::raii::CommandBuffer& commands, const Frame& frame, const vk::raii::Pipeline& shader,
                     const View& view, std::uint32_t first, std::uint32_t count);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler sampler_;
    gpu::DeviceImage extinctions_;
    gpu::DeviceImage colours_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::size_t next_frame_ = 0;
    std::map<Constants, vk::raii::Pipeline> pipelines_;
};

}  // namespace echolux
