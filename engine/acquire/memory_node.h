// Memory placement on hosts with several memory nodes (NUMA), where a GPU reads faster from the node that it is
// attached to. Linux lists nodes and devices in /sys and supports a placement policy per thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace echolux {

// Returns the numbers of the nodes with memory, as listed in `system`; {0} if that is unknown.
std::vector<int> memory_nodes(const std::filesystem::path& system = "/sys");

// Returns the node of the device at this PCI address ("0000:17:00.0"), or std::nullopt if unknown.
std::optional<int> memory_node_of(const std::string& pci_address, const std::filesystem::path& system = "/sys");

// While it exists, memory allocated by this thread comes from `node` if there is room. Threads started by this thread
// inherit the policy permanently. It applies to pinned memory, whose pages are allocated immediately.
class OnMemoryNode {
  public:
    explicit OnMemoryNode(std::optional<int> node);  // std::nullopt: no preference
    ~OnMemoryNode();
    OnMemoryNode(const OnMemoryNode&) = delete;
    OnMemoryNode& operator=(const OnMemoryNode&) = delete;

    bool is_in_force() const { return is_in_force_; }  // false: no node, or not permitted by the system

  private:
    using Nodes = std::array<std::uint64_t, 16>;  // one bit per possible node

    bool is_in_force_ = false;
    int mode_before_ = 0;
    Nodes nodes_before_{};
};

}  // namespace echolux
