// Volumes in memory, block by block, that are sent over and over without a copy: a block is sent again when nobody
// holds it any more, after its frame headers have been stamped anew. Where the first picture is to come soon, the first
// volume stands in for the others until a thread has made them.
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
    // Fills a block with B-scan positions [first, first + count) of a volume as the scan's file would hold them; called
    // for one block after the other. Headers are left alone.
    using Load = std::function<void(std::int64_t volume, std::int64_t first, std::int64_t count, std::span<std::byte>)>;

    // All volumes of the scan, several times where they are so few that all could be in use. `begins_early`: only the
    // first is loaded now, the others by a thread. Throws Error{bad_setting} when the frames have no place for a
    // header, Error{out_of_memory}, and what `load` throws.
    StoredVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory, const Load& load,
                  bool begins_early = false);

    // Goes on where it was: blocks from before may still be held.
    void begin() override { first_ = next_; }

    std::optional<BlockMemory> fill(const BlockContent& content) override;

  private:
    struct Stored {
        std::unique_ptr<BlockPool> memory;  // of this one block
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
    std::mutex mutex_;  // of the bytes and sums of blocks, while others take the place of the first
    std::vector<std::vector<Stored>> volumes_;
    std::int64_t first_ = 0;  // stored volume that is sent as volume 0
    std::int64_t next_ = 0;   // the one after that which was sent last
    std::jthread others_;     // goes first
};

}  // namespace echolux
