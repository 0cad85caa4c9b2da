// Interpolation with four taps per point of the k grid, in vector registers.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/plan/tables.h"

// Attribute of functions with a simple loop. Compiles an additional AVX-512 version, including all callees, which is
// selected at program start.
#if defined(__x86_64__) && defined(__gnu_linux__)
#define ECHOLUX_WIDER __attribute__((flatten, target_clones("arch=x86-64-v4", "default")))
#else
#define ECHOLUX_WIDER
#endif

namespace echolux::cpu {

// Four floats in one vector register, loaded from and stored to unaligned memory.
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

namespace echolux::cpu {

// Resampled<4> along a line, vectorized over sixteen points with AVX-512, eight with AVX2, otherwise four. All versions
// return the same bits: (w0 x0 + w1 x1) + (w2 x2 + w3 x3). The table must outlive it.
class FourTaps {
  public:
    // Number of floats that must be readable from any base on.
    static constexpr std::int64_t window = 32;

    // `run` is 4, 8 or 16 and at most widest_run(). 16 is only used if the taps of each sixteen points fit into a
    // window.
    explicit FourTaps(const ResampleTable& table, std::int64_t run = widest_run());

    // Resamples `spectrum`, which must be readable for a window from each base on, to `out` [points].
    void operator()(const float* spectrum, float* out) const;

    std::int64_t run() const { return run_; }
    static std::int64_t widest_run();

  private:
    bool prepare_sixteens();
    void prepare_eights();
    std::int64_t by_sixteens(const float* spectrum, float* out) const;
    std::int64_t by_eights(const float* spectrum, float* out) const;
    std::int64_t by_fours(const float* spectrum, float* out, std::int64_t from) const;

    const ResampleTable& table_;
    std::int64_t run_ = 4;
    std::vector<std::int32_t> first_;   // smallest base of each run of sixteen points
    std::vector<std::uint8_t> offset_;  // offset of each point from first_
    // layout for sixteen points: [run][tap][16]; for eight: [run][4][point, point + 4][tap]
    std::vector<float> weights_;
};

}  // namespace echolux::cpu
