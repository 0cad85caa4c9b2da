// Path from blocks of spectra to pictures: combines the feeder and the display of a live ring. One thread feeds, one
// thread draws, and neither waits for the other.
#pragma once

#include "app/live/live_ring.h"
#include "app/live/volume_feeder.h"
#include "app/live/volume_pictures.h"
#include "compute/backend.h"
#include "render/device_choice.h"

namespace echolux {

struct OwnLiveRing {
    LiveRing live;
};

class VolumePath : private OwnLiveRing, public VolumeFeeder, public VolumePictures {
  public:
    // Uses the renderer's ring. The renderer must outlive this object, and should be chosen with beside(). Throws what
    // VolumeFeeder throws.
    VolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, Renderer& renderer,
               const VolumePathOptions& options = {})
        : OwnLiveRing{LiveRing(renderer)}, VolumeFeeder(live, plan, backend, options), VolumePictures(live) {}

    // Otherwise a GPU could wait forever for pictures of a lost device.
    ~VolumePath() override { give_up_reading(); }
};

// Returns `device` with a preference for the GPU that `backend` will use, unless it already has a preference. Voxels
// are then written directly to the textures that are drawn.
DeviceChoice beside(DeviceChoice device, const BackendChoice& backend);

struct OwnRenderer {
    Renderer lone;
};

// A path with its own renderer, for live sessions without a window, benchmarks and tests.
class LoneVolumePath : private OwnRenderer, public VolumePath {
  public:
    // Chooses a pair of devices. Throws Error{bad_setting, out_of_memory, device}.
    LoneVolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, const DeviceChoice& device,
                   const VolumePathOptions& options = {})
        : OwnRenderer{Renderer(beside(device, backend))}, VolumePath(plan, backend, lone, options) {}
};

}  // namespace echolux
