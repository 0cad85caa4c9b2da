// Spectra from another program in shared memory (plugins/echolux_push.h). Blocks are copied out of the ring
// immediately: the producer never waits, so blocks that are displayed or recorded later would be overwritten in the
// ring. A block that was overwritten during the copy counts as lost.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/acquire/pushed_stream.h"
#include "engine/acquire/shared_ring.h"
#include "engine/acquire/source_kinds.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto look_again = 300us;  // poll interval for blocks, because the ring has no wake-up mechanism
constexpr auto look_around = 50ms;  // poll interval for a producer
constexpr auto look_at_it = 20ms;   // interval for checking that the producer still runs

class SharedSource : public Source {
  public:
    SharedSource(const SourceWanted& wanted, const std::string& name, std::unique_ptr<SharedRing> ring)
        : name_(name), where_("shm:" + name), ring_(std::move(ring)), stream_(wanted, ring_->view().stream(), where_) {
        require_room();
    }

    const Scan& scan() const override { return stream_.scan(); }
    std::int64_t block_b_scans() const override { return stream_.block_b_scans(); }
    std::int64_t pool_blocks() const override { return stream_.pool_blocks(); }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override {
        const std::string instrument = name_of(stream_.stream());
        return where_ + (instrument.empty() ? "" : " (" + instrument + ")");
    }

    void start() override {
        is_running_ = false;
        if (!ring_ || !ring_->is_current() || !ring_->is_produced()) {
            ring_.reset();
            ring_ = std::make_unique<SharedRing>(name_);
            stream_.require_alike(ring_->view().stream());
            require_room();
        }
        next_ = ring_->view().published();
        stream_.begin();
        is_running_ = true;
    }

    void stop() noexcept override { is_running_ = false; }

    Arrival next(std::chrono::milliseconds patience) override {
        if (!is_running_) throw Error(ErrorCode::device, "is not started", where_);
        const auto until = steady_clock::now() + patience;
        auto look_at_producer = steady_clock::now();
        for (;;) {
            const bool looks = steady_clock::now() >= look_at_producer;
            const bool has_ended = looks && ring_->view().has_ended();
            const bool is_gone = looks && !ring_->is_produced();
            if (std::optional<Block> block = taken()) return {Arrival::Kind::block, std::move(*block)};
            // Check the ring's end before its block count, so that all published blocks are delivered.
            if (has_ended && next_ >= ring_->view().published()) return ended();
            if (is_gone && next_ >= ring_->view().published()) fail_as_gone();
            const auto now = steady_clock::now();
            if (looks) look_at_producer = now + look_at_it;
            if (now >= until) return {};
            std::this_thread::sleep_for(std::min<steady_clock::duration>(look_again, until - now));
        }
    }

  private:
    // Checks the slot size that the producer claims.
    void require_room() const {
        if (static_cast<std::uint64_t>(stream_.block_bytes()) <= ring_->view().slot_bytes()) return;
        throw Error(ErrorCode::device,
                    fmt::format("has room for {} a block, which has {}", counted(ring_->view().slot_bytes(), "bytes"),
                                stream_.block_bytes()),
                    where_, "see docs/push.md");
    }

    Arrival ended() {
        is_running_ = false;
        return {Arrival::Kind::ended, {}};
    }

    [[noreturn]] void fail_as_gone() {
        is_running_ = false;
        throw Error(ErrorCode::device, fmt::format("its producer (process {}) is gone", ring_->view().pid()), where_,
                    "start it again: the session goes on then");
    }

    // Returns std::nullopt if there is no block. Without free memory the block stays in the ring.
    std::optional<Block> taken() {
        const RingView& ring = ring_->view();
        for (;;) {
            const std::uint64_t published = ring.published();
            if (next_ >= published) return std::nullopt;
            // The oldest slot may be in the process of being overwritten. Skip a few more, or the next copy would be
            // overtaken too.
            if (published - next_ >= ring.slots()) next_ = published - ring.slots() + 1 + ring.slots() / 4;
            std::optional<BlockMemory> memory = stream_.room();
            if (!memory) return std::nullopt;
            echolux_push_block sent;
            const std::span<std::byte> room(memory->data, static_cast<std::size_t>(stream_.block_bytes()));
            switch (ring.take(next_, sent, room)) {
                case ECHOLUX_PUSH_TAKEN:
                    ++next_;
                    if (std::optional<Block> block = stream_.placed(sent, *memory)) return block;
                    continue;
                case ECHOLUX_PUSH_OVERTAKEN: ++next_; continue;  // counted by the gap in the sequence
                case ECHOLUX_PUSH_NOT_YET: return std::nullopt;
                default: break;
            }
            is_running_ = false;
            throw Error(
                ErrorCode::device,
                fmt::format("block {}: does not fit into its slot with {}", next_, counted(sent.bytes, "bytes")),
                where_, "see docs/push.md");
        }
    }

    std::string name_, where_;
    SourceCapabilities capabilities_;
    std::unique_ptr<SharedRing> ring_;
    PushedStream stream_;
    std::uint64_t next_ = 0;
    bool is_running_ = false;
};

// Reports waiting as progress.
class Waiting {
  public:
    Waiting(Progress* progress, const std::string& name) : progress_(progress) {
        if (progress_ != nullptr) progress_->begin("wait for a producer of shm:" + name, 0, "");
    }
    ~Waiting() {
        if (progress_ == nullptr) return;
        try {
            progress_->end();
        } catch (const std::exception&) {  // ignored in the destructor
        }
    }
    void go_on() {
        if (progress_ != nullptr) progress_->advance(0);
        std::this_thread::sleep_for(look_around);
    }

  private:
    Progress* progress_;
};

}  // namespace

std::unique_ptr<Source> open_shared_memory(const SourceWanted& wanted, std::chrono::milliseconds patience) {
    const std::string name = SourceName(wanted.name).rest;
    const auto until = steady_clock::now() + patience;
    std::optional<Waiting> waiting;
    for (;;) {
        std::unique_ptr<SharedRing> ring;
        try {
            ring = std::make_unique<SharedRing>(name);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::device || steady_clock::now() >= until) throw;
        }
        if (ring) return std::make_unique<SharedSource>(wanted, name, std::move(ring));
        if (!waiting) waiting.emplace(wanted.progress, name);
        waiting->go_on();
    }
}

}  // namespace echolux
