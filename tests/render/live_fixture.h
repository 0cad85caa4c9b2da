// Shared by the tests of live display: a pipeline on the CPU and software Vulkan, fed with volumes of noise.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "app/live/live_pipeline.h"
#include "rendering.h"
#include "small_scan.h"
#include "tests/support/set_fields.h"
#include "tests/unit/await.h"

namespace echolux::test {

using SwapPoint = BlockSink::SwapPoint;

inline ReconstructionSpec small_plan(VoxelType type = VoxelType::u8) {
    ReconstructionSpec plan = noise_spec(64, 13, 6, type);
    plan.block_b_scans = 3;
    return plan;
}

inline View live_view() {
    return with(sized_view(48, 40), "low=0 high=60");
}

class LiveTest : public Rendering {
  protected:
    void TearDown() override {
        path_.reset();  // while the derived fixture exists, which may lose the device
        Rendering::TearDown();
    }

    LivePipeline& make(const LivePipelineOptions& options = {}) {
        GpuDevice device = validated_device();
        device.loses = [this] { return loses(); };
        path_.reset();
        path_ = std::make_unique<LivePipeline>(plan_, BackendChoice{.backend = Backend::cpu}, device, options);
        return *path_;
    }
    virtual bool loses() { return lost_; }

    Block block(std::int64_t volume, std::int64_t begin, std::int64_t end) {
        std::vector<std::uint16_t>& samples = spectra_[volume];
        if (samples.empty()) samples = noise_spectra(plan_, volume);
        return block_of(plan_, std::as_bytes(std::span(samples)), volume, begin, end);
    }
    bool feed(std::int64_t volume, std::int64_t begin, std::int64_t end) {
        return path_->feeder.feed(block(volume, begin, end));
    }
    // Feeds a whole volume in blocks.
    bool feed(std::int64_t volume) {
        bool all = true;
        for (std::int64_t b = 0; b < plan_.geometry.b_scans; b += plan_.block_b_scans)
            all &= feed(volume, b, std::min(b + plan_.block_b_scans, plan_.geometry.b_scans));
        return all;
    }

    // Changes the plan and waits until it is prepared and activated.
    void take(const ReconstructionSpec& plan, SwapPoint moment = SwapPoint::between_volumes) {
        path_->feeder.change(plan);
        AWAIT(path_->feeder.take_change(moment));
    }

    std::vector<std::byte> expected(std::int64_t volume) const { return expected(volume, plan_); }
    std::vector<std::byte> expected(std::int64_t volume, const ReconstructionSpec& plan) const {
        return voxels_in_memory(plan, noise_spectra(plan_, volume));
    }
    std::vector<std::byte> shown() { return path_->display.read_volume().value().voxels; }

    std::atomic<bool> lost_ = false;  // loses the device at the next submission
    ReconstructionSpec plan_ = small_plan();
    std::map<std::int64_t, std::vector<std::uint16_t>> spectra_;
    std::unique_ptr<LivePipeline> path_;
};

}  // namespace echolux::test
