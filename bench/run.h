// What every bench has: what was asked for, who reconstructs how much, and where measurements write what they find.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/spectra.h"
#include "compute/backend.h"
#include "compute/block_memory.h"
#include "compute/ceilings.h"
#include "compute/device_memory.h"
#include "engine/progress.h"

namespace echolux {

struct BenchJob {
    Backend backend = Backend::automatic;
    std::string gpu;                                      // part of the GPU's name; "": the first
    std::string device;                                   // part of the Vulkan device's name; "": the GPU's own
    std::vector<std::int64_t> lengths{1024, 2048, 4096};  // samples; 2048, or else the first, is studied in depth
    bool quick = false;                                   // small volumes, few repetitions: that it runs, not how fast
};

// The processor that reconstructs, chosen once, and what follows from it: the memory that spectra and voxels lie in
// there, and the memory that spectra arrive in.
struct BenchProcessor {
    BackendChoice choice;  // cpu or cuda, never automatic

    bool is_gpu() const { return choice.backend == Backend::cuda; }

    // One for each GPU that shares the work, in the order in which they get blocks.
    std::vector<BenchProcessor> each() const {
        if (!is_gpu()) return {*this};
        std::vector<BenchProcessor> all;
        for (const DeviceId& gpu : chosen_gpus(choice, surveyed_gpus())) {
            all.push_back(*this);
            all.back().choice.gpu = gpu;
        }
        return all;
    }

    // Where it works without any transfer.
    MemoryKind home() const { return is_gpu() ? MemoryKind::device : MemoryKind::host; }
    const char* home_name() const { return is_gpu() ? "GPU memory" : "host memory"; }

    // Where an instrument's spectra would lie.
    MemoryKind source() const { return is_gpu() ? MemoryKind::pinned : MemoryKind::host; }
    const char* source_name() const { return is_gpu() ? "pinned memory" : "host memory"; }

    // Throws Error{device, out_of_memory}.
    BlockMemory voxels(std::int64_t bytes) const {
        return is_gpu() ? device_memory(bytes, choice.gpu) : block_memory(bytes, MemoryKind::host);
    }
    PlaceKind place() const { return is_gpu() ? PlaceKind::device_linear : PlaceKind::host_linear; }
};

// Volumes, but for the length of a spectrum, and how long each figure is measured.
struct BenchExtent {
    BenchSize size;
    CeilingEffort effort;
};

// A CPU is some hundred times slower: smaller volumes say the same.
BenchExtent extent_of(bool gpu, bool quick);

struct BenchStart {
    BenchProcessor processor;
    BenchExtent extent;
    BenchReport report;  // of the machine and the volumes
};

// Throws Error{device} before anything is measured where what was asked for is not there.
BenchStart start_of(const BenchJob& job);

// As the operating system calls it; "" where it does not say.
std::string processor_name();

// The figure `of` is what limits: ratio = figure * each / that, with `each` converting units (bytes of an A-scan, ...).
struct BenchLimit {
    std::string of;
    double each = 1;
};

// Where measurements write what they find. One that cannot be made here is noted with its reason, and the others go
// on; Ctrl-C ends them all.
class BenchBook {
  public:
    BenchBook(BenchReport& report, const CeilingEffort& effort, Progress& progress)
        : report_(report), effort_(effort), progress_(progress) {}

    // Followed by `count` figures.
    void begin(const std::string& task, std::int64_t count);
    void end() { progress_.end(); }

    // `values`: repetitions of the same measurement.
    BenchFigure& figure(const std::string& key, const std::string& meaning, const std::string& unit,
                        const std::function<std::vector<double>()>& values,
                        std::initializer_list<BenchLimit> limits = {});
    void ceiling(const Ceiling& ceiling);
    void skip(const std::string& key, const std::string& meaning, const std::string& reason);

    // Between two pieces of work: throws Error{cancelled} when the user wants to stop.
    void poll() { progress_.advance(0); }

    const CeilingEffort& effort() const { return effort_; }
    const BenchReport& report() const { return report_; }

  private:
    BenchReport& report_;
    CeilingEffort effort_;
    Progress& progress_;
};

}  // namespace echolux
