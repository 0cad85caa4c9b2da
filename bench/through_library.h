// Runs the spec of the bench like an external program: through the C interface, from device memory and with its own
// stream. It waits only to limit the number of blocks in flight.
#pragma once

#include <vector>

#include "bench/rates.h"
#include "bench/spectra.h"

namespace echolux {

// A-scans per second with one volume per block. Work ordered by a caller's stream should be large enough to be worth a
// launch.
std::vector<double> library_rates(BenchBook& book, const BenchSize& size, const BenchProcessor& processor);

}  // namespace echolux
