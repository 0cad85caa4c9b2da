// Textures that belong to the renderer and are written by the GPU that reconstructs. Exported by render, imported
// here; both sides speak of plain handles, so that neither includes the other's API.
//
// Values of the two timelines are issued by the volume ring alone. The host never waits: the GPU does, and only for
// values whose signal has been submitted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "compute/place.h"

namespace echolux {

// A dedicated 3-D image: x = depth, y = A-scans, z = B-scans.
struct ExportedImage {
    int handle = -1;  // opaque file descriptor; `share` takes it over in any case
    DeviceId device{};
    std::int64_t bytes = 0;  // of the allocation
    VoxelType type = VoxelType::u8;
    std::int64_t depth = 0;
    std::int64_t a_scans = 0;
    std::int64_t b_scans = 0;
    bool linear = false;  // a plain buffer of packed voxels instead of an image: the renderer copies it on the device
};

// One time point.
struct ExportedSlot {
    ExportedImage structure;
    std::optional<ExportedImage> flow;
    std::optional<ExportedImage> peaks;  // always linear, its depth counted in peaks
    std::int64_t depths_of_a_peak = 0;   // see Peaks
};

struct ExportedTimeline {
    int handle = -1;  // opaque file descriptor of a timeline semaphore; `share` takes it over in any case
    DeviceId device{};
};

// The slots of a live ring as whoever reconstructs sees them: places to write to, in turn with the pictures that read
// them. Used by one thread, the one that feeds.
class SlotWriter {
  public:
    virtual ~SlotWriter() = default;

    // Where a reconstructor writes: host memory, or a device_surface (also for a buffer) of the GPU that shares the
    // slots. Valid as long as this object lives.
    virtual Places places(std::size_t slot) const = 0;

    // What is written to the slot from now on comes after the timeline `read` has reached `value`. A GPU waits by
    // itself; with host memory this waits, and throws Error{device} where pictures are not finished.
    virtual void begin(std::size_t slot, std::uint64_t value) = 0;

    // The timeline `written` gets `value` once everything submitted to the slot's place so far is done, which are
    // slices [first, end) since the last time; to host memory they have been written. Values rise from call to call,
    // slots may alternate.
    virtual void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) = 0;

    // What has become of the work that was submitted so far, which is waited for at most so long. `dead`: who does it
    // has failed, and none of it will signal any more. From any thread.
    enum class Settled { done, under_way, dead };
    virtual Settled settle(std::chrono::milliseconds patience) noexcept = 0;

    // The timeline `read` gets `value`, in place of a renderer whose device is lost and cannot even be signalled from
    // the host. From any thread.
    virtual void release_readers(std::uint64_t value) noexcept = 0;
};

// For handles that nobody imports; negative ones are none.
void close_handle(int handle);
void close_handles(const std::vector<ExportedSlot>& slots);

// How the GPU that reconstructs takes over what the renderer exports. Throws Error{device} when a handle cannot be
// imported: the caller then falls back to buffers, or to uploads.
using Sharer = std::function<std::unique_ptr<SlotWriter>(
    const std::vector<ExportedSlot>& slots, const ExportedTimeline& written, const ExportedTimeline& read)>;

// By CUDA; in a build without it this throws.
std::unique_ptr<SlotWriter> share(const std::vector<ExportedSlot>& slots, const ExportedTimeline& written,
                                  const ExportedTimeline& read);

}  // namespace echolux
