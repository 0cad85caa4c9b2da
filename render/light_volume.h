// How much light gets to each place of a volume, from around and from the lamp, in cells of a few voxels: ambient
// occlusion and soft shadows for one fetch a sample. Two compute passes over the cells, cheap enough for each volume of
// a live ring; they run again only when something that they depend on has changed.
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

// Cells along depth, A-scans, B-scans: a quarter of the voxels, at most 128.
std::array<std::int64_t, 3> light_cells(const VolumeGrid& grid);

// Whether samples are lit by it: in its view, and by a mode that lights what it shows.
bool wants_light_volume(const View& view);

// A value for each specialization constant of the ray caster.
using RaycastConstants = std::array<std::int32_t, shared::constant_count>;

// What light is made from.
struct LightSources {
    const Scene& scene;
    const View& view;
    const shared::RaycastFrame& frame;
    std::span<const float> extinctions;  // the table
    const RaycastConstants& constants;
    std::span<const std::byte> channel_tables = {};  // none: there are no channels
};

// What channels do to light.
class Print;
void add_channels(Print& print, const LightSources& sources);

class LightVolume {
  public:
    LightVolume(const gpu::Device& device, gpu::Queue& queue);

    // To the bindings of a picture. Waits for the pictures under way where the cells are not as many as they were.
    // Throws Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const LightSources& sources);

    // Makes the light of a picture with these bindings, unless it is there.
    void record(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings, const LightSources& sources);

    // What was recorded last was not submitted.
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
    std::vector<std::byte> made_of_;  // empty: nothing yet
};

}  // namespace echolux
