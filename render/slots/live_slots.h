// The slots of a live ring as others than the renderer know them, free of Vulkan: what is wanted of them, what was
// made, and what a picture reads.
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

// Slots are textures that the GPU writes itself, shared buffers that are copied into textures on the GPU, or host
// memory that is uploaded: whichever the two devices can do, tried in this order.
enum class SlotKind { surface, buffer, upload };

struct SlotsWanted {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow = {};        // of each slot besides, as large as `grid`: f16 or phasor8
    bool peaks = false;                         // Places::peaks are filled: no picture looks for them
    ValueRange range;                           // of values, where neither view nor preset knows one
    std::size_t count = 4;                      // slots
    std::int64_t keep_bytes = 0;                // for slots besides, as many as fit, which keep the last volumes
    SlotKind first = SlotKind::surface;         // the first kind to be tried
    Sharer share;                               // nothing: uploads
    std::chrono::milliseconds patience{10000};  // with the other side, while nothing moves there
};

struct LiveSlots {
    SlotWriter* writer = nullptr;  // of the renderer
    SlotKind kind = SlotKind::upload;
    std::string remark;           // why not an earlier kind; "" where the first one did
    std::size_t kept = 0;         // slots besides those that were wanted
    std::int64_t slot_bytes = 0;  // of one of them
};

// A slot as a picture shows it. `serial` tells apart the volumes that a slot holds one after the other.
struct ShownSlot {
    std::size_t slot = 0;
    std::uint64_t serial = 0;
    std::int64_t filled_to = 0;  // slices (B-scans) from the first
};

// What one picture reads: starts when `written` has reached `wait`, and signals `read` with `signal`.
struct ShownSlots {
    ShownSlot newest;
    std::optional<ShownSlot> previous;  // shown where `newest` is not filled yet
    std::uint64_t wait = 0;
    std::uint64_t signal = 0;
    bool* submitted = nullptr;  // set once work has been submitted that signals; nothing: nobody wants to know
};

}  // namespace echolux
