// A source whose blocks lie in the memory that a GPU fetches from fastest, on hosts with several memory nodes: whatever
// it allocates while it is opened, started and asked for blocks is taken from that node, and its blocks say whose it
// is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/acquire/memory_node.h"
#include "engine/acquire/source.h"

namespace echolux {

// Where blocks for a GPU should lie.
struct NearGpu {
    DeviceId gpu{};
    std::optional<int> node;  // nothing: there is no choice
    std::string remark;       // for people: "near GPU 1 on memory node 1", or why there is no choice
};

// GPU `number` of `gpus`, counted on from the first one again where there are fewer. Throws Error{device} without any.
NearGpu near_gpu(std::int64_t number, const GpuSurvey& gpus, const std::filesystem::path& system = "/sys");

class PlacedSource : public Source {
  public:
    // Opened by `open` on the node of `where`. Throws what that throws.
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
