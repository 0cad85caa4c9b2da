// What many raw lines have in common: mean, least and greatest count of each sample, and how many samples reach full
// scale. Backgrounds, dark spectra and mirrors are means of such surveys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compute/place.h"
#include "compute/steps/line_format.h"

namespace echolux {

// The greatest count that a sample can hold; nothing: it is a real number, and has no end.
std::optional<double> full_scale(const RawFormat& format);

// Some consecutive lines of a block in host memory: counted through its acquired B-scans, flyback left out.
struct LineRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

// All lines of a block.
std::int64_t lines_of(const Block& block, const ScanGeometry& geometry);

// Where line `line` of the block begins.
const std::byte* line_at(const Block& block, const RawFormat& format, const ScanGeometry& geometry, std::int64_t line);

class SpectrumSurvey {
  public:
    SpectrumSurvey(const RawFormat& format, const ScanGeometry& geometry);

    // The range must lie in the block, and the block in host memory.
    void add(const Block& block, const LineRange& range);

    std::int64_t lines() const { return lines_; }
    std::int64_t clipped() const { return clipped_; }  // samples at full scale

    // Counts [samples], after shift and mask; of at least one line.
    std::vector<double> mean() const;
    const std::vector<double>& min() const { return min_; }
    const std::vector<double>& max() const { return max_; }

  private:
    RawFormat format_;
    ScanGeometry geometry_;
    LineFormat reader_;
    std::optional<double> full_scale_;
    std::int64_t lines_ = 0;
    std::int64_t clipped_ = 0;
    std::vector<double> sum_, min_, max_;
};

}  // namespace echolux
