#include "engine/acquire/placed_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/error.h"
#include "compute/parallel_for.h"

namespace echolux {

NearGpu near_gpu(std::int64_t number, const GpuSurvey& gpus, const std::filesystem::path& system) {
    if (gpus.usable.empty()) {
        throw Error(ErrorCode::device, "no GPU can be used" + (gpus.refusal.empty() ? "" : ": " + gpus.refusal),
                    "source.near_gpu", "leave it out");
    }
    const auto index = static_cast<std::size_t>(number) % gpus.usable.size();
    const Gpu& gpu = gpus.usable[index];
    const std::vector<int> nodes = memory_nodes(system);
    if (nodes.size() < 2) return {gpu.id, {}, "source.near_gpu without effect: all memory is one node"};
    const std::optional<int> node = memory_node_of(gpu.pci_address, system);
    if (!node || std::ranges::find(nodes, *node) == nodes.end())
        return {gpu.id, {}, fmt::format("source.near_gpu without effect: the memory node of GPU {} is unknown", index)};
    return {gpu.id, node, fmt::format("near GPU {} on memory node {}", index, *node)};
}

void PlacedSource::start() {
    const OnMemoryNode here(where_.node);
    source_->start();
}

Arrival PlacedSource::next(std::chrono::milliseconds patience) {
    const OnMemoryNode here(where_.node);
    Arrival arrival = source_->next(patience);
    if (where_.node) arrival.block.near_gpu = where_.gpu;
    return arrival;
}

// These threads are shared by the whole program. Starting them first prevents them from inheriting the placement
// policy.
void PlacedSource::start_threads_of_loops() {
    parallel_for(0, 4 * std::int64_t{thread_count()}, [](std::int64_t) {});
}

void PlacedSource::refuse() {
    where_.node.reset();
    where_.remark = "source.near_gpu without effect: the system does not let memory be placed";
}

}  // namespace echolux
