// The cases that generate_vectors.py wrote: settings, raw spectra, and what double precision makes of them.
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
    std::vector<std::complex<double>> field;  // empty where lines are joined by magnitude or power
    std::vector<double> power;
    double noise_floor_db = 0;
};

// What generate_flow_vectors.py wrote.
struct FlowVectorCase {
    ReconstructionSpec spec;
    std::vector<std::byte> spectra;
    std::vector<double> power;                  // of the structure
    std::vector<double> margin;                 // mean power over what flow needs: below 1 it is masked
    std::vector<std::complex<double>> phasors;  // of any length; empty where flow has values
    std::vector<double> values;
};

// In the order of the generator's table; empty where there was no NumPy.
std::vector<std::string> vector_case_names();

// The same of methods that search: full range and compressive sensing.
std::vector<std::string> search_case_names();

VectorCase read_vector_case(const std::string& name);

std::vector<std::string> flow_vector_names();

FlowVectorCase read_flow_vector(const std::string& name);

}  // namespace echolux
