// Share of one device in the work of several, and where its time was spent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/place.h"

namespace echolux {

// Counters of one device. Values accumulate over the life of a reconstructor.
struct DeviceWork {
    DeviceId id{};
    std::string name{};     // "NVIDIA H200"
    std::string way{};      // current transfer path of its voxels; empty before the first block
    std::string failure{};  // why it is excluded; empty if it works
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;         // spectra of these blocks
    std::int64_t copied_bytes = 0;  // voxels copied to another device

    // Seconds on the device's streams, which overlap, of completed blocks: spectra on the link, waiting for a target,
    // kernels, and voxels on their way to another device.
    double link_s = 0;
    double waiting_s = 0;
    double kernels_s = 0;
    double copy_s = 0;
};

// Returns "NVIDIA H200 is left out: ..." for each excluded device, or an empty string.
std::string left_out(const std::vector<DeviceWork>& devices);

}  // namespace echolux
