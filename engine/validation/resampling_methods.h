// The ways from samples to depth that a validation compares, and the response of each to a fringe in closed form
// (docs/algorithms.md 3.1).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

inline constexpr std::array published_depths{0.05, 0.2, 0.4, 0.6, 0.7};  // of the range

struct ResamplingMethod {
    std::string name;
    Resample resample;
    std::int64_t upsample;
    double (*response)(double f);      // f: cycles a sample, of the up-sampled spectrum
    std::vector<double> artefacts_db;  // published, of a mirror at each of published_depths; empty: none

    double left_of(double f) const { return response(f / static_cast<double>(upsample)); }
    void choose_in(Recipe& recipe) const;
};

const std::vector<ResamplingMethod>& resampling_methods();

// Those whose axial response is told: linear, Lagrange-3, spline, up-sampled by two and linear, NUFFT, exact.
std::vector<ResamplingMethod> axial_methods();

}  // namespace echolux
