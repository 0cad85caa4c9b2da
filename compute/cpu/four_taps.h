// Resampled<4> along a line, sixteen points at a time where the machine has AVX-512, else four. Both make the same bits
// of a point: (w0 x0 + w1 x1) + (w2 x2 + w3 x3).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/tables.h"

namespace echolux::cpu {

class FourTaps {
  public:
    // What may be read of a spectrum from any base on.
    static constexpr std::int64_t window = 32;

    // `wide`: as the machine has it, and only where each sixteen points lie within a window.
    explicit FourTaps(const ResampleTable& table, bool wide = machine_is_wide());

    // spectrum: readable for a window from each base on. out: [points].
    void operator()(const float* spectrum, float* out) const;

    bool is_wide() const { return !first_.empty(); }
    static bool machine_is_wide();

  private:
    void prepare_wide(std::int64_t runs);
    std::int64_t by_sixteens(const float* spectrum, float* out) const;
    std::int64_t by_fours(const float* spectrum, float* out, std::int64_t from) const;

    const ResampleTable& table_;
    std::vector<std::int32_t> first_;   // of each run of sixteen points, the least base
    std::vector<std::uint8_t> offset_;  // of each point, from there
    std::vector<float> weights_;        // [run][tap][16]
};

}  // namespace echolux::cpu
