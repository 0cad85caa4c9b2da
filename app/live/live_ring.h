// The live ring of a renderer, shared by the feeding thread and the drawing thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "compute/plan/params.h"
#include "compute/types.h"
#include "engine/live/volume_ring.h"
#include "render/renderer.h"

namespace echolux {

// Keeps the recent volumes of a ring unchanged for its lifetime, even if the ring is replaced.
class KeptHold {
  public:
    explicit KeptHold(std::shared_ptr<VolumeRing> ring) : ring_(std::move(ring)) { ring_->hold(); }
    ~KeptHold() { ring_->release(); }
    KeptHold(const KeptHold&) = delete;
    KeptHold& operator=(const KeptHold&) = delete;

    bool is_of(const std::shared_ptr<VolumeRing>& ring) const { return ring_ == ring; }

  private:
    std::shared_ptr<VolumeRing> ring_;
};

// Pictures show a kept volume.
struct Pause {
    std::shared_ptr<const KeptHold> hold;
    std::uint64_t serial = 0;  // of the volume
};

// Settings that volumes are currently reconstructed with.
struct PlanInUse {
    ReconstructionSpec spec;
    std::uint64_t number = 0;  // same numbering as VolumeStamp::plan
};

struct LiveRing {
    explicit LiveRing(Renderer& of) : renderer(of) {}

    // For the feeding thread, or with `exchanging` held. Throws Error{device} if there are no slots.
    void require_built() const;

    Renderer& renderer;
    std::atomic<bool> has_heights = false;  // height maps are on the device

    // Held while pictures are submitted, and by the feeding thread while it replaces the members below.
    mutable std::mutex exchanging;
    std::optional<LiveSlots> slots;  // std::nullopt: the devices could not be restored
    std::shared_ptr<VolumeRing> ring;
    std::optional<Pause> pause;    // std::nullopt: pictures show the newest volume
    std::uint64_t generation = 0;  // of the ring
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    PlanInUse plan;
    std::string description;  // reconstructing device, transfer path, and why no better path is used
    std::string failure;      // error that was recovered from
};

}  // namespace echolux
