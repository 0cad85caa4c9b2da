// Computes the background of each acquired B-scan (docs/algorithms.md 2.2 a-d) before its lines are reconstructed. Sums
// are exact integers, so the mean does not depend on order or threads.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"
#include "compute/steps/sample.h"
#include "compute/voxel_target.h"

namespace echolux::cpu {

// [samples] each; the background is their sum. A single float near 10000 counts has an error of up to 5e-4 counts, as
// much as the rounding of the whole chain. With two, sample - whole is exact.
struct BackgroundLine {
    const float* whole;
    const float* rest;
};

// Backgrounds of the acquired B-scans of a block. find() runs on all threads; of() may be called from any thread.
class FrameBackground {
  public:
    // `mode` is none, stored, frame_mean, running, median or rolling. Rolling acts along the line and needs nothing
    // here.
    FrameBackground(Background mode, const LineFormat& lines, const ScanGeometry& geometry,
                    const Calibration& calibration, double running_alpha, std::int64_t max_frames);

    // Continues the running background of `before`.
    void resume_after(const FrameBackground& before) {
        running_ = before.running_;
        is_open_ = before.is_open_;
    }

    // Computes the backgrounds of all acquired B-scans of a block. A missing block leaves the running background
    // unchanged. `invalid` has a flag per line of the block that is left out, or is empty.
    void find(const Block& block, const std::vector<std::uint8_t>& invalid = {});

    // Returns the background of acquired B-scan `frame` of the block.
    BackgroundLine of(std::int64_t frame) const;

  private:
    // Lines of an acquired B-scan, and their flags if some are left out.
    struct Frame {
        const std::byte* lines;
        const std::uint8_t* invalid;

        bool skips(std::int64_t line) const { return invalid != nullptr && invalid[line] != 0; }
    };

    void find_mean(const Frame& frame, double* mean) const;
    void find_median(const Frame& frame, double* median, float* column) const;
    void blend(const Block& block, std::int64_t frames, const std::vector<std::uint8_t>& invalid);
    bool is_without_lines(const std::vector<std::uint8_t>& invalid, std::int64_t frame) const;
    void split(const double* background, std::int64_t count);

    Background mode_;
    LineFormat lines_;
    std::int64_t lines_per_frame_;
    std::int64_t frames_per_b_scan_;
    double running_alpha_;
    std::vector<float> whole_;     // [frames][samples], or [samples] if shared by all frames
    std::vector<float> rest_;      // same shape
    std::vector<double> found_;    // [frames][samples], if each frame has its own
    std::vector<double> running_;  // [samples]
    bool is_open_ = false;         // the first blocks of the volume were missing: it begins with the next one
    std::vector<float> columns_;   // [frames][lines]
};

// Removes fixed lines in depth from a whole B-scan after the transform (docs/algorithms.md 2.2 d and e; Moon 2010):
// subtracts the pattern of depth bin `z` from all `lines` of a B-scan stored as [lines][depth]. `column` is scratch
// memory for `lines` floats. The pattern ignores lines whose flag in `invalid` is set, if that is not null.
void remove_fixed_pattern(FixedPattern mode, std::int64_t segments, std::complex<float>* b_scan, std::int64_t lines,
                          std::int64_t depth, std::int64_t z, float* column, const std::uint8_t* invalid = nullptr);

}  // namespace echolux::cpu
