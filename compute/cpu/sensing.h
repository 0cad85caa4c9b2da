// Between depth profiles and the samples that a spec uses, on the CPU: the matrix A of compressive sensing and its
// adjoint, scaled as methods/compressive.h says.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "compute/methods/compressive.h"

namespace echolux::cpu {

class Sensing {
  public:
    virtual ~Sensing() = default;

    virtual void to_samples(const std::complex<float>* profile, float* samples) = 0;
    virtual void to_depth(const float* samples, std::complex<float>* profile) = 0;
};

// The matrix itself where the transform is exact, shared by all threads.
struct SensingMatrix {
    explicit SensingMatrix(const SensingTables& tables);

    std::int64_t modes;
    std::vector<std::complex<float>> elements;  // [sensed][modes]: conj(turn) exp(-2 pi i m x / N) / sqrt(N)
};

std::unique_ptr<Sensing> sensing_by_matrix(const SensingMatrix& matrix);
std::unique_ptr<Sensing> sensing_by_grid(const SensingTables& tables);

}  // namespace echolux::cpu
