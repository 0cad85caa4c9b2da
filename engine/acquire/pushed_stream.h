// Converts the stream of an acquisition program (plugins/echolux_push.h), through shared memory or the network, to a
// scan and blocks. All its data is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compute/place.h"
#include "engine/acquire/source.h"
#include "engine/block_pool.h"
#include "plugins/echolux_push.h"

namespace echolux {

// Returns whether two producers send the same format, so that one can continue for the other.
bool is_alike(const echolux_push_stream& one, const echolux_push_stream& other);

// Returns the instrument's name in printable form; "" if it has none.
std::string name_of(const echolux_push_stream& stream);

class PushedStream {
  public:
    // `where` names the source in errors: "shm:oct". Throws Error{device, bad_setting, bad_file, out_of_memory}.
    PushedStream(const SourceWanted& wanted, const echolux_push_stream& stream, std::string where);

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
