// Four floats that the compiler keeps in one register, from and to memory of any alignment.
#pragma once

#include <cstring>

namespace echolux::cpu {

using Four = float __attribute__((vector_size(16)));

inline Four load(const float* from) {
    Four value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

inline void store(Four value, float* to) {
    std::memcpy(to, &value, sizeof(value));
}

}  // namespace echolux::cpu
