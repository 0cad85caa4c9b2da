// Shared by all benchmarks: options, the processor and sizes to measure, and the book that records figures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/spectra.h"
#include "compute/backend.h"
#include "compute/ceilings.h"
#include "compute/voxel_target.h"
#include "engine/progress.h"

namespace echolux {

// Each benchmark reads what concerns it (bench/benches.h).
struct BenchJob {
    Backend backend = Backend::automatic;
    std::string gpu = {};     // part of the GPU's name; "": the first
    std::string device = {};  // part of the Vulkan device's name; "": that of the GPU, or the best
    std::vector<std::int64_t> lengths{1024, 2048, 4096};  // samples; 2048, or else the first, is measured in detail
    bool quick = false;                                   // small volumes, few repetitions: tests function, not speed
    std::vector<std::filesystem::path> volumes = {};      // measure pictures of these too
    std::optional<BackendChoice> gpus = {};               // several GPUs, of which 1, 2, 4 ... are measured
    double seconds = 60;                                  // per live run
    std::string only = {};  // live runs whose keys start with this, such as "live.gpus.u16/2"; "": all
};

// The processor that reconstructs, chosen once, the memory in which it keeps spectra and voxels, and the memory in
// which spectra arrive.
struct BenchProcessor {
    BackendChoice choice;  // cpu or cuda, never automatic

    bool is_gpu() const { return choice.backend == Backend::cuda; }

    // One per GPU that shares the work, in the order in which they get blocks.
    std::vector<BenchProcessor> each() const {
        if (!is_gpu()) return {*this};
        std::vector<BenchProcessor> all;
        for (const DeviceId& gpu : chosen_gpus(choice, surveyed_gpus())) {
            all.push_back(*this);
            all.back().choice.gpu = gpu;
        }
        return all;
    }

    // Memory from which it works without a transfer.
    MemoryKind home() const { return is_gpu() ? MemoryKind::device : MemoryKind::host; }
    const char* home_name() const { return is_gpu() ? "GPU memory" : "host memory"; }

    // Memory in which an instrument's spectra arrive.
    MemoryKind source() const { return is_gpu() ? MemoryKind::pinned : MemoryKind::host; }
    const char* source_name() const { return is_gpu() ? "pinned memory" : "host memory"; }

    // Throws Error{device, out_of_memory}.
    BlockMemory voxels(std::int64_t bytes) const {
        return is_gpu() ? device_memory(bytes, choice.gpu) : block_memory(bytes, MemoryKind::host);
    }
    TargetKind target_kind() const { return is_gpu() ? TargetKind::device_linear : TargetKind::host_linear; }
};

// Volume size except the length of a spectrum, and the effort per figure.
struct BenchExtent {
    BenchSize size;
    CeilingEffort effort;
};

// A CPU is about a hundred times slower, so it gets smaller volumes.
BenchExtent extent_of(bool gpu, bool quick);

struct BenchStart {
    BenchProcessor processor;
    BenchExtent extent;
};

// Fills in machine and volumes of the report. Throws Error{device} if the requested devices are missing.
BenchStart start_of(const BenchJob& job, BenchReport& report);

// A report of a benchmark that chooses its own processors, with the facts of this machine.
BenchReport report_of(const std::string& backend, bool quick);

// Seconds of `work` by the host's clock.
double seconds_of(const std::function<void()>& work);

// The figure `of` is the limit: ratio = figure * each / limit, where `each` converts units (such as bytes per A-scan).
struct BenchLimit {
    std::string of;
    double each = 1;
};

// Records the figures of a benchmark. A figure that cannot be measured is noted with its reason, and the others
// continue. Ctrl-C ends all.
class BenchBook {
  public:
    BenchBook(BenchReport& report, const CeilingEffort& effort, Progress& progress)
        : report_(report), effort_(effort), progress_(progress) {}

    // `count` figures follow.
    void begin(const std::string& task, std::int64_t count);
    void end() { progress_.end(); }

    // `values` returns repetitions of the same measurement.
    BenchFigure& figure(const std::string& key, const std::string& meaning, const std::string& unit,
                        const std::function<std::vector<double>()>& values,
                        std::initializer_list<BenchLimit> limits = {});
    // A figure that is known already.
    void note(const std::string& key, const std::string& meaning, const std::string& unit, double value) {
        figure(key, meaning, unit, [value] { return std::vector{value}; });
    }
    void ceiling(const Ceiling& ceiling);
    void skip(const std::string& key, const std::string& meaning, const std::string& reason);

    // Call between two pieces of work. Throws Error{cancelled} when the user stops the benchmark.
    void poll() { progress_.advance(0); }

    // Returns the values of work(0) ... work(count - 1), after `warm_up` calls with negative numbers. Calls that return
    // none are left out.
    std::vector<double> repeated(int warm_up, int count, const std::function<std::optional<double>(int)>& work);

    const CeilingEffort& effort() const { return effort_; }
    const BenchReport& report() const { return report_; }

  private:
    BenchReport& report_;
    CeilingEffort effort_;
    Progress& progress_;
};

}  // namespace echolux
