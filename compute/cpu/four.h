// Four floats that the compiler keeps in one register, from and to memory of any alignment.
#pragma once

#include <cstring>

// Before a function with a simple loop: a version for machines with AVX-512 is made of it too, with all that it calls,
// and chosen when the program starts.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define ECHOLUX_WIDER __attribute__((flatten, target_clones("arch=x86-64-v4", "default")))
#else
#define ECHOLUX_WIDER
#endif

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
