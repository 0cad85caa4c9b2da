// Rates of the reconstructor for the same volume repeatedly, from memory to memory. The cases of the benchmarks of
// methods, of several GPUs and of papers are the shipped recipes, so the figures apply to real use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/run.h"
#include "bench/spectra.h"

namespace echolux {

enum class VoxelDestination { none, host };  // voxels stay on the processor, or return to the host

// A-scans per second. `spectra`: one identical volume per processor.each(). Throws what planning and reconstructing
// throw.
std::vector<double> loop_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& spec,
                               const BenchProcessor& processor, std::span<const BenchSpectra> spectra,
                               VoxelDestination go = VoxelDestination::none);

enum class BlockState { submitted, finished };

// Seconds from an idle reconstructor until these blocks are submitted or done. The queue must have room for all.
std::vector<double> seconds_until(BlockState what, BenchBook& book, const ReconstructionSpec& spec,
                                  const BenchProcessor& processor, std::span<const BenchSpectra> spectra);

// Number of blocks of `lines` A-scans to keep in flight.
int blocks_in_flight(std::int64_t lines);

struct BenchCase {
    std::string key;                        // of the figure
    std::string meaning;                    // description for the report
    std::string recipe = {};                // shipped recipe; "": the bench's own chain
    std::vector<std::string> changes = {};  // changes to it, such as "defr.iterations=5"
    double cost = 1;                        // CPU cost per A-scan relative to the plain chain; fewer A-scans if high
    std::int64_t samples = 2048;
    std::int64_t a_scans = 0;        // per B-scan; 0: as in the run
    std::int64_t b_scans = 0;        // per volume; 0: chosen for about as many A-scans as in the run
    std::int64_t block_b_scans = 0;  // per block; 0: as in the run
    bool is_batch = false;           // the size of B-scans matters, so do not use fewer A-scans
    bool from_host = false;          // spectra come from an instrument's memory, not the processor's
    VoxelDestination voxels = VoxelDestination::none;
};

// On a CPU the number of A-scans is divided by the cost, and blocks may be smaller.
BenchSize size_of(const BenchCase& one, const BenchSize& run, bool on_gpu);

// Throws Error{bad_setting}.
ReconstructionSpec spec_of(const BenchCase& one, const BenchSize& size);

// Creates the same volume for each processor that shares the work. Throws Error{device, out_of_memory}.
std::vector<BenchSpectra> spectra_of(const BenchCase& one, const BenchSize& size, const BenchProcessor& processor);

// Measures A-scans per second, memory to memory.
void measure(BenchBook& book, const BenchCase& one, const BenchSize& run, const BenchProcessor& processor,
             std::initializer_list<BenchLimit> limits = {});

}  // namespace echolux
