// Volumes in memory, block by block, that are sent over and over without a copy: a block is sent again when nobody
// holds it any more, after its frame headers have been stamped anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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

    // All volumes of the scan, several times where they are so few that all could be in use. Throws
    // Error{bad_setting} when the frames have no place for a header, Error{out_of_memory}, and what `load` throws.
    StoredVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory, const Load& load);

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
    std::span<std::byte> frame_at(std::byte* block, std::int64_t frame) const;  // without its header

    ScanGeometry geometry_;
    SpectraLayout layout_;
    FrameStamp stamp_;
    std::int64_t block_b_scans_;
    std::vector<std::vector<Stored>> volumes_;
    std::int64_t first_ = 0;  // stored volume that is sent as volume 0
    std::int64_t next_ = 0;   // the one after that which was sent last
};

}  // namespace echolux
