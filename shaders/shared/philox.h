// Counter-based random numbers: Philox 4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011), for the path tracer and for the known-answer test.
#ifndef ECHOLUX_SHADERS_SHARED_PHILOX_H
#define ECHOLUX_SHADERS_SHARED_PHILOX_H

#include "shaders/shared/language.h"

ECHOLUX_SHARED_BEGIN

ECHOLUX_INLINE uvec4 philox(uvec4 counter, uvec2 key) {
    for (int i = 0; i < 10; ++i) {
        uvec2 high, low;
        umulExtended(uvec2(0xD2511F53u, 0xCD9E8D57u), uvec2(counter.x, counter.z), high, low);
        counter = uvec4(high.y ^ counter.y ^ key.x, low.y, high.x ^ counter.w ^ key.y, low.x);
        key = key + uvec2(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

// Returns numbers in the open interval (0, 1). Uses 23 bits, to which a half can be added without rounding.
ECHOLUX_INLINE vec4 uniform_numbers(uvec4 bits) {
    return (vec4(bits >> 9u) + 0.5f) * (1.0f / 8388608.0f);
}

ECHOLUX_SHARED_END

#endif
