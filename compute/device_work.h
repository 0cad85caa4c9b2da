// What one device has had to do of the work that several share, and where its time went.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/place.h"

namespace echolux {

struct DeviceWork {
    DeviceId id{};
    std::string name{};     // "NVIDIA H200"
    std::string way{};      // how its voxels get to where they are wanted, as it was last; "" before the first
    std::string failure{};  // why it is left out; "": it works
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;         // of these blocks' spectra
    std::int64_t copied_bytes = 0;  // of voxels, to another device

    // Seconds on the device's streams, which overlap: of the spectra on the link, of waiting for a
    // place, of kernels, and of voxels on their way to another device. Blocks whose work is done.
    double link_s = 0;
    double waiting_s = 0;
    double kernels_s = 0;
    double copy_s = 0;
};

// "NVIDIA H200 is left out: …" for each that is; "" where all work.
std::string left_out(const std::vector<DeviceWork>& devices);

}  // namespace echolux
