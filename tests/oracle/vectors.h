// The cases that generate_vectors.py wrote: settings, raw spectra, and what double precision makes of them.
#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

struct VectorCase {
    ReconstructionPlan plan;
    std::vector<std::byte> spectra;
    std::vector<std::complex<double>> field;  // empty where lines are joined by magnitude or power
    std::vector<double> power;
    double noise_floor_db = 0;
};

// In the order of the generator's table; empty where there was no NumPy.
std::vector<std::string> vector_case_names();

VectorCase read_vector_case(const std::string& name);

}  // namespace echolux
