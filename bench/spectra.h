// The scan used by benchmarks: a spec that uses every table, and spectra of layered tissue, so that voxels and rays
// resemble those of real volumes.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/params.h"
#include "compute/voxel_target.h"

namespace echolux {

struct BenchSize {
    std::int64_t samples = 2048;
    std::int64_t a_scans = 512;
    std::int64_t b_scans = 512;
    std::int64_t block_b_scans = 16;
    std::int64_t repeats = 1;  // repeats of each B-scan, which differ in noise

    std::int64_t frames() const { return b_scans * repeats; }
    std::int64_t lines() const { return a_scans * frames(); }
};

// Lagrange-3 + dispersion + Hann + dB to u8, stored background.
ReconstructionSpec chain_spec(const BenchSize& size, SampleFormat format = SampleFormat::u16);

inline constexpr double bench_wavelength_nm = 845, bench_line_rate_hz = 70'000;

// The same chain with angiography of repeats, which are aligned first.
ReconstructionSpec angiography_spec(const BenchSize& size);

// One volume of 12-bit spectra, stored as u16 or packed12.
class BenchSpectra {
  public:
    // Created in host memory, then copied to `memory` (device: GPU `gpu`). Throws Error{out_of_memory, device},
    // including if memory cannot be pinned: no other kind is substituted.
    BenchSpectra(const BenchSize& size, SampleFormat format, MemoryKind memory, const DeviceId& gpu = {});

    const std::vector<Block>& blocks() const { return blocks_; }
    std::int64_t bytes() const { return memory_.bytes; }

  private:
    BlockMemory memory_;
    std::vector<Block> blocks_;
};

}  // namespace echolux
