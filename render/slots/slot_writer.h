// The side of a live ring's slots that is written to, free of Vulkan: who reconstructs sees places and values of
// timelines. Slots are textures that the GPU writes itself, shared buffers that are copied into textures on the GPU, or
// host memory that is uploaded: whichever the two devices can do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/sharing.h"
#include "compute/types.h"
#include "render/transfer_function.h"

namespace echolux {

enum class SlotKind { surface, buffer, upload };  // in the order in which they are tried

// How the GPU that reconstructs takes over what is exported: share() of compute/sharing.h.
using Sharer = std::function<std::unique_ptr<SharedSlots>(
    const std::vector<ExportedSlot>& slots, const ExportedTimeline& written, const ExportedTimeline& read)>;

struct SlotsWanted {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow = {};        // of each slot besides, as large as `grid`: f16 or phasor8
    ValueRange range;                           // of values, where neither view nor preset knows one
    std::size_t count = 4;                      // slots
    SlotKind first = SlotKind::surface;         // the first kind to be tried
    Sharer share;                               // nothing: uploads
    std::chrono::milliseconds patience{10000};  // with the other side, while nothing moves there
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
};

// Used by one thread, the one that feeds.
class SlotWriter {
  public:
    virtual ~SlotWriter() = default;

    virtual SlotKind kind() const = 0;
    virtual const std::string& remark() const = 0;  // why not an earlier kind; "" where the first one did

    // Valid as long as the slots live.
    virtual Places places(std::size_t slot) const = 0;

    // What is written to the slot from now on comes after the timeline `read` has reached `value`. On the host this
    // waits, and throws Error{device} where pictures are not finished; a GPU does it by itself.
    virtual void begin(std::size_t slot, std::uint64_t value) = 0;

    // The timeline `written` gets `value` when slices [first, end) are written. To host memory they must have been.
    virtual void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) = 0;

    // Signal a timeline from the host, where those who should have are gone: nobody waits for them in vain. From any
    // thread. Reading: pictures under way are waited for first, as long as the device finishes any.
    virtual void give_up_writing(std::uint64_t value) noexcept = 0;
    virtual void give_up_reading(std::uint64_t value) noexcept = 0;
};

}  // namespace echolux
