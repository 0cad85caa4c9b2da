// The loop of a bench: a reconstructor that is fed the same volume again and again, from memory to memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/book.h"
#include "bench/processor.h"
#include "bench/scan.h"

namespace echolux {

enum class VoxelsGo { nowhere, to_the_host };  // they stay where they are made, or follow the spectra back

// A-scans a second. `spectra`: one volume for each of processor.each(), the same everywhere. Throws what planning and
// reconstructing throw.
std::vector<double> loop_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& plan,
                               const BenchProcessor& processor, std::span<const BenchSpectra> spectra,
                               VoxelsGo go = VoxelsGo::nowhere);

// Seconds that the host takes to submit these blocks where there is room for all of them.
std::vector<double> submission_seconds(BenchBook& book, const ReconstructionSpec& plan, const BenchProcessor& processor,
                                       std::span<const BenchSpectra> spectra);

// How many blocks of `lines` A-scans have to be under way.
int blocks_under_way(std::int64_t lines);

}  // namespace echolux
