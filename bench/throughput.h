// Rates of the reconstructor alone: whole volumes from memory to memory, over and over.
#pragma once

#include "bench/book.h"
#include "bench/processor.h"
#include "bench/scan.h"

namespace echolux {

// linear/N, separate/N (GPU), library/N (GPU), nudft/N of one length: spectra and voxels stay where the backend has its
// memory.
void bench_resident(BenchBook& book, const BenchSize& size, const BenchProcessor& processor);
constexpr std::int64_t resident_figures = 4;

// batch.compute/N and batch.total/N for blocks of N A-scans, without and with the way from pinned memory; smaller ones
// are more under way at a time, see blocks_under_way().
void bench_batches(BenchBook& book, std::int64_t samples, std::int64_t lines, const BenchProcessor& processor);
constexpr std::int64_t batch_figures = 14;

// streams/1 .. streams/4: from pinned memory, for that many blocks under way (GPU).
void bench_streams(BenchBook& book, const BenchSize& size, const BenchProcessor& processor);
constexpr std::int64_t stream_figures = 4;

}  // namespace echolux
