// A simulated display: a real volume ring between a queue of work that writes slots and one that reads them, as
// app/live/live_pipeline.h and render/ use it. Each slice of a slot stores its volume, so that a picture that is torn
// or shows unwritten slices is detected.
#pragma once

#include <array>

#include "compute/indexing.h"
#include "simulated_world.h"

namespace echolux::test {

class SimulatedDisplay : public BlockSink {
  public:
    SimulatedDisplay(World& world, Publishing publishing) : world_(world), publishing_(publishing) {
        build();
        gpus_ = world_.threads.start([this](const std::stop_token& stop) { work(stop); });
        viewer_ = world_.threads.start([this](const std::stop_token& stop) { look(stop); });
    }
    ~SimulatedDisplay() override {
        viewer_.request_stop();
        viewer_.join();
        gpus_.request_stop();
        gpus_.join();
    }

    // ---- BlockSink

    bool feed(const Block& block) override {
        check(block);
        take_time();
        if (ticket_ && (block.volume != volume_ || block.first_b_scan != next_)) abandon();
        if (world_.happens(world_.chances.fail_sink)) return fail();
        if (block.first_b_scan == 0) begin(block);
        if (!ticket_) return false;
        write(block.first_b_scan);
        next_ = block.first_b_scan + 1;
        const bool is_last = next_ == blocks_a_volume;
        if (is_last || publishing_ == Publishing::rolling) {
            publish(ticket_->signal);
            ring_->hand_over(*ticket_, next_);
        }
        if (is_last) ticket_.reset();
        if (is_last) ++volumes;
        newest_fed = block.volume;
        return true;
    }
    bool reprocess(const Block& block) override {
        take_time();
        abandon();
        wait_until([this] { return !is_looked_at_; });
        ticket_ = ring_->acquire_rewrite(block.volume);
        if (!ticket_) return false;
        begin_to_write();
        id_ = ids_[ticket_->slot];
        write(block.first_b_scan);
        publish(ticket_->signal);
        ring_->hand_over_rewrite(*ticket_);
        ticket_.reset();
        return true;
    }
    void collect() override { world_.threads.give_way(); }
    void finish() override { settle(); }
    void change(const ReconstructionSpec& spec) override { wanted_ = spec.recipe.high; }
    bool take_change(SwapPoint) override {
        if (!wanted_) return false;
        const double high = *std::exchange(wanted_, std::nullopt);
        is_changed_ = true;  // reprocesses the last whole volume
        if (high > 90) throw Error(ErrorCode::out_of_memory, "is too much", "display");
        return true;
    }

    // A new session: volumes count from zero.
    void restart() { is_restarted_ = true; }

    // Checks the invariants of the display.
    void expect_sense() const {
        world_.expect(written_->value() <= written_issued_, "a value that nobody issued was signalled");
        world_.expect(graphics_.size() <= max_in_flight, "more pictures are under way than the ring has slots for");
    }

    std::int64_t volumes = 0;
    std::int64_t pictures = 0;
    std::int64_t losses = 0;
    std::int64_t newest_fed = -1;
    std::function<void(std::int64_t)> shown = [](std::int64_t) {};
    bool gives_up_before_the_end = false;  // deliberate fault: the host signals while work is pending

  private:
    static constexpr std::size_t max_in_flight = 2, slots = max_in_flight + 2;
    static constexpr std::int64_t nothing = -1, in_flux = -2;
    using Slot = std::array<std::int64_t, blocks_a_volume>;  // the volume of each slice, by the ids of begin()
    struct Memory {
        std::vector<Slot> slots;
        bool is_lost = false;  // with the device: pending pictures may show anything
    };

    void build() {
        ring_ = std::make_unique<VolumeRing>(slots, blocks_a_volume, publishing_);
        written_ = std::make_shared<SimulatedTimeline>(world_, "written");
        read_ = std::make_shared<SimulatedTimeline>(world_, "read");
        written_issued_ = 0;
        memory_ = std::make_shared<Memory>();
        memory_->slots.assign(slots, Slot{nothing, nothing, nothing, nothing});
        ids_.assign(slots, nothing);
        ticket_.reset();
    }

