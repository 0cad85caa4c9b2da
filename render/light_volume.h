// Light volume: the light that reaches each part of a volume from its surroundings and from the lamp, in cells of a few
// voxels. Provides ambient occlusion and soft shadows for one texture fetch per sample. Computed in two passes that are
// fast enough for each volume of a live ring, and only repeated if their input has changed.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "render/scene.h"
#include "render/view/view.h"
#include "render/vk/image.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/raycast.h"

namespace echolux {

// Returns the cells along depth, A-scans, B-scans: a quarter of the voxels, at most 128.
std::array<std::int64_t, 3> light_cells(const VolumeGrid& grid);

// Returns true if the view requests the light volume and its mode is lit.
bool wants_light_volume(const View& view);

// Values of the ray caster's specialization constants.
using RaycastConstants = std::array<std::int32_t, shared::constant_count>;

// Input of the light volume and of the majorants.
struct LightSources {
    const Scene& scene;
    const View& view;
    const shared::RaycastFrame& frame;
    std::span<const float> extinctions;  // transfer table
    const RaycastConstants& constants;
    std::span<const std::byte> channel_tables = {};  // empty without channels
};

// Adds the channels' contribution to a print.
class Print;
void add_channels(Print& print, const LightSources& sources);

class LightVolume {
  public:
    LightVolume(const gpu::Device& device, gpu::Queue& queue);

    // Sets the bindings of a picture. Waits for pictures in flight if the number of cells has changed. Throws
    // Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const LightSources& sources);

    // Records the computation for a picture with these bindings, unless the result is up to date.
    void record(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings, const LightSources& sources);

    // The last recording was not submitted: it must be repeated.
    void forget();

  private:
    struct Cells {
        Cells(const gpu::Device& device, vk::Extent3D extent);

        gpu::DeviceImage extinctions, light;
        bool are_fresh = true;
    };
    struct Pipelines {
        vk::raii::Pipeline extinctions, light;
    };
    const Pipelines& pipelines(const gpu::Bindings& bindings, const RaycastConstants& constants);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler dark_outside_;
    vk::raii::Sampler bright_outside_;
    std::optional<Cells> cells_;
    std::map<RaycastConstants, Pipelines> pipelines_;
    std::vector<std::byte> made_of_;  // print of the input; empty: nothing computed yet
};

}  // namespace echolux
