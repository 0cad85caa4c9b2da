// Sources that send blocks on a schedule, like an instrument, and the simulator as such a source.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "compute/voxel_target.h"
#include "engine/acquire/source.h"
#include "engine/memory.h"
#include "engine/scan/raw_spectra.h"

namespace echolux {

// ---- The source and its schedule. A block is due when its last line has been acquired, and the schedule does not
// drift. A block is lost if no buffer is free when its first line is due, or if the disk is more than 1 s late.
// Simulator and replay differ only in their BlockFeed.

// Position of a block in the stream.
struct BlockContent {
    std::int64_t volume = 0;  // since the start, continuing when a replay loops
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
    std::int64_t first_frame = 0;  // acquired B-scans since the start, including flyback frames
    std::int64_t frame_lines = 0;  // lines per frame, including flyback
    double line_rate_hz = 0;

    // Returns the time of the first line of acquired B-scan `frame` of the block, in seconds since the start.
    double time_s(std::int64_t frame = 0) const {
        return static_cast<double>((first_frame + frame) * frame_lines) / line_rate_hz;
    }
};

// Provides the data of blocks.
class BlockFeed {
  public:
    virtual ~BlockFeed() = default;

    // Restarts the count of volumes at zero.
    virtual void begin() {}

    // Returns memory with the block: frames as the scan describes them, and flyback frames after the last B-scan of a
    // volume. Returns std::nullopt if all memory is in use or the block is missing. Called by one thread. Throws
    // Error{bad_file, out_of_memory}.
    virtual std::optional<BlockMemory> fill(const BlockContent& content) = 0;
};

// Speed and size of a paced stream.
struct Pacing {
    double line_rate_hz = 0;
    std::int64_t block_b_scans = 1;
    std::int64_t pool_blocks = 1;  // max number in use at a time
    std::int64_t volumes = 0;      // after which the source ends; 0: endless
};

// Returns the pacing for these settings, with the defaults of stream.h. Throws Error{bad_setting} if the line rate is
// unknown.
Pacing paced(const SourceSettings& settings, const Scan& scan, double line_rate_hz);

class PacedSource : public Source {
  public:
    // `scan` has one or more volumes, with the layout of the blocks.
    PacedSource(std::string name, Scan scan, const SourceCapabilities& capabilities, const Pacing& pacing,
                std::unique_ptr<BlockFeed> feed, std::shared_ptr<PacingClock> clock = steady_pacing_clock());
    ~PacedSource() override;

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return pacing_.block_b_scans; }
    std::int64_t pool_blocks() const override { return pacing_.pool_blocks; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return name_; }
    double line_rate_hz() const override { return pacing_.line_rate_hz; }

    void start() override;
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override;

  private:
    void send(double start_s, const std::stop_token& stop);
    BlockContent content(std::int64_t number) const;
    double end_s(const BlockContent& content) const;
    std::optional<Block> filled(const BlockContent& content);
    void finish(std::exception_ptr problem = nullptr);

    std::string name_;
    Scan scan_;
    SourceCapabilities capabilities_;
    Pacing pacing_;
    SpectraLayout layout_;
    std::int64_t blocks_per_volume_;
    std::unique_ptr<BlockFeed> feed_;
    std::shared_ptr<PacingClock> clock_;
    std::shared_ptr<std::atomic<std::int64_t>> in_use_ = std::make_shared<std::atomic<std::int64_t>>(0);

    std::mutex mutex_;  // protects the members below
    std::condition_variable changed_;
    std::deque<Block> ready_;
    std::int64_t lost_ = 0;  // since the last block that was sent
    bool finished_ = true;
    std::exception_ptr problem_;
    std::jthread sending_;
};

// ---- Volumes in memory that are sent repeatedly without copying. A block is sent again when its last user has
// released it, with new frame headers. For a quick start, the first volume is sent instead of the others until a thread
// has simulated them.

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
