#include "engine/acquire/memory_node.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <fstream>

#include "engine/io/regular_file.h"

namespace echolux {
namespace {

constexpr int preferred = 1;  // MPOL_PREFERRED in <linux/mempolicy.h>
constexpr int max_nodes = 1024;
constexpr unsigned long nodes_told = max_nodes + 1;  // the kernel expects one more

// Returns the first line, or "" if there is none.
std::string line_of(const std::filesystem::path& path) {
    std::ifstream file = regular_stream(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace

// Parses a list such as "0-1,3".
std::vector<int> memory_nodes(const std::filesystem::path& system) {
    const std::string list = line_of(system / "devices/system/node/has_memory");
    std::vector<int> nodes;
    const char *at = list.data(), *const end = at + list.size();
    while (at < end) {
        int first = 0;
        const auto [behind, problem] = std::from_chars(at, end, first);
        if (problem != std::errc() || first < 0) break;
        int last = first;
        at = behind;
        if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
        for (int node = first; node <= last && node < max_nodes; ++node) nodes.push_back(node);
        if (at < end && *at != ',') break;
        ++at;
    }
    return nodes.empty() ? std::vector{0} : nodes;
}

std::optional<int> memory_node_of(const std::string& pci_address, const std::filesystem::path& system) {
    if (pci_address.empty()) return {};
    const std::string text = line_of(system / "bus/pci/devices" / pci_address / "numa_node");
    int node = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), node);
    if (problem != std::errc() || node < 0) return {};
    return node;
}

// Uses system calls directly to avoid a dependency on libnuma.
OnMemoryNode::OnMemoryNode(std::optional<int> node) {
    if (!node || *node < 0 || *node >= max_nodes) return;
    if (syscall(SYS_get_mempolicy, &mode_before_, nodes_before_.data(), nodes_told, nullptr, 0) != 0) return;
    Nodes wanted{};
    wanted[static_cast<std::size_t>(*node / 64)] = std::uint64_t{1} << *node % 64;
    is_in_force_ = syscall(SYS_set_mempolicy, preferred, wanted.data(), nodes_told) == 0;
}

OnMemoryNode::~OnMemoryNode() {
    if (is_in_force_) syscall(SYS_set_mempolicy, mode_before_, nodes_before_.data(), nodes_told);
}

}  // namespace echolux
