// Distance of measured values from expected ones, relative to their norm. Calculates in double precision.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

namespace echolux {

template <class Measured = std::complex<float>, class Expected = std::complex<double>>
double relative_l2(const std::vector<Measured>& measured, const std::vector<Expected>& expected) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        error += std::norm(std::complex<double>(measured.at(i)) - std::complex<double>(expected[i]));
        norm += std::norm(std::complex<double>(expected[i]));
    }
    return std::sqrt(error / norm);
}

}  // namespace echolux