    void check(const Block& block) {
        std::uint64_t first = 0;
        std::memcpy(&first, block.data, 8);
        for (std::int64_t i = 0; i < block.bytes; i += 8)
            world_.expect(std::memcmp(block.data + i, &first, 8) == 0, "a block is of two pieces");
        world_.expect(block.bytes == block_words * 8, "a block of the wrong size is fed");
        world_.expect(first != 0, "a block is fed whose memory is gone");
    }

    void take_time() {
        const bool is_slow = world_.happens(world_.chances.slow_sink);
        world_.threads.sleep(
            std::chrono::microseconds(static_cast<int>((is_slow ? 30000 : 600) * world_.threads.any())));
    }

    // Loses the device, or only this block's work.
    bool fail() {
        abandon();
        if (world_.threads.happens(0.5)) throw Error(ErrorCode::device, "sneezed", "display");
        ++losses;
        if (!gives_up_before_the_end) compute_.drop_all();  // none of it will signal
        memory_->is_lost = true;
        if (written_->value() < ring_->written_submitted()) written_->signal(ring_->written_submitted());
        wait_until([this] { return graphics_.is_empty() && !is_looked_at_; });
        if (read_->value() < ring_->read_submitted()) read_->signal(ring_->read_submitted());
        build();
        return false;
    }

    void begin(const Block& block) {
        if (block.volume <= volume_) {
            if (!std::exchange(is_changed_ ? is_changed_ : is_restarted_, false))
                world_.fail(fmt::format("volume {} is fed after volume {}", block.volume, volume_));
        }
        volume_ = block.volume;
        next_ = 0;
        ticket_ = ring_->acquire_write({.volume = block.volume, .time_s = block.time_s});
        if (!ticket_) return;
        id_ = ++last_id_;
        ids_[ticket_->slot] = id_;
        begin_to_write();
    }

    void begin_to_write() {
        world_.expect(ticket_->wait <= ring_->read_submitted(), "who writes waits for what was never submitted");
        written_issued_ = std::max(written_issued_, ticket_->signal);
        compute_.submit({read_.get(), ticket_->wait, {}, {}, {}});
    }

    void write(std::int64_t slice) {
        const auto is_room = [this] { return compute_.size() < 64; };
        wait_until(is_room);
        const auto memory = memory_;
        std::int64_t& place = memory->slots[ticket_->slot][index(slice)];
        compute_.submit({nullptr, 0, some_time(900), [memory, &place] { place = in_flux; },
                         [memory, &place, id = id_] { place = id; }});
    }

    void publish(std::uint64_t value) {
        written_issued_ = std::max(written_issued_, value + 1);  // the ticket continues with this value
        compute_.submit({nullptr, 0, {}, {}, [timeline = written_, value] { timeline->signal(value); }});
    }

    void abandon() {
        if (!ticket_) return;
        publish(ticket_->signal);
        ring_->abandon(*ticket_);
        ticket_.reset();
    }

    void settle() {
        const auto is_done = [this] { return compute_.is_empty(); };
        wait_until(is_done);
    }

    Threads::Clock::duration some_time(int max_us) {
        return std::chrono::microseconds(static_cast<int>(max_us * world_.threads.any()));
    }

    template <class Condition>
    void wait_until(const Condition& is_so) {
        std::mutex none;
        std::condition_variable_any never;
        std::unique_lock lock(none);
        world_.threads.wait(lock, never, {}, world_.threads.now() + 10min, is_so);
        world_.expect(is_so(), "a GPU does not come to its end");
    }

    // ---- the GPUs

    void work(const std::stop_token& stop) {
        while (!stop.stop_requested() || !compute_.is_empty() || !graphics_.is_empty()) {
            compute_.advance();
            graphics_.advance();
            world_.threads.sleep(200us);
        }
    }

