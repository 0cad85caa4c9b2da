// Sharpness of depth profiles under trial phases: the entropy of the power over depth, pooled over lines. It dominates
// the cost of a dispersion search, so each backend implements it, and trials are evaluated in batches.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/backend.h"

namespace echolux {

// Spectra on the k grid, [lines][points].
struct SpectraOnGrid {
    std::vector<std::complex<float>> values;
    std::int64_t points = 0;

    std::int64_t lines() const { return std::ssize(values) / points; }
};

// Evaluates the entropy of a fixed set of spectra.
class DepthEntropy {
  public:
    virtual ~DepthEntropy() = default;

    // Returns -sum p ln p over all depths and lines, p = |A|^2 / sum |A|^2, of the spectra times each of `phasors`,
    // [trials][points]. The result of a trial does not depend on the others. Throws Error{device}.
    virtual std::vector<double> of(std::span<const std::complex<float>> phasors) = 0;

    // Backend::cpu or Backend::cuda.
    virtual Backend backend() const = 0;
};

// Returns the implementation on the requested backend. Automatic uses a GPU if there is one with enough memory,
// otherwise the CPU. Values of the spectra must be near 1. Throws Error{device, out_of_memory}.
std::unique_ptr<DepthEntropy> depth_entropy(const SpectraOnGrid& spectra, const BackendChoice& choice);

// Returns the entropy from the sums over bins of p and of p ln p.
double entropy_of(double power, double power_with_log);

}  // namespace echolux
