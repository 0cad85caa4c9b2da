/* The pattern that the tests push: every block begins with its stamp, which determines all other words. C and C++. */
#ifndef PUSHED_PATTERN_H
#define PUSHED_PATTERN_H

#include <stdint.h>

/* A unique stamp per producer and block. */
static inline uint64_t pattern_stamp(uint64_t producer, uint64_t sequence) {
    return producer << 40 | (sequence & ((UINT64_C(1) << 40) - 1));
}

static inline uint64_t pattern_sequence(uint64_t stamp) {
    return stamp & ((UINT64_C(1) << 40) - 1);
}

static inline void pattern_fill(uint64_t* words, uint64_t count, uint64_t stamp) {
    uint64_t i;
    for (i = 0; i < count; ++i) words[i] = stamp ^ i * 0x9E3779B97F4A7C15u;
}

static inline int pattern_is_right(const uint64_t* words, uint64_t count) {
    uint64_t i, wrong = 0;
    for (i = 0; i < count; ++i) wrong |= words[i] ^ words[0] ^ i * 0x9E3779B97F4A7C15u;
    return wrong == 0;
}

#endif
