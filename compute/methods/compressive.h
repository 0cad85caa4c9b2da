// Compressive sensing (docs/transforms.md 9; D. Xu, Y. Huang, J. U. Kang, Opt. Express 22, 14871 (2014)): of all depth
// profiles that explain the samples used, the one with the least sum of amplitudes. Here: which samples, and the tables
// between depth profiles and these samples.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/methods/spread_samples.h"
#include "compute/plan/params.h"

namespace echolux {

// The samples that a spec uses, ascending. A random mask takes samples without putting them back, the same for all
// A-scans; `variable`: a sample's chance goes with the root of the source's brightness (P. Efraimidis, P. Spirakis,
// Inf. Process. Lett. 97, 181 (2006)).
std::vector<std::int32_t> sensed_samples(const ReconstructionSpec& spec);

// The samples of a depth profile x [modes]:
//   y[p] = Re(turn[p] * sum over m of w[m] x[m] exp(2 pi i m x_p / N)) / sqrt(N),  w[0] = 1, w[m] = 2: both sides
// and what undoes the phases: x[m] = sum over p of conj(turn[p]) y[p] exp(-2 pi i m x_p / N) / sqrt(N).
struct SensingTables {
    std::vector<std::int32_t> samples;        // [sensed] of the recorded spectrum, or of the k grid where on_k_grid
    std::vector<double> points;               // [sensed] where they lie on the k grid, N points long
    std::vector<std::complex<double>> turns;  // [sensed] exp(i theta)
    bool real = true;                         // all turns are 1
    bool on_k_grid = false;
    std::int64_t length = 0;  // N
    std::int64_t modes = 0;   // N / 2
    float to_bins = 1;        // x times this are depth bins, as every method gives them

    // Through a finer grid; not where the transform is exact. Where it is complex it has the bins of one side only
    // (GridBand): bin m of a profile is bin_of_grid(m, middle, grid).
    std::int64_t grid = 0;
    std::int64_t middle = 0;
    std::vector<std::complex<double>> turns_of_grid;  // [sensed] turns times exp(2 pi i middle x_p / N)
    SpreadSamples spread;
    std::vector<float> correction;  // [modes], divided by sqrt(N)

    // conj(turn) exp(-2 pi i m x_p / N) / sqrt(N): what takes sample p to bin m.
    std::complex<double> element(std::size_t p, std::int64_t m) const;

    // |A|^2, the most that |y|^2 can be of |x|^2 = sum over m of w[m] |x[m]|^2, is not above this; infinite where two
    // samples share a point.
    double max_curvature() const;
};

// Tries after which a step of an iteration needs no further one, each being half as long as the one before: from the
// curvature |A|^2 on every step descends. At most SearchRules::max_tries.
int enough_tries(const SensingTables& tables, const CompressiveRecipe& recipe);

// The spec is valid.
SensingTables sensing_tables(const ReconstructionSpec& spec);

}  // namespace echolux
