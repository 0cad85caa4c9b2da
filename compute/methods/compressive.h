// Compressive sensing (docs/transforms.md 9; D. Xu, Y. Huang, J. U. Kang, Opt. Express 22, 14871 (2014)): of all depth
// profiles that explain a subset of the samples, find the one with the smallest sum of amplitudes. This file selects
// the samples and builds the tables that map depth profiles to them and back.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/methods/nonuniform.h"
#include "compute/plan/params.h"

namespace echolux {

// Returns the samples that a spec uses, ascending. Random masks draw without replacement and are the same for all
// A-scans. With `variable`, the probability of a sample is proportional to the square root of the source's brightness
// (P. Efraimidis, P. Spirakis, Inf. Process. Lett. 97, 181 (2006)).
std::vector<std::int32_t> sensed_samples(const ReconstructionSpec& spec);

// The sensing operator A maps a depth profile x [modes] to samples y [sensed]:
//   y[p] = Re(turn[p] * sum over m of w[m] x[m] exp(2 pi i m x_p / N)) / sqrt(N),  w[0] = 1, w[m] = 2: both sides
// Its adjoint: x[m] = sum over p of conj(turn[p]) y[p] exp(-2 pi i m x_p / N) / sqrt(N).
struct SensingTables {
    std::vector<std::int32_t> samples;        // [sensed], indices into the spectrum, or into the k grid if on_k_grid
    std::vector<double> points;               // [sensed], positions on the k grid of N points
    std::vector<std::complex<double>> turns;  // [sensed], exp(i theta)
    bool real = true;                         // all turns are 1
    bool on_k_grid = false;
    std::int64_t length = 0;  // N
    std::int64_t modes = 0;   // N / 2
    float to_bins = 1;        // factor from x to depth bins in the scale of all other methods

    // The NUFFT path; unused if the transform is exact. A complex transform holds the bins of one side only (GridBand):
    // bin m of a profile is bin_of_grid(m, middle, grid).
    std::int64_t grid = 0;
    std::int64_t middle = 0;
    std::vector<std::complex<double>> turns_of_grid;  // [sensed], turns times exp(2 pi i middle x_p / N)
    SpreadSamples spread;
    std::vector<float> correction;  // [modes], divided by sqrt(N)

    // Returns conj(turn) exp(-2 pi i m x_p / N) / sqrt(N), the factor from sample p to bin m.
    std::complex<double> element(std::size_t p, std::int64_t m) const;

    // Returns an upper bound of |A|^2, the max of |y|^2 relative to |x|^2 = sum over m of w[m] |x[m]|^2. Infinite if
    // two samples share a point.
    double max_curvature() const;
};

// Returns the number of trials after which a step is certain to be accepted, each trial being half as long as the
// previous one: from the curvature |A|^2 on, every step descends. At most SearchRules::max_tries.
int enough_tries(const SensingTables& tables, const CompressiveRecipe& recipe);

// Builds the tables of a valid spec.
SensingTables sensing_tables(const ReconstructionSpec& spec);

}  // namespace echolux
