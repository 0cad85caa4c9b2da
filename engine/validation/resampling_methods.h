// Resampling methods that a validation compares, and the closed-form response of each to a fringe (docs/algorithms.md
// 3.1).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

inline constexpr std::array published_depths{0.05, 0.2, 0.4, 0.6, 0.7};  // relative to the depth range

// A resampling method and what is known about it.
struct ResamplingMethod {
    std::string name;
    Resample resample;
    std::int64_t upsample;
    double (*response)(double f);      // f in cycles per sample of the upsampled spectrum
    std::vector<double> artefacts_db;  // published, for a mirror at each of published_depths; may be empty

    // Returns the response to a fringe of `f` cycles per original sample.
    double left_of(double f) const { return response(f / static_cast<double>(upsample)); }
    // Sets the method in a recipe.
    void choose_in(Recipe& recipe) const;
};

// Returns all compared methods.
const std::vector<ResamplingMethod>& resampling_methods();

// Returns the methods of the axial response table: linear, Lagrange-3, spline, linear after upsampling by two, NUFFT,
// exact.
std::vector<ResamplingMethod> axial_methods();

}  // namespace echolux
