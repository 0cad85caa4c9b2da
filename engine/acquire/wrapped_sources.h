// Sources that wrap other sources: several instruments as one, joined B-scan by B-scan or interleaved line by line, and
// a source with blocks in the memory node of a GPU.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/acquire/source.h"
#include "engine/memory.h"

namespace echolux {

// ---- Base class of sources that combine several instruments.

class SeveralSources : public Source {
  public:
    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return parts_.front().source->block_b_scans(); }

    // No settings are adjustable, since each instrument has its own. Silence is normal only if it is normal for all
    // instruments.
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override;     // "A + B"
    double line_rate_hz() const override;  // sum of all
    std::vector<std::filesystem::path> played_files() const override;

    // Starts all instruments, or none if one fails.
    void start() override;

    // Ends when one instrument ends. If one fails, all are stopped.
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override;

  protected:
    using Clock = std::chrono::steady_clock;

    struct Part {
        std::unique_ptr<Source> source;
        std::optional<Block> waits;  // block that waits for the other instruments or for its turn
    };

    // Needs one or more sources. `scan_of_all` combines their scans and may throw.
    SeveralSources(std::vector<std::unique_ptr<Source>> parts,
                   Scan (*scan_of_all)(const std::vector<std::unique_ptr<Source>>&));

    virtual Arrival next_of_all(Clock::time_point until) = 0;

    // Waits for a block of `part`. Returns std::nullopt once part.waits holds one, otherwise the arrival of kind
    // nothing_yet or ended.
    static std::optional<Arrival> anything_but_a_block(Part& part, Clock::time_point until);

    std::vector<Part> parts_;
    Scan scan_;

  private:
    SourceCapabilities capabilities_;
};

// ---- Several instruments that record the same volumes together, as one source. Each instrument has every second
// (third, ...) block of B-scans, so spectra reach memory and GPUs over as many buses as there are instruments. Blocks
// are passed on in order without copying.

class JoinedSource : public SeveralSources {
  public:
    // Needs two or more sources with identical B-scans and block sizes. Combined volumes have the B-scans of all
    // sources. Throws Error{bad_setting} naming the difference.
    explicit JoinedSource(std::vector<std::unique_ptr<Source>> parts);

    std::int64_t pool_blocks() const override;
    void start() override;

  private:
    // Returns the next block in order. A block is considered lost when its instrument has delivered a later one.
    Arrival next_of_all(Clock::time_point until) override;
    Block as_one(Block block, std::size_t part) const;

    std::int64_t blocks_ = 1;  // per volume of each instrument
    double turn_s_ = 0;        // time between blocks of two instruments, at the combined rate
    std::uint64_t next_ = 0;   // number of the next block
};

// ---- Several instruments that alternate line by line, as one source: of two, one records A-scans 0, 2, 4 ... of each
// B-scan, the other 1, 3, 5 .... The lines of corresponding blocks are copied into one block, which costs an additional
// pass through host memory. If instruments can alternate by blocks, JoinedSource avoids the copy.

class InterleavedSource : public SeveralSources {
  public:
    // Needs two or more sources with identical B-scans and block sizes, and without repeated lines. Combined B-scans
    // have the lines of all sources. B-scan headers are dropped. Throws Error{bad_setting} naming the difference or the
    // unsupported property.
    InterleavedSource(std::vector<std::unique_ptr<Source>> parts, const SourceSettings& settings, MemoryKind memory);

    std::int64_t pool_blocks() const override { return pool_blocks_; }
    std::string name() const override;
    void start() override;

  private:
    // Returns the next block that all instruments have delivered in host memory. A block is lost if one of them has
    // lost it or if there is no memory. Throws Error{device} if blocks of one instrument have not matched the others
    // for some volumes, which means that its counter is wrong permanently.
    Arrival next_of_all(Clock::time_point until) override;
    std::uint64_t number_of(const Part& part) const;
    bool drop_blocks_lost_elsewhere();
    const Part* cut_short() const;
    void count_misfit(const Part& part, const std::string& why);
    Arrival together();
    void copy_lines(std::byte* to) const;

    SpectraLayout of_part_, of_all_;
    std::int64_t pool_blocks_;
    std::int64_t blocks_;       // per volume
    std::int64_t misfits_ = 0;  // consecutive blocks that did not match
    BlockPool pool_;
};

// ---- Memory placement on hosts with several memory nodes (NUMA), where a GPU reads faster from the node that it is
// attached to. Linux lists nodes and devices in /sys and supports a placement policy per thread.

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

// Placement of blocks for a GPU.
struct NearGpu {
    DeviceId gpu{};
    std::optional<int> node;  // std::nullopt: no choice
    std::string remark;       // for users: "near GPU 1 on memory node 1", or why there is no choice
};

// Returns the placement near GPU `number` of `gpus`, modulo their count. Throws Error{device} if there is none.
NearGpu near_gpu(std::int64_t number, const GpuSurvey& gpus, const std::filesystem::path& system = "/sys");

// ---- A source with blocks in the memory node that is closest to a GPU, on hosts with several nodes. All memory that
// the wrapped source allocates while it is opened, started or asked for blocks comes from that node. Blocks are
// labelled with the GPU.

class NumaSource : public Source {
  public:
    // Calls `open` on the node of `where`. Passes on its exceptions.
    template <class Open>
    NumaSource(NearGpu where, const Open& open) : where_(std::move(where)) {
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
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override { source_->stop(); }
    void write_truth(const std::filesystem::path& folder) const override { source_->write_truth(folder); }

  private:
    static void start_threads_of_loops();
    void refuse();

    NearGpu where_;
    std::unique_ptr<Source> source_;
};

}  // namespace echolux
