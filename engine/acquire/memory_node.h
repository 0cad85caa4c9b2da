// Hosts whose memory lies in several nodes (NUMA): a GPU fetches faster from the node that it is attached to. The
// kernel tells nodes and devices in /sys, and places what a thread allocates where the thread wishes.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace echolux {

// Numbers of the nodes that have memory, as `system` says; {0} where it says nothing.
std::vector<int> memory_nodes(const std::filesystem::path& system = "/sys");

// Of the device at this PCI address, "0000:17:00.0". Nothing: it is not known.
std::optional<int> memory_node_of(const std::string& pci_address, const std::filesystem::path& system = "/sys");

// As long as this lives, what this thread allocates, and threads that it starts for as long as they live, comes from
// `node` as far as there is room. Pinned memory counts: its pages are taken when it is allocated.
class OnMemoryNode {
  public:
    explicit OnMemoryNode(std::optional<int> node);  // nothing: wherever it comes from
    ~OnMemoryNode();
    OnMemoryNode(const OnMemoryNode&) = delete;
    OnMemoryNode& operator=(const OnMemoryNode&) = delete;

    bool is_in_force() const { return is_in_force_; }  // false: no node, or the system does not allow it

  private:
    using Nodes = std::array<std::uint64_t, 16>;  // a bit for each that a kernel can have

    bool is_in_force_ = false;
    int mode_before_ = 0;
    Nodes nodes_before_{};
};

}  // namespace echolux
