// Data sent with the voxels of a volume: acquisition time since 1970, and the meaning of voxel values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute/types.h"

namespace echolux::igtl {

// Converts seconds since a source's start to seconds since 1970. Intervals follow the source's clock. The start is
// estimated from the volume with the shortest delay after its acquisition.
class UnixTimes {
  public:
    // `now_s` is the time since 1970. A source that restarted, or paused for more than a second, is synchronised again.
    double of(double time_s, double now_s);

  private:
    std::optional<double> begin_s_;
    double last_s_ = 0;
};

// Returns the current time in seconds since 1970.
double unix_now();

// Returns JSON with `volume` and `time_s` if known, `quantity`, `unit`, `scale`, `offset`, and `spacing_um` with 0 for
// unknown spacings.
std::string note_of(const VolumeGrid& grid, std::optional<std::int64_t> volume, std::optional<double> time_s);

}  // namespace echolux::igtl
