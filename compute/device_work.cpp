#include "compute/device_work.h"

namespace echolux {

std::string left_out(const std::vector<DeviceWork>& devices) {
    std::string line;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        if (devices[i].failure.empty()) continue;
        line += (line.empty() ? "" : "; ") + devices[i].name + " (device " + std::to_string(i + 1) + " of " +
                std::to_string(devices.size()) + ") is left out: " + devices[i].failure;
    }
    return line;
}

}  // namespace echolux
