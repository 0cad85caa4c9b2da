// Streams of blocks: the sizes of blocks and pools, and the descriptions of streams by plugins and by acquisition
// programs, which are checked before use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compute/voxel_target.h"
#include "engine/acquire/source.h"
#include "engine/memory.h"
#include "plugins/echolux_push.h"
#include "plugins/echolux_source.h"

namespace echolux {

// ---- Default block size and pool size. Blocks are small for low latency; the pool is large enough to keep the last
// volume while others arrive. Both functions accept scans that have not been validated.

constexpr std::int64_t volumes_in_use = 4;  // kept, processed, queued, arriving

// Returns the number of B-scan positions per block, up to those of a volume. The default is limited to 16 MiB and, if
// the line rate is known, 1/60 s. `line_rate_hz` is 0 if unknown.
std::int64_t block_size(const SourceSettings& settings, const Scan& scan, double line_rate_hz);

// Returns the number of blocks of that size: enough for `volumes_in_use` volumes and a few more, within half of the
// free memory.
std::int64_t pool_size(const SourceSettings& settings, const Scan& scan, std::int64_t block_b_scans);

// ---- Conversion between scans and a plugin's stream description. Data from plugins is checked.

// Returns the stream requested by scan and settings, with 0 for unspecified fields.
echolux_stream wanted_stream(const Scan& scan, const SourceSettings& settings);

// Applies the instrument's stream to the scan. Throws Error{device} naming `instrument` and an invalid field.
void accept_stream(const echolux_stream& stream, Scan& scan, const std::string& instrument, const std::string& remedy);

// Returns the distance between acquired B-scans in bytes.
std::int64_t frame_stride(const Scan& scan);

// ---- Protocol for blocks of spectra over a connection (docs/push.md): a greeting that describes the stream, then
// blocks, each after a header. All numbers are little-endian. There is no checksum beyond that of TCP. Lengths and
// numbers are checked, so a sender that is out of sync is detected at the next header.

struct PushGreeting {
    char magic[8];  // "ECHOPUSH"
    std::uint32_t version;
    std::uint32_t stream_bytes;
    echolux_push_stream stream;
};

struct PushHead {
    char magic[4];        // "BLCK", or "ENDS" for the end of the stream, with zeros in the rest
    std::uint32_t bytes;  // size of `block`
    echolux_push_block block;
};

static_assert(sizeof(PushGreeting) == 208 && sizeof(PushHead) == 72);

// Parses a greeting without checking the stream. Throws Error{device} naming `where` if it is invalid.
echolux_push_stream parsed_greeting(std::span<const std::byte, sizeof(PushGreeting)> bytes, const std::string& where);

struct ParsedHead {
    bool is_end = false;
    echolux_push_block block{};
};

// Parses a header. Throws Error{device}.
ParsedHead parsed_head(std::span<const std::byte, sizeof(PushHead)> bytes, const std::string& where);

// ---- Converts the stream of an acquisition program (plugins/echolux_push.h), through shared memory or the network, to
// a scan and blocks. All its data is checked.

// Returns whether two producers send the same format, so that one can continue for the other.
bool is_alike(const echolux_push_stream& one, const echolux_push_stream& other);

// Returns the instrument's name in printable form; "" if it has none.
std::string name_of(const echolux_push_stream& stream);

class PushedStream {
  public:
    // `where` names the source in errors: "shm:oct". Throws Error{device, bad_setting, bad_file, out_of_memory}.
    PushedStream(const SourceRequest& wanted, const echolux_push_stream& stream, std::string where);

    const echolux_push_stream& stream() const { return stream_; }
    const Scan& scan() const { return scan_; }
    std::int64_t block_b_scans() const { return stream_.block_b_scans; }
    std::int64_t pool_blocks() const { return pool_blocks_; }
    std::int64_t block_bytes() const { return position_bytes_ * stream_.block_b_scans; }

    // Returns memory for the next block, or std::nullopt if all is in use.
    std::optional<BlockMemory> room() { return pool_.take_below(pool_blocks_); }

    // Throws Error{device} if a new producer's stream differs from this one.
    void require_alike(const echolux_push_stream& other) const;

    // Restarts the stream: volumes, losses and time count from the next volume that begins.
    void begin() {
        first_.reset();
        left_out_.reset();
    }

    // Throws Error{device} if the numbers are invalid. Gaps in the sequence are lost blocks.
    void check(const echolux_push_block& sent) const;
    // Returns std::nullopt if the block's volume began before the start.
    std::optional<Block> placed(const echolux_push_block& sent, const BlockMemory& memory);

  private:
    [[noreturn]] void refuse(const echolux_push_block& sent, const std::string& problem) const;

    std::string where_;
    echolux_push_stream stream_;
    Scan scan_;
    std::int64_t position_bytes_ = 0;
    std::int64_t pool_blocks_ = 0;
    BlockPool pool_;

    std::optional<echolux_push_block> first_, last_;  // since the start
    std::optional<std::int64_t> left_out_;            // volume that began before the start
    std::uint64_t sequence_ = 0;
};

}  // namespace echolux
