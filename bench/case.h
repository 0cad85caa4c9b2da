// What the benches of methods, of several GPUs and of the papers reconstruct: the shipped recipes, so that the figures
// are of what people run, of spectra in blocks of a given shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/loop.h"
#include "bench/start.h"

namespace echolux {

struct BenchCase {
    std::string key;                        // of the figure
    std::string meaning;                    // for people
    std::string recipe = {};                // that is shipped; "": the bench's own chain
    std::vector<std::string> changes = {};  // of it: "defr.iterations=5"
    double cost = 1;                        // of an A-scan on a CPU, in plain ones: of costly ones there are fewer
    std::int64_t samples = 2048;
    std::int64_t a_scans = 0;        // of a B-scan; 0: as many as the run has
    std::int64_t b_scans = 0;        // of a volume; 0: so many that it has about as many A-scans as the run's
    std::int64_t block_b_scans = 0;  // 0: as the run has it
    bool is_batch = false;           // the size of its B-scans is what matters: none with fewer A-scans stands for it
    bool from_host = false;          // spectra come from where an instrument's would lie, instead of being there
    VoxelsGo voxels = VoxelsGo::nowhere;
};

// On a CPU there are fewer A-scans by the cost, and blocks may have to be smaller.
BenchSize size_of(const BenchCase& one, const BenchSize& run, bool on_gpu);

// Throws Error{bad_setting}.
ReconstructionSpec plan_of(const BenchCase& one, const BenchSize& size);

// The same volume for each processor that shares the work. Throws Error{device, out_of_memory}.
std::vector<BenchSpectra> spectra_of(const BenchCase& one, const BenchSize& size, const BenchProcessor& processor);

// A figure of A-scans a second, memory to memory.
void measure(BenchBook& book, const BenchCase& one, const BenchSize& run, const BenchProcessor& processor,
             std::initializer_list<BenchLimit> limits = {});

}  // namespace echolux
