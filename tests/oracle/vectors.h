// The cases written by generate_vectors.py: settings, raw spectra, and results in double precision.
#pragma once

#include <complex>
#include <cstddef>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

struct VectorCase {
    ReconstructionSpec spec;
    std::vector<std::byte> spectra;
    std::vector<std::complex<double>> field;  // empty if lines are averaged by magnitude or power
    std::vector<double> power;
    double noise_floor_db = 0;
};

// The cases written by generate_flow_vectors.py.
struct FlowVectorCase {
    ReconstructionSpec spec;
    std::vector<std::byte> spectra;
    std::vector<double> power;                  // of the structure
    std::vector<double> margin;                 // mean power over the threshold of flow; masked below 1
    std::vector<std::complex<double>> phasors;  // of any length; empty if the flow has values
    std::vector<double> values;
};

// In the order of the generator's table; empty if NumPy was missing.
std::vector<std::string> vector_case_names();

// As above, for methods that search: full range and compressive sensing.
std::vector<std::string> search_case_names();

VectorCase read_vector_case(const std::string& name);

std::vector<std::string> flow_vector_names();

FlowVectorCase read_flow_vector(const std::string& name);

}  // namespace echolux
