// Spectra from another program in shared memory (plugins/echolux_push.h): a viewer's read-only access to the ring of
// blocks, and the source of blocks (open_shared_memory() of engine/acquire/source.h). The ring's sizes are read once
// and checked against the size of the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/echolux_push.h"

namespace echolux {

// A ring in memory from an untrusted producer.
class RingView {
  public:
    // `where` names it in errors. Throws Error{device} if it is not a complete ring of this version.
    RingView(std::span<const std::byte> memory, const std::string& where);

    const echolux_push_stream& stream() const { return stream_; }
    std::uint64_t slots() const { return slots_; }
    std::uint64_t slot_bytes() const { return slot_bytes_; }
    std::uint64_t generation() const { return generation_; }
    std::int64_t pid() const { return pid_; }

    std::uint64_t published() const;
    bool has_ended() const;

    // Copies one block. Returns ECHOLUX_PUSH_TAKEN, NOT_YET, OVERTAKEN or WRONG.
    int take(std::uint64_t sequence, echolux_push_block& block, std::span<std::byte> to) const;

  private:
    const std::byte* memory_;
    echolux_push_stream stream_;
    std::uint64_t slots_, slot_bytes_, data_at_, generation_;
    std::int64_t pid_;
};

// The shared memory of a ring.
class SharedRing {
  public:
    // Throws Error{device} if there is no such ring, its producer has exited, or its memory is invalid.
    explicit SharedRing(const std::string& name);
    ~SharedRing();
    SharedRing(const SharedRing&) = delete;
    SharedRing& operator=(const SharedRing&) = delete;

    const RingView& view() const { return *view_; }

    // Whether its producer runs, and whether the name still refers to this ring.
    bool is_produced() const;
    bool is_current() const;

  private:
    std::string path_;
    int descriptor_ = -1;
    std::span<const std::byte> memory_;
    std::unique_ptr<RingView> view_;
};

// Returns the names of rings with a running producer.
std::vector<std::string> shared_rings();

}  // namespace echolux
