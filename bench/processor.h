// Who reconstructs in a bench, settled once, and what follows from it: where spectra and voxels are at home there, and
// in what kind of memory they arrive.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/backend.h"
#include "compute/block_memory.h"
#include "compute/device_memory.h"

namespace echolux {

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

}  // namespace echolux
