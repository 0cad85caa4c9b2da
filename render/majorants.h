// Majorants: upper bounds of the extinction in each brick, for long flights in path tracing. Computed in two passes:
// the range of values in each brick, repeated if the volume has changed, and the bounds under the transfer function,
// repeated if that has changed.
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

// Sparse tables of the transfer table: the max (peaks) or min (dips) of 1, 2, 4 ... 1024 entries from each entry on.
// Two lookups give the extreme of any range of entries.
inline constexpr std::size_t extinction_peaks_count = std::size_t{shared::peak_levels} * shared::transfer_entries;
inline constexpr std::size_t extinction_peaks_bytes = extinction_peaks_count * sizeof(float);
void write_extinction_peaks(std::span<const float> extinctions, std::span<std::byte> peaks);
void write_extinction_dips(std::span<const float> extinctions, std::span<std::byte> dips);

// Faults that a test injects into majorants to check that errors are counted. Described in shaders/shared/trace.h.
enum class MajorantFault { none, half, no_halo, ends_only, stale };

class Majorants {
  public:
    Majorants(const gpu::Device& device, gpu::Queue& queue);

    // Sets the bindings of a picture. Waits for pictures in flight if the number of bricks has changed. Throws
    // Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const LightSources& sources);

    // Returns the recordings that compute the majorants of a picture with these bindings, in order, each short enough
    // for one submission. Empty if they are up to date. `table` contains the peaks of the extinctions from `offset` on,
    // then the dips.
    std::vector<gpu::Recording> steps(const gpu::Bindings& bindings, const LightSources& sources, vk::Buffer table,
                                      vk::DeviceSize offset);

    // The last recordings were not submitted: they must be repeated.
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
    std::vector<std::byte> ranges_of_, made_of_;  // prints of the input; empty: nothing computed yet
};

}  // namespace echolux
