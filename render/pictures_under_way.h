// How many pictures the graphics device is given at a time. A live ring has two slots more: one is written, one is the
// newest.
#pragma once

#include <cstddef>

namespace echolux {

inline constexpr std::size_t pictures_under_way = 2;

}  // namespace echolux
