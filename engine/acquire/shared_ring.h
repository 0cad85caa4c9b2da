// A ring of blocks in shared memory, as a viewer sees it (plugins/echolux_push.h): it only reads. Sizes are taken from
// it once, checked against the memory that is there, and never asked for again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/echolux_push.h"

namespace echolux {

// Memory with a ring in it, whoever wrote it.
class RingView {
  public:
    // `where` names it in errors. Throws Error{device}: it is no ring of this version, or not a whole one.
    RingView(std::span<const std::byte> memory, const std::string& where);

    const echolux_push_stream& stream() const { return stream_; }
    std::uint64_t slots() const { return slots_; }
    std::uint64_t slot_bytes() const { return slot_bytes_; }
    std::uint64_t generation() const { return generation_; }
    std::int64_t pid() const { return pid_; }

    std::uint64_t published() const;
    bool has_ended() const;

    // ECHOLUX_PUSH_TAKEN, NOT_YET, OVERTAKEN or WRONG.
    int take(std::uint64_t sequence, echolux_push_block& block, std::span<std::byte> to) const;

  private:
    const std::byte* memory_;
    echolux_push_stream stream_;
    std::uint64_t slots_, slot_bytes_, data_at_, generation_;
    std::int64_t pid_;
};

class SharedRing {
  public:
    // Throws Error{device}: there is none of that name, nobody produces it any more, or it is not one.
    explicit SharedRing(const std::string& name);
    ~SharedRing();
    SharedRing(const SharedRing&) = delete;
    SharedRing& operator=(const SharedRing&) = delete;

    const RingView& view() const { return *view_; }

    // Its producer runs, and the name still means this ring.
    bool is_produced() const;
    bool is_current() const;

  private:
    std::string path_;
    int descriptor_ = -1;
    std::span<const std::byte> memory_;
    std::unique_ptr<RingView> view_;
};

// Names of rings whose producer runs.
std::vector<std::string> shared_rings();

}  // namespace echolux
