// A way from spectra to pictures with a renderer of its own, where nothing else is shown: live without a window, bench,
// tests.
#pragma once

#include "app/live/device_pair.h"
#include "app/live/volume_path.h"

namespace echolux {

struct LoneRenderer {
    Renderer lone;
};

class LoneVolumePath : private LoneRenderer, public VolumePath {
  public:
    // Chooses a pair of devices. Throws Error{bad_setting, out_of_memory, device}.
    LoneVolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, const DeviceChoice& device,
                   const VolumePathOptions& options = {})
        : LoneRenderer{Renderer(beside(device, backend))}, VolumePath(plan, backend, lone, options) {}
};

}  // namespace echolux
