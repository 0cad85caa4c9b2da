// Data on the device that is derived from the scene of a picture for its lighting: the light volume of the ray caster,
// and the majorants of the path tracer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "render/scan_geometry.h"
#include "render/slots/paged_volume.h"
#include "render/slots/volume_texture.h"
#include "render/view/view.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/raycast.h"

namespace echolux {

// ---- The scene of a picture: a volume, possibly only partially filled with the previous one behind it, and the flow
// of the same time point.

// A channel shown together with the volume.
struct SceneChannel {
    const VolumeTexture* texture;
    std::size_t place;  // index in View::channels
};

// References textures, which must outlive it.
struct Scene {
    const VolumeTexture& volume;
    std::int64_t filled_to;  // slices from the first one; all of them: complete
    const VolumeTexture* previous = nullptr;
    const VolumeTexture* flow = nullptr;
    const VolumeTexture* previous_flow = nullptr;  // only with flow and a previous volume
    std::array<std::uint64_t, 3> serials{};        // distinguish the successive contents of volume and previous
    const gpu::DeviceImage* heights = nullptr;     // only if top or bottom of the view is a map
    const ScanField* field = nullptr;              // only if the B-scans are separate planes
    const PagedVolume* pages = nullptr;            // only if `volume` is a pool of pages
    std::vector<SceneChannel> channels{};

    explicit Scene(const VolumeTexture& whole) : volume(whole), filled_to(whole.grid().b_scans) {}
    explicit Scene(const PagedVolume& whole) : Scene(whole.texture()) { pages = &whole; }
    Scene(const VolumeTexture& newest, std::int64_t filled, const VolumeTexture* before)
        : volume(newest), filled_to(filled), previous(before) {}

    // Size and spacing of the volume or the field.
    const VolumeGrid& grid() const { return field != nullptr ? field->grid : volume.grid(); }

    bool is_partial() const { return filled_to < volume.grid().b_scans; }
};

// Returns the cells along depth, A-scans, B-scans: a quarter of the voxels, at most 128.
std::array<std::int64_t, 3> light_cells(const VolumeGrid& grid);

// ---- Exact fingerprint of the input of cached device data: its bytes. Different bytes require a new computation. Add
// members without padding only.

class Print {
  public:
    template <class T>
    void add(const T& fact) {
        const auto bytes = std::as_bytes(std::span(&fact, 1));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> bytes() && { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

// ---- Input of light volume and majorants

// Returns true if the view requests the light volume and its mode is lit.
bool needs_light_volume(const View& view);

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
void add_channels(Print& print, const LightSources& sources);

// ---- Light volume: the light that reaches each part of a volume from its surroundings and from the lamp, in cells of
// a few voxels. Provides ambient occlusion and soft shadows for one texture fetch per sample. Computed in two passes
// that are fast enough for each volume of a live ring, and only repeated if their input has changed.

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

// ---- Majorants: upper bounds of the extinction in each brick, for long flights in path tracing. Computed in two
// passes: the range of values in each brick, repeated if the volume has changed, and the bounds under the transfer
// function, repeated if that has changed.

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
