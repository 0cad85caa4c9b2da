// Resampled<4> along a line, sixteen points at a time where the machine has AVX-512, eight with AVX2, else four. All
// make the same bits of a point: (w0 x0 + w1 x1) + (w2 x2 + w3 x3).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/tables.h"

namespace echolux::cpu {

class FourTaps {
  public:
    // What may be read of a spectrum from any base on.
    static constexpr std::int64_t window = 32;

    // `run`: 4, or as many as the machine has it, 8 or 16; these where the taps of each run of points lie within two
    // of its registers.
    explicit FourTaps(const ResampleTable& table, std::int64_t run = widest_run());

    // spectrum: readable for a window from each base on. out: [points].
    void operator()(const float* spectrum, float* out) const;

    std::int64_t run() const { return first_.empty() ? 4 : run_; }
    static std::int64_t widest_run();

  private:
    void prepare_runs();
    std::int64_t by_runs(const float* spectrum, float* out) const;
    std::int64_t by_sixteens(const float* spectrum, float* out) const;
    std::int64_t by_eights(const float* spectrum, float* out) const;
    std::int64_t by_fours(const float* spectrum, float* out, std::int64_t from) const;

    const ResampleTable& table_;
    std::int64_t run_;
    std::vector<std::int32_t> first_;    // of each run of points, the least base
    std::vector<std::uint8_t> offset_;   // of each point, from there
    std::vector<std::uint8_t> is_near_;  // of each run, whether all offsets are below its points
    std::vector<float> weights_;         // [run][tap][point]
};

}  // namespace echolux::cpu
