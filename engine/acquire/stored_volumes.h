// Volumes in memory that are sent repeatedly without copying. A block is sent again when its last user has released it,
// with new frame headers. For a quick start, the first volume is used in place of the others until a thread has
// simulated them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "engine/acquire/paced_source.h"
#include "engine/block_pool.h"
#include "engine/scan/frame_header.h"

namespace echolux {

class StoredVolumes : public BlockFeed {
  public:
    // Fills one block with B-scan positions [first, first + count) of a volume in the layout of the scan's file,
    // without headers. Called sequentially.
    using Load = std::function<void(std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::byte>)>;

    // Stores all volumes of the scan, several times if there are so few that all could be in use. With `begins_early`,
    // only the first is loaded here, the others by a thread. Throws Error{bad_setting} if frames have no space for a
    // header, Error{out_of_memory}, and exceptions of `load`.
    StoredVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory, const Load& load,
                  bool begins_early = false);

    // Continues at the current volume, because earlier blocks may still be in use.
    void begin() override { first_ = next_; }

    std::optional<BlockMemory> fill(const BlockContent& content) override;

  private:
    struct Stored {
        std::unique_ptr<BlockPool> memory;  // pool with a single block
        std::int64_t bytes = 0;
        std::vector<std::uint32_t> frame_crcs;
    };

    Stored stored(std::int64_t first, std::int64_t count, MemoryKind memory,
                  const std::function<void(std::span<std::byte>)>& load) const;
    void load_others(const Load& load, const std::stop_token& stop);
    bool replace(Stored& stored, std::span<const std::byte> bytes, const std::stop_token& stop);
    void sum_up(Stored& stored, std::byte* block) const;
    std::span<std::byte> frame_at(std::byte* block, std::int64_t frame) const;  // without its header

    ScanGeometry geometry_;
    SpectraLayout layout_;
    FrameStamp stamp_;
    std::int64_t block_b_scans_;
    std::mutex mutex_;  // protects bytes and checksums of blocks while they are replaced
    std::vector<std::vector<Stored>> volumes_;
    std::int64_t first_ = 0;  // stored volume that is sent as volume 0
    std::int64_t next_ = 0;   // stored volume after the last one that was sent
    std::jthread others_;     // destroyed first
};

}  // namespace echolux
