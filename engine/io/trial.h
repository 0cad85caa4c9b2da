// Work with a library that was not written for hostile files is tried in a copy of this process first: if it crashes or
// hangs there, nothing happened here.
#pragma once

#include <functional>

namespace echolux {

// False: it crashed, or did not end in time. What it throws is no crash. True as well where no copy can be made.
bool survives(const std::function<void()>& work, unsigned longest_s = 20);

}  // namespace echolux
