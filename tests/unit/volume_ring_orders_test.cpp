// The ring between two imaginary devices that execute what tickets allow, each in its own order and with any delay.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "compute/indexing.h"
#include "volume_ring_writes.h"

namespace echolux::test {
namespace {

struct Writing {
    std::size_t slot;
    std::uint64_t serial, wait, signal;  // wait: only before the first slice
    std::int64_t first, end;
    bool is_last;
};

struct Reading {
    ReadTicket ticket;
    bool has_begun = false;
};

// Both queues are in order, like streams and queues of GPUs. Slices of a volume are written one at a time, so that a
// picture may fall between any two.
class Machine {
  public:
    Machine(std::size_t slots, Publishing publishing, std::size_t keeps, std::uint64_t seed)
        : ring_(slots, slices, publishing, keeps), held_(slots + keeps, std::vector<std::uint64_t>(slices, 0)),
          rolling_(publishing == Publishing::rolling), random_(seed) {}

    // Performs one random possible action.
    void step() {
        switch (random_() % 10) {
            case 0: begin_volume(); break;
            case 1: hand_over(); break;
            case 2: abandon_volume(); break;
            case 3: begin_picture(); break;
            case 4: end_picture(); break;
            case 5:
            case 6: execute_writing(); break;
            case 7: rewrite(); break;
            case 8: hold_or_release(); break;
            default: execute_reading();
        }
    }

    // Executes all submitted work: nothing waits for a value that is never signalled.
    void drain() {
        if (read_) end_picture();
        for (int rounds = 0; !writings_.empty() || !readings_.empty(); ++rounds) {
            ASSERT_LT(rounds, 100000) << "a wait for a value that nobody signals";
            execute_writing();
            execute_reading();
        }
        EXPECT_GT(pictures_, 0);
    }

    const VolumeRing& ring() const { return ring_; }
    std::int64_t dropped() const { return dropped_; }
    bool failed() const { return testing::Test::HasFailure(); }

  private:
    void begin_volume() {
        if (write_) return;
        write_ = ring_.acquire_write(stamp(++volumes_));
        if (!write_) {
            ++dropped_;
            return;
        }
        EXPECT_LE(write_->wait, read_submitted_) << "waits for a picture that is not submitted";
        handed_over_ = 0;
        first_of_volume_ = true;
    }

    void hand_over() {
        if (!write_) return;
        const std::int64_t to = handed_over_ + 1 + static_cast<std::int64_t>(random_() % 4);
        const std::int64_t end = std::min(to, slices);
        EXPECT_GT(write_->signal, written_submitted_) << "values must grow";
        written_submitted_ = write_->signal;
        submit_writing(end, write_->signal);
        handed_over_ = end;
        ring_.hand_over(*write_, end);
        if (end == slices) {
            newest_ = volumes_;
            write_.reset();
        }
    }

    // Submits slices, but not their signal.
    void abandon_volume() {
        if (!write_ || random_() % 4 != 0) return;
        if (handed_over_ < slices) submit_writing(handed_over_ + 1, 0);
        ring_.abandon(*write_);
        write_.reset();
    }

    // Rewrites all slices of the newest volume at once.
    void rewrite() {
        if (write_) return;
        write_ = ring_.acquire_rewrite(newest_);
        if (!write_) return;
        EXPECT_LE(write_->wait, read_submitted_) << "waits for a picture that is not submitted";
        EXPECT_GT(write_->signal, written_submitted_) << "values must grow";
        handed_over_ = 0;
        first_of_volume_ = true;
        written_submitted_ = write_->signal;
        submit_writing(slices, write_->signal);
        ring_.hand_over_rewrite(*write_);
        write_.reset();
    }

    void submit_writing(std::int64_t end, std::uint64_t signal) {
        for (std::int64_t slice = handed_over_; slice < end; ++slice) {
            writings_.push_back({write_->slot, write_->serial, first_of_volume_ ? write_->wait : 0,
                                 slice + 1 == end ? signal : 0, slice, slice + 1, slice + 1 == end});
            first_of_volume_ = false;
        }
    }

    // Held volumes stay available until they are released.
    void hold_or_release() {
        if (random_() % 8 != 0) return;
        if (!holds_)
            ring_.hold();
        else
            ring_.release();
        holds_ = !holds_;
        kept_ = ring_.kept();
    }

