// The scan that benches measure with: a spec with every table in use and spectra of layered tissue, so that
// voxels, and with them rays, are those of a real volume.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/block_memory.h"
#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

struct BenchSize {
    std::int64_t samples = 2048;
    std::int64_t a_scans = 512;
    std::int64_t b_scans = 512;
    std::int64_t block_b_scans = 16;
    std::int64_t repeats = 1;  // of each B-scan, which differ by their noise

    std::int64_t frames() const { return b_scans * repeats; }
    std::int64_t lines() const { return a_scans * frames(); }
};

// Lagrange-3 + dispersion + Hann + dB to u8, stored background.
ReconstructionSpec chain_spec(const BenchSize& size, SampleFormat format = SampleFormat::u16);

inline constexpr double bench_wavelength_nm = 845, bench_line_rate_hz = 70'000;

// The same with angiography of repeats, which are laid over one another first.
ReconstructionSpec angiography_spec(const BenchSize& size);

// One volume of spectra, 12 bits a sample, as u16 or packed12.
class BenchSpectra {
  public:
    // Made in memory of the host, then copied where `memory` says (device: of the GPU `gpu`). Throws
    // Error{out_of_memory, device}, the latter also where memory cannot be pinned: it is never replaced by another
    // kind.
    BenchSpectra(const BenchSize& size, SampleFormat format, MemoryKind memory, const DeviceId& gpu = {});

    const std::vector<Block>& blocks() const { return blocks_; }
    std::int64_t bytes() const { return memory_.bytes; }

  private:
    BlockMemory memory_;
    std::vector<Block> blocks_;
};

}  // namespace echolux
