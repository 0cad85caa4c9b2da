// The spec of the bench as a program of others would run it: through the interface of the library, from device memory
// and a stream of its own, with nothing waited for but to bound what is under way.
#pragma once

#include <vector>

#include "bench/rates.h"
#include "bench/spectra.h"

namespace echolux {

// A-scans a second, a volume a block: what a caller's stream orders one after the other should be worth a launch.
std::vector<double> library_rates(BenchBook& book, const BenchSize& size, const BenchProcessor& processor);

}  // namespace echolux
