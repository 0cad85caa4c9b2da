// Turns a volume texture and a view into a picture on the device, by the compute shader shaders/raycast.comp.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "render/annotations/annotator.h"
#include "render/bricks.h"
#include "render/light_volume.h"
#include "render/region.h"
#include "render/scene.h"
#include "render/view.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/raycast.h"

namespace echolux {

// RGBA8 with straight alpha, or RayMeasures.
enum class RayOutput { colour, measures };

// One picture, or a part of it.
struct Shot {
    const Scene& scene;
    const View& view;  // has been checked
    RayOutput output = RayOutput::colour;
    Region region = {0, 0, view.width, view.height};
};

// A picture under way: finished when the queue has reached `value`. It stays until `pictures_under_way` more are cast.
struct CastPicture {
    const gpu::DeviceImage* image = nullptr;  // of the region; measures: `measure_pixels` a ray
    std::uint64_t value = 0;
};

class Raycaster {
  public:
    Raycaster(const gpu::Device& device, gpu::Queue& queue);

    // Submits the work as part of `chain`. The host waits only for the picture that was cast `pictures_under_way` calls
    // ago.
    CastPicture cast(const Shot& shot, const gpu::Chain& chain = {});

    // Whether the picture has not been overwritten by a later one.
    bool holds(const CastPicture& picture) const;

  private:
    // What one picture under way needs for itself.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        RaycastConstants constants{};
        shared::RaycastFrame facts{};
        gpu::HostBuffer uniforms;  // the facts
        gpu::HostBuffer table;     // extinctions, colours, limits of classes
        BrickClassifier classifier;
        BrickClassifier previous_classifier;
        std::optional<gpu::DeviceImage> picture;
        DrawnSheet annotations;
        bool is_fresh = false;  // the picture has not been used yet
        std::uint64_t value = 0;
    };

    // Textures for bindings that a picture has no use for: a shader's bindings must all be there.
    struct StandIns {
        explicit StandIns(const gpu::Device& device);

        gpu::DeviceImage line, plane, cube;
    };

    static RaycastConstants constants_for(const Shot& shot);
    const vk::raii::Pipeline& pipeline(const RaycastConstants& constants);
    Frame& prepared_frame(const Shot& shot);
    void prepare_output(Frame& frame, const Shot& shot);
    void prepare_annotations(Frame& frame, const Shot& shot);
    void bind_absent(Frame& frame);
    void bind(Frame& frame, const Shot& shot);
    LightSources light_sources(const Frame& frame, const Shot& shot) const;
    void fill_tables(Frame& frame, const Shot& shot);
    void record_inputs(const vk::raii::CommandBuffer& commands, Frame& frame, const Shot& shot);
    void record(const vk::raii::CommandBuffer& commands, Frame& frame, const Shot& shot);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler sampler_;
    gpu::DeviceImage extinctions_;
    gpu::DeviceImage colours_;
    gpu::DeviceImage limits_;
    StandIns absent_;
    LightVolume light_volume_;
    Annotator annotator_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::size_t next_frame_ = 0;
    std::map<RaycastConstants, vk::raii::Pipeline> pipelines_;
};

}  // namespace echolux
