// Maps depth profiles to the samples that a spec uses and back on the CPU: the matrix A of compressive sensing and its
// adjoint, scaled as in methods/compressive.h.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/methods/compressive.h"

namespace echolux::cpu {

// Applies A and its adjoint. `profile` has [modes], `samples` [sensed] elements.
class Sensing {
  public:
    virtual ~Sensing() = default;

    virtual void to_samples(const std::complex<float>* profile, float* samples) = 0;
    virtual void to_depth(const float* samples, std::complex<float>* profile) = 0;
};

// The explicit matrix of an exact transform, shared by all threads.
struct SensingMatrix {
    explicit SensingMatrix(const SensingTables& tables);

    std::int64_t modes;
    std::vector<std::complex<float>> elements;  // [sensed][modes]: conj(turn) exp(-2 pi i m x / N) / sqrt(N)
};

// Return implementations that refer to their argument, which must outlive them.
std::unique_ptr<Sensing> sensing_by_matrix(const SensingMatrix& matrix);
std::unique_ptr<Sensing> sensing_by_grid(const SensingTables& tables);

}  // namespace echolux::cpu
