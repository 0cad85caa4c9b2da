#include "compute/cpu/padded_lines.h"

#include <algorithm>
#include <cstring>

#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

constexpr std::int64_t together = 8;  // depths processed together
using Eight = float __attribute__((vector_size(4 * together)));

inline void load(const float* from, Eight& to) {
    std::memcpy(&to, from, sizeof(to));
}

inline float sum_of(const Eight& v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Lines processed together in registers. Incomplete groups repeat the last line.
template <int group>
struct Group {
    const float* line[group];

    Group(std::span<const float* const> others, std::size_t first) {
        for (std::size_t i = 0; i < group; ++i) line[i] = others[std::min(first + i, others.size() - 1)];
    }
};

template <int group>
void sum_products_of(const float* a, const Group<group>& b, std::int64_t depth, float* sums) {
    Eight all[group]{};
    for (std::int64_t z = 0; z < depth; z += together) {
        Eight own, other;
        load(a + z, own);
#pragma GCC unroll 8
        for (int i = 0; i < group; ++i) {
            load(b.line[i] + z, other);
            all[i] += own * other;
        }
    }
    for (int i = 0; i < group; ++i) sums[i] = sum_of(all[i]);
}

template <int group>
void sum_differences_of(const float* a, const Group<group>& b, std::int64_t stride, std::int64_t depth, Phasor* sums) {
    Eight re[group]{}, im[group]{};
    for (std::int64_t z = 0; z < depth; z += together) {
        Eight a_re, a_im, b_re, b_im;
        load(a + z, a_re);
        load(a + stride + z, a_im);
#pragma GCC unroll 8
        for (int i = 0; i < group; ++i) {
            load(b.line[i] + z, b_re);
            load(b.line[i] + stride + z, b_im);
            re[i] += b_re * a_re;
            im[i] += b_im * a_re;
            re[i] += b_im * a_im;
            im[i] -= b_re * a_im;
        }
    }
    for (int i = 0; i < group; ++i) sums[i] = {sum_of(re[i]), sum_of(im[i])};
}

// Processes groups of `group` and drops the results of repeated lines.
template <int group, class Value, class Work>
void in_groups(std::size_t count, Value* sums, const Work& work) {
    for (std::size_t first = 0; first < count; first += group) {
        Value some[group];
        work(first, some);
        std::copy_n(some, std::min<std::size_t>(group, count - first), sums + first);
    }
}

}  // namespace

PaddedLines::PaddedLines(std::int64_t lines, std::int64_t depth, std::int64_t max_lag)
    : depth_(depth), first_(max_lag), stride_((depth + together - 1) / together * together + 2 * max_lag),
      values_(index(lines * stride_)) {}

float sum_of(const float* line, std::int64_t depth) {
    Eight all{}, some;
    for (std::int64_t z = 0; z < depth; z += together) {
        load(line + z, some);
        all += some;
    }
    return sum_of(all);
}

void sum_products(const float* a, std::span<const float* const> others, std::int64_t depth, float* sums) {
    constexpr int group = 7;
    in_groups<group>(others.size(), sums, [&](std::size_t first, float* some) {
        sum_products_of<group>(a, Group<group>(others, first), depth, some);
    });
}

void sum_differences(const float* a, std::span<const float* const> others, std::int64_t stride, std::int64_t depth,
                     Phasor* sums) {
    constexpr int group = 5;
    in_groups<group>(others.size(), sums, [&](std::size_t first, Phasor* some) {
        sum_differences_of<group>(a, Group<group>(others, first), stride, depth, some);
    });
}

}  // namespace echolux::cpu
