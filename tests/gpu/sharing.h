// Shared by the tests of shared textures: a check whether this machine can share, spectra in pinned memory, and a view
// with one pixel per A-scan.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "app/live/live_pipeline.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "tests/render/small_scan.h"
#include "tests/support/set_fields.h"

namespace echolux::test {

inline const BackendChoice on_gpu{.backend = Backend::cuda};

// Returns the reason why this machine cannot share, or "".
inline const std::string& obstacle() {
    static const std::string found = []() -> std::string {
        if (surveyed_gpus().usable.empty()) return surveyed_gpus().refusal;
        try {
            GpuDevice device;
            device.near = surveyed_gpus().usable.front().id;
            const Renderer renderer(device);
            if (renderer.device_id() == device.near) return "";
            return "Vulkan does not know the GPU that CUDA uses; it has " + renderer.device_name();
        } catch (const Error& error) {
            return error.line();
        }
    }();
    return found;
}

// Spectra in memory that the GPU can read.
struct PinnedSpectra {
    PinnedSpectra(const ReconstructionSpec& spec, std::int64_t seed)
        : samples(noise_spectra(spec, seed)),
          memory(block_memory(static_cast<std::int64_t>(samples.size() * sizeof(std::uint16_t)))) {
        std::memcpy(memory.data, samples.data(), samples.size() * sizeof(std::uint16_t));
    }

    Block block(const ReconstructionSpec& spec, std::int64_t volume, std::int64_t begin, std::int64_t end) const {
        const std::span<const std::byte> bytes(memory.data, index(memory.bytes));
        Block part = block_of(spec, bytes, volume, begin, end, memory.kind);
        part.keeper = memory.keeper;
        return part;
    }

    std::vector<std::uint16_t> samples;
    BlockMemory memory;
};

inline void feed(LivePipeline& path, const ReconstructionSpec& spec, const PinnedSpectra& spectra,
                 std::int64_t volume) {
    for (std::int64_t begin = 0; begin < spec.geometry.b_scans; begin += spec.block_b_scans) {
        const std::int64_t end = std::min(begin + spec.block_b_scans, spec.geometry.b_scans);
        path.feeder.feed(spectra.block(spec, volume, begin, end));
    }
}

class Sharing : public testing::Test {
  protected:
    void SetUp() override {
        if (!obstacle().empty()) GTEST_SKIP() << obstacle();
    }
};

struct Size {
    std::int64_t samples, a_scans, b_scans, depth_begin, depth_end;
};

inline ReconstructionSpec spec_of(const Size& size, VoxelType type) {
    ReconstructionSpec spec = noise_spec(size.samples, size.a_scans, size.b_scans, type);
    spec.recipe.depth_begin = size.depth_begin;
    spec.recipe.depth_end = size.depth_end;
    spec.block_b_scans = std::min<std::int64_t>(3, size.b_scans);  // the last block is short
    return spec;
}

// A view from above with one pixel per A-scan: each pixel shows one volume, never a mixture.
inline View from_above(const VolumeGrid& grid) {
    View view;
    set(view, "mode=mip projection=orthographic azimuth_deg=0 elevation_deg=90 box=false lighting=false");
    view.width = grid.a_scans;
    view.height = grid.b_scans;
    const double diagonal = std::hypot(grid.depth, grid.a_scans, grid.b_scans);
    view.zoom = diagonal / static_cast<double>(std::min(view.width, view.height));
    set(view, "low=0 high=60");
    return view;
}

}  // namespace echolux::test
