// Dispersion coefficients that make depth profiles sharpest: the least entropy of the power over depth, pooled over
// lines (B. Hofer et al., Opt. Express 17(1), 2009; docs/algorithms.md 3.11). What counts is cut out of depth first, so
// that other reflectors, and the mirror images on the other side of zero delay, have no say; nor have fixed lines, as
// long as something else is sharp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "compute/backend.h"
#include "compute/depth_entropy.h"

namespace echolux {

struct DispersionSearch {
    double range_rad = 80;         // of a2 and a3, on either side of zero: nothing beyond is found
    std::int64_t lines = 64;       // most that are looked at, spread evenly
    std::int64_t depth_begin = 0;  // bins without zero padding, as the plan shows them now; 0: past zero delay
    std::int64_t depth_end = 0;    // 0: the end
    std::int64_t line_begin = 0;   // of the block, as its grid counts A-scans
    std::int64_t line_end = 0;     // 0: the end
    BackendChoice processor;       // of the trials
};

// A minimum of the entropy over a2 far from the least one.
struct DispersionRival {
    double a2_rad = 0;
    double entropy = 0;
};

struct DispersionFound {
    double a2_rad = 0;
    double a3_rad = 0;
    std::optional<double> a2_error_rad;  // standard errors, of the scatter where a quarter of the lines is left out;
    std::optional<double> a3_error_rad;  // nothing: fewer than four lines
    std::optional<DispersionRival> rival;
    // Of the nearer and the farther depths, of which each holds half of the power; nothing: not both are sharp. They
    // differ where a k map does not hold: what it leaves grows with depth.
    std::optional<std::array<double, 2>> a2_of_halves_rad;
    std::int64_t fixed_lines = 0;  // taken out before
    double entropy_before = 0;     // with the plan's own coefficients
    double entropy = 0;
    double entropy_blurred = 0;  // 40 rad away from what was found: of noise alone it is no greater
    std::int64_t trials = 0;
    Backend processor = Backend::cpu;
};

// Whether blur raises the entropy by more than chance does, which is about the root of one over the number of values
// that share the power, exp(entropy). A search always finds the luckiest noise.
bool has_sharp_depths(const DispersionFound& found);

// Why the coefficients of a search within +-range_rad are not to be trusted; empty: they are. Beyond 5 rad of a2 a
// reflector loses more than 1.2 dB (docs/algorithms.md 3.10).
std::string doubt_about(const DispersionFound& found, double range_rad);

// Whether the coefficients of a search within +-range_rad sharpen what was looked at and can be trusted: finite, of
// depths that are sharp, without doubt, and of no greater entropy than before.
bool is_sharp(const DispersionFound& found, double range_rad);

// Asked now and then, with the share of the work that is done; false: stop.
using GoesOn = std::function<bool(double done)>;

// What recipe.a2_rad and a3_rad should be, beside whatever else the spec has of dispersion (a file, gdd_fs2, tod_fs3).
// The object lies within the depths that are looked at, blurred as it is: on one side of zero delay. `block` holds one
// or more B-scans in host memory. Throws Error{bad_setting} where depths or lines lie outside of the block, where
// chosen depths are fewer than 24 or hold nothing but noise, and where all is zero; Error{cancelled}; what
// depth_entropy() throws.
DispersionFound searched_dispersion(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                                    const GoesOn& goes_on);

// Keeps the depths [begin, end) of spectra alone, with a slope of some bins around them. Bins without zero padding.
void cut_depths(SpectraOnGrid& spectra, std::int64_t begin, std::int64_t end);

// What a search looks at: windowed spectra of the chosen lines and depths alone, under the spec's own dispersion; one
// side of zero delay, so that they are complex. Their root mean square is 1.
SpectraOnGrid isolated_spectra(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                               const std::function<void()>& goes_on = {});

}  // namespace echolux
