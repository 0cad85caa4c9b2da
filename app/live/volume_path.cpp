#include "app/live/volume_path.h"

namespace echolux {

DeviceChoice beside(DeviceChoice device, const BackendChoice& backend) {
    if (backend.backend == Backend::cpu || device.near != DeviceId{}) return device;
    const auto& usable = surveyed_gpus().usable;
    if (!backend.named_gpus.empty()) {
        device.near = backend.named_gpus.front();
        return device;
    }
    device.near = backend.gpu != DeviceId{} || usable.empty() ? backend.gpu : usable.front().id;
    return device;
}

}  // namespace echolux
