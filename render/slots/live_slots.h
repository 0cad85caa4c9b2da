// Description of the slots of a live ring for code outside the renderer, free of Vulkan: the request, the result, and
// the slots that a picture reads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "compute/sharing.h"
#include "compute/types.h"
#include "render/transfer_function.h"

namespace echolux {

// How voxels reach a slot, in the order of preference. surface: another API writes the texture directly. buffer: it
// writes a shared buffer that is copied to the texture on the GPU. upload: host memory is uploaded. The first one that
// both devices support is used.
enum class SlotKind { surface, buffer, upload };

struct SlotRequest {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow = {};  // of each slot, as large as `grid`: f16 or phasor8
    // The writer fills VoxelTargets::peaks, so no picture searches the volume for them.
    bool peaks = false;
    ValueRange range;                          // of values, unless view or preset has one
    std::size_t count = 4;                     // slots
    std::int64_t keep_bytes = 0;               // memory for extra slots that keep the last volumes
    SlotKind first = SlotKind::surface;        // first kind to try
    Sharer share;                              // empty: uploads only
    std::chrono::milliseconds timeout{10000};  // limit without any progress of the other side
};

struct LiveSlots {
    SlotWriter* writer = nullptr;  // owned by the renderer
    SlotKind kind = SlotKind::upload;
    std::string remark;           // why earlier kinds failed; empty if the first one worked
    std::size_t kept = 0;         // number of extra slots
    std::int64_t slot_bytes = 0;  // memory of one slot
};

// A slot as shown by a picture. `serial` distinguishes the successive volumes of a slot.
struct DisplayedSlot {
    std::size_t slot = 0;
    std::uint64_t serial = 0;
    std::int64_t filled_to = 0;  // number of filled slices (B-scans), counted from the first
};

// The slots that one picture reads. Its work starts when the timeline `written` reaches `wait`, and it signals `read`
// with `signal`.
struct DisplayedSlots {
    DisplayedSlot newest;
    std::optional<DisplayedSlot> previous;  // shown where `newest` is not filled yet
    std::uint64_t wait = 0;
    std::uint64_t signal = 0;
    bool* submitted = nullptr;  // set to true once work that signals `read` has been submitted; may be null
};

}  // namespace echolux
