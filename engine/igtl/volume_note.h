// What goes with the voxels of a volume that is sent: when it was acquired, as others count time, and what its numbers
// mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute/types.h"

namespace echolux::igtl {

// Of seconds since a source's start, seconds since 1970. Distances are the source's; where it began is taken from the
// volume that came soonest after it was acquired.
class UnixTimes {
  public:
    // `now_s`: since 1970. A source that began again, or was halted for a second, is set anew.
    double of(double time_s, double now_s);

  private:
    std::optional<double> begin_s_;
    double last_s_ = 0;
};

double unix_now();

// JSON: `volume` and `time_s` where they are known, `quantity`, `unit`, `scale`, `offset`, and `spacing_um` with 0 for
// what is unknown.
std::string note_of(const VolumeGrid& grid, std::optional<std::int64_t> volume, std::optional<double> time_s);

}  // namespace echolux::igtl
