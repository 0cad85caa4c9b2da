// A source with blocks in the memory node that is closest to a GPU, on hosts with several nodes. All memory that the
// wrapped source allocates while it is opened, started or asked for blocks comes from that node. Blocks are labelled
// with the GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/acquire/memory_node.h"
#include "engine/acquire/source.h"

namespace echolux {

// Placement of blocks for a GPU.
struct NearGpu {
    DeviceId gpu{};
    std::optional<int> node;  // std::nullopt: no choice
    std::string remark;       // for users: "near GPU 1 on memory node 1", or why there is no choice
};

// Returns the placement near GPU `number` of `gpus`, modulo their count. Throws Error{device} if there is none.
NearGpu near_gpu(std::int64_t number, const GpuSurvey& gpus, const std::filesystem::path& system = "/sys");

class PlacedSource : public Source {
  public:
    // Calls `open` on the node of `where`. Passes on its exceptions.
    template <class Open>
    PlacedSource(NearGpu where, const Open& open) : where_(std::move(where)) {
        start_threads_of_loops();
        const OnMemoryNode here(where_.node);
        if (where_.node && !here.is_in_force()) refuse();
        source_ = open();
    }

    const Scan& scan() const override { return source_->scan(); }
    std::int64_t block_b_scans() const override { return source_->block_b_scans(); }
    std::int64_t pool_blocks() const override { return source_->pool_blocks(); }
    const SourceCapabilities& capabilities() const override { return source_->capabilities(); }
    std::string name() const override { return source_->name() + ", " + where_.remark; }
    double line_rate_hz() const override { return source_->line_rate_hz(); }
    std::vector<std::filesystem::path> played_files() const override { return source_->played_files(); }
    void start() override;
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override { source_->stop(); }
    void write_truth(const std::filesystem::path& folder) const override { source_->write_truth(folder); }

  private:
    static void start_threads_of_loops();
    void refuse();

    NearGpu where_;
    std::unique_ptr<Source> source_;
};

}  // namespace echolux