    // ---- the viewer

    void look(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            world_.threads.sleep(some_time(12000), stop);
            if (graphics_.size() >= max_in_flight) continue;
            const std::optional<ReadTicket> ticket = ring_->acquire_read();
            if (!ticket) continue;
            world_.expect(ticket->wait <= ring_->written_submitted(), "a picture waits for what was never submitted");
            expect_volumes(*ticket);
            const std::int64_t id = ids_[ticket->newest.slot];
            const std::int64_t previous = ticket->previous ? ids_[ticket->previous->slot] : nothing;
            const bool is_whole = ticket->newest.filled_to == blocks_a_volume;
            if (is_whole && id < seen_) world_.fail(fmt::format("volume {} is shown after volume {}", id, seen_));
            is_looked_at_ = true;  // the ring must not be replaced
            world_.threads.sleep(some_time(world_.happens(0.1) ? 10000 : 500));
            is_looked_at_ = false;
            if (world_.happens(0.1)) {
                ring_->abandon(*ticket);
                continue;
            }
            if (is_whole) seen_ = id;
            draw(*ticket, id, previous);
            ring_->submitted(*ticket);
            ++pictures;
        }
    }

    // Checks that the ticket has a whole volume, or a partial one with a whole one behind it.
    void expect_volumes(const ReadTicket& ticket) const {
        const bool is_whole = ticket.newest.filled_to == blocks_a_volume;
        world_.expect(ticket.newest.filled_to > 0, "a picture shows a volume of which nothing is there");
        world_.expect(is_whole || publishing_ == Publishing::rolling, "a picture shows a part of a volume");
        world_.expect(!ticket.previous || ticket.previous->filled_to == blocks_a_volume,
                      "a picture shows parts of two volumes");
    }

    // Checks that slots keep the volumes they had when the ticket was issued.
    void draw(const ReadTicket& ticket, std::int64_t id, std::int64_t previous) {
        struct Part {
            std::size_t slot;
            std::int64_t filled_to, id;
        };
        std::vector<Part> parts{{ticket.newest.slot, ticket.newest.filled_to, id}};
        if (ticket.previous) parts.push_back({ticket.previous->slot, ticket.previous->filled_to, previous});
        const auto look = [this, parts, memory = memory_](const char* when) {
            for (const Part& part : parts) {
                for (std::int64_t i = 0; i < part.filled_to; ++i) {
                    const std::int64_t found = memory->slots[part.slot][index(i)];
                    if (!(found == part.id || memory->is_lost))
                        world_.fail(
                            fmt::format("a picture {} sees {} in slice {} of volume {}", when, found, i, part.id));
                }
            }
        };
        graphics_.submit({written_.get(), ticket.wait, some_time(world_.happens(0.1) ? 60000 : 3000),
                          [look] { look("that begins"); },
                          [this, look, timeline = read_, ticket] {
                              look("that ends");
                              timeline->signal(ticket.signal);
                              shown(ticket.newest.stamp.volume);
                          }});
    }

    World& world_;
    Publishing publishing_;
    std::unique_ptr<VolumeRing> ring_;
    std::shared_ptr<SimulatedTimeline> written_, read_;
    std::shared_ptr<Memory> memory_;
    std::vector<std::int64_t> ids_;  // ids of the volumes in the slots, by ticket
    SimulatedQueue compute_{world_}, graphics_{world_};
    std::uint64_t written_issued_ = 0;
    std::optional<WriteTicket> ticket_;
    std::int64_t volume_ = -1, next_ = 0, id_ = nothing, last_id_ = 0;
    std::int64_t seen_ = nothing;                     // id of the last whole volume in a picture
    bool is_looked_at_ = false;                       // a read ticket is outstanding
    bool is_changed_ = false, is_restarted_ = false;  // each allows one volume that is not newer
    std::optional<double> wanted_;
    LiveThread gpus_, viewer_;
};

}  // namespace echolux::test
