// Textures owned by the renderer and written by the reconstructing GPU. The renderer exports them and compute imports
// them. Both sides use plain handles, so that neither includes the other's API.
//
// The volume ring alone issues the values of the two timelines. The host never waits: the GPU does, and only for values
// whose signal has been submitted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compute/voxel_target.h"

namespace echolux {

// A dedicated 3-D image: x = depth, y = A-scans, z = B-scans.
struct ExportedImage {
    int handle = -1;  // opaque file descriptor; share() always takes ownership
    DeviceId device{};
    std::int64_t bytes = 0;  // size of the allocation
    VoxelType type = VoxelType::u8;
    std::int64_t depth = 0;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    bool linear = false;  // a plain buffer of packed voxels rather than an image; the renderer copies it on the device
};

// Resources of one time point.
struct ExportedSlot {
    ExportedImage structure;
    std::optional<ExportedImage> flow;
    std::optional<ExportedImage> peaks;  // always linear; its depth counts peaks
    std::int64_t depths_of_a_peak = 0;   // voxels per peak, see Peaks
};

// A timeline semaphore exported by the renderer.
struct ExportedTimeline {
    int handle = -1;  // opaque file descriptor of a timeline semaphore; share() always takes ownership
    DeviceId device{};
};

// Write access of a reconstructor to the slots of a live ring, synchronized with the pictures that read them. Used by
// one thread, the feeder.
class SlotWriter {
  public:
    virtual ~SlotWriter() = default;

    // Returns the targets of a slot: host memory, or a device_surface (also for a buffer) of the GPU that shares the
    // slots. Valid during the lifetime of this object.
    virtual VoxelTargets targets(std::size_t slot) const = 0;

    // Delays subsequent writes to the slot until the timeline `read` has reached `value`. A GPU waits on its own. With
    // host memory this call blocks, and throws Error{device} if pictures are not finished.
    virtual void begin(std::size_t slot, std::uint64_t value) = 0;

    // Signals `value` on the timeline `written` after everything submitted to the slot until now, which are slices
    // [first, end) since the last call. With host memory they are already written. Values increase from call to call;
    // slots may alternate.
    virtual void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) = 0;

    // Returns the state of the submitted work, waiting at most `timeout`. `dead`: the device has failed and will not
    // signal any of it. Callable from any thread.
    enum class SettleResult { done, in_flight, dead };
    virtual SettleResult settle(std::chrono::milliseconds timeout) noexcept = 0;

    // Signals `value` on the timeline `read` instead of a renderer whose device is lost and can no longer be signalled
    // from the host. Callable from any thread.
    virtual void release_readers(std::uint64_t value) noexcept = 0;
};

// Close handles that were not imported. Negative ones are ignored.
void close_handle(int handle);
void close_handles(const std::vector<ExportedSlot>& slots);

// Imports the renderer's exports into the reconstructing GPU. Throws Error{device} if a handle cannot be imported; the
// caller then falls back to buffers or uploads.
using Sharer = std::function<std::unique_ptr<SlotWriter>(
    const std::vector<ExportedSlot>& slots, const ExportedTimeline& written, const ExportedTimeline& read)>;

// Imports into CUDA. Throws in a build without CUDA.
std::unique_ptr<SlotWriter> share(const std::vector<ExportedSlot>& slots, const ExportedTimeline& written,
                                  const ExportedTimeline& read);

}  // namespace echolux