    // Begins a picture of the newest volume, or of a held one.
    void begin_picture() {
        if (read_) return;
        if (holds_ && !kept_.empty() && random_() % 2 == 0) {
            const RecentVolume& volume = kept_[random_() % kept_.size()];
            read_ = ring_.acquire_read(volume.serial);
            ASSERT_TRUE(read_) << "volume " << volume.stamp.volume << " is gone";
            EXPECT_EQ(read_->newest.stamp.volume, volume.stamp.volume);
        } else {
            read_ = ring_.acquire_read();
        }
        if (!read_) return;
        EXPECT_LE(read_->wait, written_submitted_) << "waits for slices that are not submitted";
        EXPECT_TRUE(rolling_ || (!read_->previous && read_->newest.filled_to == slices));
    }

    void end_picture() {
        if (!read_) return;
        if (random_() % 5 == 0) {
            ring_.abandon(*read_);
        } else {
            EXPECT_GT(read_->signal, read_submitted_) << "values must grow";
            read_submitted_ = read_->signal;
            readings_.push_back({*read_});
            ring_.submitted(*read_);
        }
        read_.reset();
    }

    void execute_writing() {
        if (writings_.empty() || writings_.front().wait > read_value_) return;
        const Writing work = writings_.front();
        writings_.pop_front();
        for (const Reading& reading : readings_) {
            if (reading.has_begun) expect_untouched(reading.ticket, work);
        }
        held_[work.slot][index(work.first)] = work.serial;
        if (work.signal == 0) return;
        EXPECT_GT(work.signal, written_value_);
        written_value_ = work.signal;
    }

    void expect_untouched(const ReadTicket& ticket, const Writing& work) {
        const auto reads = [&](const ReadTicket::Part& part) {
            return part.slot == work.slot && work.first < part.filled_to;
        };
        EXPECT_FALSE(reads(ticket.newest) || (ticket.previous && reads(*ticket.previous)))
            << "slice " << work.first << " of slot " << work.slot << " is written while it is read";
    }

    // Takes two steps, so that writes may fall between them.
    void execute_reading() {
        if (readings_.empty()) return;
        Reading& reading = readings_.front();
        if (!reading.has_begun) {
            if (reading.ticket.wait > written_value_) return;
            reading.has_begun = true;
            return;
        }
        expect_held(reading.ticket.newest);
        if (reading.ticket.previous) expect_held(*reading.ticket.previous);
        EXPECT_GT(reading.ticket.signal, read_value_);
        read_value_ = reading.ticket.signal;
        ++pictures_;
        readings_.pop_front();
    }

    void expect_held(const ReadTicket::Part& part) {
        for (std::int64_t slice = 0; slice < part.filled_to; ++slice) {
            EXPECT_EQ(held_[part.slot][index(slice)], part.serial)
                << "slot " << part.slot << " holds another volume at slice " << slice;
        }
    }

    VolumeRing ring_;
    std::vector<std::vector<std::uint64_t>> held_;  // serial of the volume in each slice of each slot
    bool rolling_;
    std::mt19937_64 random_;
    std::optional<WriteTicket> write_;
    std::optional<ReadTicket> read_;
    std::int64_t handed_over_ = 0;
    bool first_of_volume_ = true;
    std::deque<Writing> writings_;
    std::deque<Reading> readings_;
    std::uint64_t written_submitted_ = 0, read_submitted_ = 0;
    std::uint64_t written_value_ = 0, read_value_ = 0;
    bool holds_ = false;
    std::vector<RecentVolume> kept_;  // as of the last hold() or release()
    std::int64_t newest_ = -1;        // the newest published volume
    std::int64_t volumes_ = 0, dropped_ = 0, pictures_ = 0;
};

void run(std::size_t slots, Publishing publishing, std::size_t keeps, std::uint64_t seed) {
    SCOPED_TRACE(testing::Message() << slots << " slots, " << keeps << " kept, seed " << seed);
    Machine machine(slots, publishing, keeps, seed);
    for (int step = 0; step < 2000 && !machine.failed(); ++step) machine.step();
    machine.drain();
    EXPECT_EQ(machine.ring().statistics().dropped, machine.dropped());
}

TEST(VolumeRing, KeepsInvariantsInAnyOrderOfExecution) {
    for (const Publishing publishing : {Publishing::whole, Publishing::rolling}) {
        for (std::size_t slots = 2; slots <= 5; ++slots) {
            for (std::uint64_t seed = 0; seed < 100 && !HasFailure(); ++seed) run(slots, publishing, 0, seed);
        }
    }
}

TEST(VolumeRing, KeepsInvariantsWithKeptVolumes) {
    for (const Publishing publishing : {Publishing::whole, Publishing::rolling}) {
        for (std::size_t keeps = 1; keeps <= 5; keeps += 2) {
            for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) run(3, publishing, keeps, seed);
        }
    }
}

}  // namespace
}  // namespace echolux::test
