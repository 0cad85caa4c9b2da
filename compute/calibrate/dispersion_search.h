// Finds the dispersion coefficients that make depth profiles sharpest: minimal entropy of the power over depth, pooled
// over lines (B. Hofer et al., Opt. Express 17(1), 2009; docs/algorithms.md 3.11). The selected depths are isolated
// first, so that other reflectors and the mirror images beyond zero delay have no influence. Fixed lines are removed if
// anything else is sharp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compute/backend.h"
#include "compute/depth_entropy.h"

namespace echolux {

// Settings of a search: range, lines, depths and processor.
struct DispersionSearch {
    double range_rad = 80;         // search range of a2 and a3 on either side of zero
    std::int64_t lines = 64;       // max lines to use, evenly spaced
    std::int64_t depth_begin = 0;  // bins without zero padding, as the current plan shows them; 0: past zero delay
    std::int64_t depth_end = 0;    // 0 for the end
    std::int64_t line_begin = 0;   // in the block, counted like the A-scans of its grid
    std::int64_t line_end = 0;     // 0 for the end
    BackendChoice processor;       // for the trials
};

// A minimum of the entropy over a2 far from the smallest one.
struct DispersionRival {
    double a2_rad = 0;
    double entropy = 0;
};

// Result of a search, with the data that is needed to judge its reliability.
struct DispersionResult {
    double a2_rad = 0;
    double a3_rad = 0;
    std::optional<double> a2_error_rad;  // standard errors from leaving out quarters of the lines;
    std::optional<double> a3_error_rad;  // empty for fewer than four lines
    std::optional<DispersionRival> rival;
    // Best a2 of the nearer and the farther depths, each with half of the power. Empty if one of them is not sharp. The
    // two differ if the k map is wrong, because its error grows with depth.
    std::optional<std::array<double, 2>> a2_of_halves_rad;
    std::int64_t fixed_lines = 0;  // removed before the search
    double entropy_before = 0;     // with the plan's own coefficients
    double entropy = 0;
    double entropy_blurred = 0;  // 40 rad away from the result; no larger than `entropy` if there is only noise
    std::int64_t trials = 0;
    Backend processor = Backend::cpu;
};

// Returns whether blur raises the entropy by more than chance does, about 1 / sqrt(exp(entropy)), where exp(entropy) is
// the number of values that share the power. A search in pure noise always finds some minimum.
bool has_sharp_depths(const DispersionResult& found);

// Returns why the coefficients of a search within +-range_rad are unreliable, or an empty string if they are reliable.
// An error of 5 rad in a2 costs a reflector 1.2 dB (docs/algorithms.md 3.10).
std::string doubt_about(const DispersionResult& found, double range_rad);

// Returns whether the coefficients of a search within +-range_rad are reliable and sharpen the result: finite, sharp
// depths, no doubt, and an entropy not above that before the search.
bool is_sharp(const DispersionResult& found, double range_rad);

// Called regularly with the completed share of the work. Returns false to cancel.
using ContinueCallback = std::function<bool(double done)>;

// Returns values for recipe.a2_rad and a3_rad, in addition to the spec's other dispersion (a file, gdd_fs2, tod_fs3).
// The object, including its blur, must be within the selected depths, on one side of zero delay. `block` holds one or
// more B-scans in host memory. Throws Error{bad_setting} if depths or lines are outside the block, if fewer than 24
// depths are selected, if they contain only noise, and if all samples are zero. Throws Error{cancelled} and the errors
// of depth_entropy().
DispersionResult searched_dispersion(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                                     const ContinueCallback& should_continue);

// Keeps only the depths [begin, end) of spectra, with a slope of some bins around them. Bins without zero padding.
void cut_depths(SpectraOnGrid& spectra, std::int64_t begin, std::int64_t end);

// Returns the input of a search: windowed spectra of the selected lines and depths, with the spec's own dispersion
// applied. They contain one side of zero delay, so they are complex. Their root mean square is 1.
SpectraOnGrid isolated_spectra(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                               const std::function<void()>& should_continue = {});

}  // namespace echolux
