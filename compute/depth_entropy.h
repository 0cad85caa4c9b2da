// How sharp depth profiles are under trial phases: the entropy of the power over depth, pooled over lines. The one part
// of a dispersion search that costs time, and so what a processor offers; many trials are asked for at once.
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

class DepthEntropy {
  public:
    virtual ~DepthEntropy() = default;

    // -sum p ln p over all depths and lines, p = |A|^2 / sum |A|^2, of the spectra times each of `phasors`,
    // [trials][points]. The same for a trial alone and among others. Throws Error{device}.
    virtual std::vector<double> of(std::span<const std::complex<float>> phasors) = 0;

    // Backend::cpu or Backend::cuda.
    virtual Backend processor() const = 0;
};

// On the processor that is asked for; automatic: the GPU where one can be used and has the memory, else the CPU. The
// spectra's values are about 1. Throws Error{device, out_of_memory}.
std::unique_ptr<DepthEntropy> depth_entropy(const SpectraOnGrid& spectra, const BackendChoice& choice);

// From sums over bins: of p, and of p ln p.
double entropy_of(double power, double power_with_log);

}  // namespace echolux
