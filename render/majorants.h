// What no extinction exceeds in each brick of a volume, so that light that is traced flies as far as it can. Two
// compute passes: the range of values in each brick, again where the volume has changed; and what the transfer function
// makes of it, again where that has changed.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "render/light_volume.h"
#include "render/scene.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

// The largest of each 1, 2, 4 ... 1024 entries of the table, from each on: of any run of entries, two say the largest.
// Dips: the least.
inline constexpr std::size_t extinction_peaks_count = std::size_t{shared::peak_levels} * shared::transfer_entries;
inline constexpr std::size_t extinction_peaks_bytes = extinction_peaks_count * sizeof(float);
void write_extinction_peaks(std::span<const float> extinctions, std::span<std::byte> peaks);
void write_extinction_dips(std::span<const float> extinctions, std::span<std::byte> dips);

// What a test plants in majorants, to see that what is wrong with them is counted; shaders/shared/trace.h says what
// each is.
enum class MajorantFault { none, half, no_halo, ends_only, stale };

class Majorants {
  public:
    Majorants(const gpu::Device& device, gpu::Queue& queue);

    // To the bindings of a picture. Waits for the pictures under way where the bricks are not as many as they were.
    // Throws Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const LightSources& sources);

    // What makes those of a picture with these bindings, one after the other, each little enough for a submission;
    // nothing where they are there. `table`: the extinctions' peaks, from `offset`, and dips.
    std::vector<gpu::Recording> steps(const gpu::Bindings& bindings, const LightSources& sources, vk::Buffer table,
                                      vk::DeviceSize offset);

    // What was to be submitted last was not submitted.
    void forget();

  private:
    struct Bricked {
        Bricked(const gpu::Device& device, vk::Extent3D bricks);

        gpu::DeviceImage ranges, majorants;
        bool are_fresh = true;
    };
    struct Pipelines {
        vk::raii::Pipeline ranges, majorants;
    };
    struct Slabs {
        std::uint32_t first, end;
    };
    void record_ranges(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings,
                       const vk::raii::Pipeline& pass, const Slabs& slabs) const;
    void record_majorants(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings,
                          const vk::raii::Pipeline& pass, vk::Buffer table, vk::DeviceSize offset) const;
    const Pipelines& pipelines(const gpu::Bindings& bindings, const RaycastConstants& constants);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::DeviceBuffer peaks_;
    std::optional<Bricked> bricked_;
    std::map<RaycastConstants, Pipelines> pipelines_;
    std::vector<std::byte> ranges_of_, made_of_;  // empty: nothing yet
};

}  // namespace echolux
