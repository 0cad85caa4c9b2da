// What this machine can do at most, measured: the rates that a reconstruction's own are set against. Links, memory and
// bare transforms; nothing here knows what a spectrum is.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compute/place.h"

namespace echolux {

struct Ceiling {
    std::string key;            // "link.to_device", "fft.2048", ...
    std::string meaning;        // for people
    std::string unit;           // "B/s", "transforms/s"
    std::vector<double> rates;  // one a repetition, in order
};

struct CeilingEffort {
    std::int64_t bytes = std::int64_t{512} << 20;  // of what is copied or written: well above any cache
    int repetitions = 15;
    double seconds = 0.05;  // of one repetition, at least
};

// Units a second of `work`, after a warm-up and repeated so often that one measurement takes long enough; `finish`
// returns when all of it is done, and belongs to the time. The host's clock.
std::vector<double> rates_of(double units, const CeilingEffort& effort, const std::function<void()>& work,
                             const std::function<void()>& finish = {});

// Hears each ceiling when it is known; may throw to stop.
using CeilingFound = std::function<void(const Ceiling&)>;

// memory.copy (bytes read and written, all threads), memory.read (read alone), fft.N (single precision, complex, all
// threads) for each length.
void measure_cpu_ceilings(std::span<const std::int64_t> lengths, const CeilingEffort& effort,
                          const CeilingFound& found);

// link.to_device, link.to_host (pinned memory, copied), link.read (pinned memory, read by a kernel), memory.copy (bytes
// read and written), texture.write (a 3-D array, through a surface), fft.N (cuFFT, complex, out of place) for each
// length. `gpu` all zero: the first. Throws Error{device, out_of_memory}.
void measure_gpu_ceilings(const DeviceId& gpu, std::span<const std::int64_t> lengths, const CeilingEffort& effort,
                          const CeilingFound& found);

// For 1, 2, 4 ... of `gpus`, in their order: links.to_devices/N, pinned host memory to each of them at once; peers/N,
// from each but the first into a 3-D array of bytes on the first, at once (from 2 on; a GPU that comes twice copies
// within its memory). Bytes of all together. Throws Error{device, out_of_memory}.
void measure_several_gpus_ceilings(std::span<const DeviceId> gpus, const CeilingEffort& effort,
                                   const CeilingFound& found);

// 1, 2, 4 ... `most`, and `most`.
std::vector<std::int64_t> doubled_to(std::int64_t most);

// mean.serial, mean.transposed, mean.product: A-scans a second of which a GPU finds the mean spectrum of each B-scan,
// u16 in its memory: by one thread a column, by a tiled transpose and a tree reduction of each row (the two ways of the
// AO-OCT paper), and as the product does. Throws Error{device} also where they differ in a bit, Error{bad_setting} for
// more B-scans than fit.
struct FrameMeans {
    std::int64_t samples = 832;
    std::int64_t lines = 240;    // of a B-scan
    std::int64_t b_scans = 240;  // at most 65535: a grid of blocks has no more in y and z
};
void measure_frame_means(const DeviceId& gpu, const FrameMeans& of, const CeilingEffort& effort,
                         const CeilingFound& found);

}  // namespace echolux
