// What an acquisition program that pushes its spectra says of them (plugins/echolux_push.h), in shared memory or over
// the network: as a scan, and each block in its place. Nothing that it says is trusted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compute/block_memory.h"
#include "engine/acquire/source.h"
#include "engine/block_pool.h"
#include "plugins/echolux_push.h"

namespace echolux {

// Whether two producers send the same: one may go on where the other was.
bool is_alike(const echolux_push_stream& one, const echolux_push_stream& other);

// Of the instrument, as it may be printed; "" where it has none.
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

    // For the next block; nothing: all of it is held.
    std::optional<BlockMemory> room() { return pool_.take_below(pool_blocks_); }

    // A producer that sends something else than this cannot go on. Throws Error{device}.
    void require_alike(const echolux_push_stream& other) const;

    // A start: volumes, losses and time count from the next volume that begins.
    void begin() {
        first_.reset();
        left_out_.reset();
    }

    // Throws Error{device} for numbers that cannot be. What its sequence leaves out is lost.
    void check(const echolux_push_block& sent) const;
    // Nothing: its volume had begun before the start.
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
    std::optional<std::int64_t> left_out_;            // the volume that had begun before
    std::uint64_t sequence_ = 0;
};

}  // namespace echolux
