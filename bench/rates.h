// Rates of the reconstructor: the same volume again and again, from memory to memory. The cases of the benches of
// methods, of several GPUs and of the papers are the shipped recipes, so that the figures are of what people run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/run.h"
#include "bench/spectra.h"

namespace echolux {

enum class VoxelsGo { nowhere, to_the_host };  // they stay where they are made, or follow the spectra back

// A-scans a second. `spectra`: one volume for each of processor.each(), the same everywhere. Throws what planning and
// reconstructing throw.
std::vector<double> loop_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& spec,
                               const BenchProcessor& processor, std::span<const BenchSpectra> spectra,
                               VoxelsGo go = VoxelsGo::nowhere);

enum class BlocksAre { submitted, finished };

// Seconds until these blocks are, from where nothing is under way; there is room for all of them.
std::vector<double> seconds_until(BlocksAre what, BenchBook& book, const ReconstructionSpec& spec,
                                  const BenchProcessor& processor, std::span<const BenchSpectra> spectra);

// How many blocks of `lines` A-scans have to be under way.
int blocks_under_way(std::int64_t lines);

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
ReconstructionSpec spec_of(const BenchCase& one, const BenchSize& size);

// The same volume for each processor that shares the work. Throws Error{device, out_of_memory}.
std::vector<BenchSpectra> spectra_of(const BenchCase& one, const BenchSize& size, const BenchProcessor& processor);

// A figure of A-scans a second, memory to memory.
void measure(BenchBook& book, const BenchCase& one, const BenchSize& run, const BenchProcessor& processor,
             std::initializer_list<BenchLimit> limits = {});

}  // namespace echolux
