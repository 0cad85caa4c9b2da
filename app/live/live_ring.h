// The live ring of a renderer, as the thread that feeds it and the thread that draws it share it.
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

// The volumes that a ring keeps stay as they are while this lives, also when the ring is exchanged.
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

// Pictures stand at a volume that is kept.
struct Pause {
    std::shared_ptr<const KeptHold> hold;
    std::uint64_t serial = 0;  // of the volume
};

// What volumes are reconstructed with now.
struct PlanInUse {
    ReconstructionSpec spec;
    std::uint64_t number = 0;  // as VolumeStamp::plan counts them
};

struct LiveRing {
    explicit LiveRing(Renderer& of) : renderer(of) {}

    // For the thread that feeds, and where `exchanging` is held. Throws Error{device} where there are no slots.
    void require_built() const;

    Renderer& renderer;
    std::atomic<bool> has_heights = false;  // on the device

    // Held while pictures are submitted, and while what follows is exchanged, by the thread that feeds.
    mutable std::mutex exchanging;
    std::optional<LiveSlots> slots;  // nothing: the devices could not be put together again
    std::shared_ptr<VolumeRing> ring;
    std::optional<Pause> pause;    // nothing: pictures show the newest volume
    std::uint64_t generation = 0;  // of the ring
    VolumeGrid grid;
    std::optional<VolumeGrid> flow_grid;
    PlanInUse plan;
    std::string description;  // who reconstructs, how voxels get to whom, and why not better
    std::string failure;      // that was survived
};

}  // namespace echolux
