// Reconstruction and pictures want the same GPU: voxels are born where they are drawn then.
#pragma once

#include "compute/backend.h"
#include "render/device_choice.h"

namespace echolux {

// `device` with the wish for the GPU that `backend` will reconstruct on, where there is no other wish.
DeviceChoice beside(DeviceChoice device, const BackendChoice& backend);

}  // namespace echolux
