// From blocks of spectra to pictures on the graphics device: who feeds a live ring and who draws it, put together. One
// thread feeds, one thread draws; neither waits for the other.
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
    // Takes the renderer's ring; the renderer outlives it, and is best chosen beside() the backend. Throws what
    // VolumeFeeder throws.
    VolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, Renderer& renderer,
               const VolumePathOptions& options = {})
        : OwnLiveRing{LiveRing(renderer)}, VolumeFeeder(live, plan, backend, options), VolumePictures(live) {}

    // Or a GPU may wait for ever for pictures of a device that is lost.
    ~VolumePath() override { give_up_reading(); }
};

// `device` with the wish for the GPU that `backend` will reconstruct on, where there is no other wish: voxels are born
// where they are drawn then.
DeviceChoice beside(DeviceChoice device, const BackendChoice& backend);

struct OwnRenderer {
    Renderer lone;
};

// With a renderer of its own, where nothing else is shown: live without a window, bench, tests.
class LoneVolumePath : private OwnRenderer, public VolumePath {
  public:
    // Chooses a pair of devices. Throws Error{bad_setting, out_of_memory, device}.
    LoneVolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, const DeviceChoice& device,
                   const VolumePathOptions& options = {})
        : OwnRenderer{Renderer(beside(device, backend))}, VolumePath(plan, backend, lone, options) {}
};

}  // namespace echolux
