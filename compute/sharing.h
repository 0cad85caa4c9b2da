// Textures that belong to the renderer and are written by the GPU that reconstructs. Exported by render, imported
// here; both sides speak of plain handles, so that neither includes the other's API.
//
// Values of the two timelines are issued by the volume ring alone. The host never waits: the GPU does, and only for
// values whose signal has been submitted.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

struct ExportedTimeline {
    int handle = -1;  // opaque file descriptor of a timeline semaphore; `share` takes it over in any case
    DeviceId device{};
};

class SharedSlots {
  public:
    virtual ~SharedSlots() = default;

    // Where a reconstructor on the same GPU writes: a device_surface, also for a buffer. Valid as long as this object
    // lives.
    virtual Places places(std::size_t slot) const = 0;

    // What is submitted to the slot's place from now on starts once the timeline `read` has reached `value`.
    virtual void begin(std::size_t slot, std::uint64_t value) = 0;

    // The timeline `written` gets `value` once everything submitted to the slot's place so far is done. Values rise
    // from call to call, slots may alternate.
    virtual void publish(std::size_t slot, std::uint64_t value) = 0;
};

// For handles that nobody imports; negative ones are none.
void close_handle(int handle);
void close_handles(const std::vector<ExportedSlot>& slots);

// Throws Error{device} when a handle cannot be imported: the caller then falls back to buffers, or to uploads.
std::unique_ptr<SharedSlots> share(const std::vector<ExportedSlot>& slots, const ExportedTimeline& written,
                                   const ExportedTimeline& read);

}  // namespace echolux
