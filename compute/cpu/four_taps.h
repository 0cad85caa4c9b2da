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

    // `run`: 4, 8 or 16, at most widest_run(); 16 only where the taps of each sixteen points lie within a window.
    explicit FourTaps(const ResampleTable& table, std::int64_t run = widest_run());

    // spectrum: readable for a window from each base on. out: [points].
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
    std::vector<std::int32_t> first_;   // of each run of sixteen points, the least base
    std::vector<std::uint8_t> offset_;  // of each point, from there
    std::vector<float> weights_;        // of sixteen points: [run][tap][16]; of eight: [run][4][point, point + 4][tap]
};

}  // namespace echolux::cpu
