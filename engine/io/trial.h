// Work with a library that was not written for hostile files is tried in a copy of this process first: if it crashes,
// hangs or wants far too much memory there, nothing happened here.
#pragma once

#include <cstdint>
#include <functional>

namespace echolux {

struct TrialBounds {
    std::int64_t max_bytes = 0;  // of memory, beside what this process has already
    unsigned longest_s = 20;
};

// False: it crashed, did not end in time, or ran out of that memory. Throws the Error that it threw there, so that what
// is refused in the copy is not tried again here. True as well where no copy can be made.
bool survives(const std::function<void()>& work, const TrialBounds& bounds);

}  // namespace echolux
