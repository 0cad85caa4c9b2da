// Four floats in one vector register, loaded from and stored to unaligned memory.
#pragma once

#include <cstring>

// Put before functions with a simple loop: compiles an additional AVX-512 version, including all callees, selected at
// program start.
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
