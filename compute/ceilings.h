// Measures the limits of this machine, to which the rates of a reconstruction are compared: links, memory and plain
// transforms. Nothing here depends on spectra. Limits of GPUs: compute/gpu_backend.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/voxel_target.h"

namespace echolux {

// A measured limit.
struct Ceiling {
    std::string key;            // "link.to_device", "fft.2048", ...
    std::string meaning;        // description for users
    std::string unit;           // "B/s", "transforms/s"
    std::vector<double> rates;  // one per repetition, in order
};

// Amount of data and time per measurement.
struct CeilingEffort {
    std::int64_t bytes = std::int64_t{512} << 20;  // to copy or write: well above the size of any cache
    int repetitions = 15;
    double seconds = 0.05;  // min duration of one repetition
};

// Returns the units per second of `work`, measured by the host's clock after a warm-up. `work` is repeated until a
// measurement takes long enough. `finish` returns when all of it is complete and is included in the time.
std::vector<double> rates_of(double units, const CeilingEffort& effort, const std::function<void()>& work,
                             const std::function<void()>& finish = {});

// Called with each result as soon as it is known. May throw to stop.
using CeilingCallback = std::function<void(const Ceiling&)>;

// Measures memory.copy (bytes read and written, all threads), memory.read (reads only), and fft.N (single precision,
// complex, all threads) for each length.
void measure_cpu_ceilings(std::span<const std::int64_t> lengths, const CeilingEffort& effort,
                          const CeilingCallback& found);

// Returns 1, 2, 4 ... up to `most`, and `most`.
std::vector<std::int64_t> doubled_to(std::int64_t most);

// Spectra for mean.serial, mean.transposed and mean.product: A-scans per second for which a GPU computes the mean
// spectrum of each B-scan, u16 in its memory. The first two are the methods of the AO-OCT paper (one thread per column;
// a tiled transpose and a tree reduction per row), the third is that of Echolux.
struct FrameMeans {
    std::int64_t samples = 832;
    std::int64_t lines = 240;    // per B-scan
    std::int64_t b_scans = 240;  // max 65535, the limit of a CUDA grid in y and z
};

}  // namespace echolux
