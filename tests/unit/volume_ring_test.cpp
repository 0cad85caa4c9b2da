// Tickets, counts and refusals of the ring without a device. volume_ring_orders_test uses two imaginary devices.
#include "engine/live/volume_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include "await.h"
#include "compute/error.h"
#include "volume_ring_writes.h"

namespace echolux::test {
namespace {

TEST(VolumeRing, HasNoPictureBeforeFirstVolume) {
    VolumeRing ring(3, slices, Publishing::whole);
    EXPECT_FALSE(ring.acquire_read());
    WriteTicket ticket = ring.acquire_write(stamp(7)).value();
    EXPECT_EQ(ticket.wait, 0u);
    ring.hand_over(ticket, slices / 2);
    EXPECT_FALSE(ring.acquire_read());
    const std::uint64_t last = ticket.signal;
    ring.hand_over(ticket, slices);
    const ReadTicket read = ring.acquire_read().value();
    EXPECT_EQ(read.newest.stamp.volume, 7);
    EXPECT_EQ(read.newest.filled_to, slices);
    EXPECT_FALSE(read.previous);
    EXPECT_EQ(read.wait, last);
}

TEST(VolumeRing, DoesNotReuseSlotOfUnsubmittedPicture) {
    VolumeRing ring(2, slices, Publishing::whole);
    const WriteTicket first = publish(ring, 0);
    const ReadTicket read = ring.acquire_read().value();
    const WriteTicket second = publish(ring, 1);
    EXPECT_NE(first.slot, second.slot);
    EXPECT_FALSE(ring.acquire_write(stamp(2)));  // one is the newest, one is about to be read
    ring.submitted(read);
    const WriteTicket third = ring.acquire_write(stamp(3)).value();
    EXPECT_EQ(third.slot, first.slot);
    EXPECT_EQ(third.wait, read.signal);
    EXPECT_EQ(ring.statistics().dropped, 1);
}

TEST(VolumeRing, DoesNotWaitForAbandonedPicture) {
    VolumeRing ring(2, slices, Publishing::whole);
    const WriteTicket first = publish(ring, 0);
    const ReadTicket read = ring.acquire_read().value();
    publish(ring, 1);
    ring.abandon(read);
    const WriteTicket third = ring.acquire_write(stamp(2)).value();
    EXPECT_EQ(third.slot, first.slot);
    EXPECT_EQ(third.wait, 0u);
    const ReadTicket next = ring.acquire_read().value();
    EXPECT_GT(next.signal, read.signal);
}

TEST(VolumeRing, AbandonedVolumeIsNeverSeen) {
    VolumeRing ring(3, slices, Publishing::rolling);
    publish(ring, 0);
    WriteTicket ticket = ring.acquire_write(stamp(1)).value();
    ring.hand_over(ticket, 2);
    ring.abandon(ticket);
    const ReadTicket read = ring.acquire_read().value();
    EXPECT_EQ(read.newest.stamp.volume, 0);
    EXPECT_FALSE(read.previous);
    const WriteTicket next = ring.acquire_write(stamp(2)).value();
    EXPECT_GT(next.signal, ticket.signal);
    EXPECT_EQ(ring.statistics().abandoned, 1);
}

TEST(VolumeRing, RollingShowsNewSlicesBelowOldOnes) {
    VolumeRing ring(4, slices, Publishing::rolling);
    const WriteTicket old = publish(ring, 0);
    WriteTicket ticket = ring.acquire_write(stamp(1)).value();
    ReadTicket read = ring.acquire_read().value();
    EXPECT_EQ(read.newest.slot, old.slot);  // nothing new yet
    ring.submitted(read);
    const std::uint64_t first_batch = ticket.signal;
    ring.hand_over(ticket, 3);
    read = ring.acquire_read().value();
    EXPECT_EQ(read.newest.slot, ticket.slot);
    EXPECT_EQ(read.newest.filled_to, 3);
    EXPECT_EQ(read.wait, first_batch);
    ASSERT_TRUE(read.previous);
    EXPECT_EQ(read.previous->slot, old.slot);
    EXPECT_EQ(read.previous->filled_to, slices);
    ring.submitted(read);
    ring.hand_over(ticket, slices);
    read = ring.acquire_read().value();
    EXPECT_EQ(read.newest.stamp.volume, 1);
    EXPECT_FALSE(read.previous);
}

TEST(VolumeRing, CountsShownAndLateVolumes) {
    VolumeRing ring(4, slices, Publishing::whole);
    for (std::int64_t volume = 0; volume < 3; ++volume) publish(ring, volume);
    for (int picture = 0; picture < 2; ++picture) ring.submitted(ring.acquire_read().value());
    publish(ring, 3);
    const RingStatistics counted = ring.statistics();
    EXPECT_EQ(counted.published, 4);
    EXPECT_EQ(counted.late, 2);
    EXPECT_EQ(counted.shown, 1);
    EXPECT_EQ(counted.pictures, 2);
    EXPECT_EQ(counted.dropped, 0);
}

TEST(VolumeRing, RefusesInvalidCalls) {
    EXPECT_THROW(VolumeRing(1, slices, Publishing::whole), Error);
    EXPECT_THROW(VolumeRing(2, 0, Publishing::whole), Error);
    VolumeRing ring(3, slices, Publishing::whole);
    WriteTicket ticket = ring.acquire_write(stamp(0)).value();
    EXPECT_THROW(ring.acquire_write(stamp(1)), Error);
    ring.hand_over(ticket, 4);
    EXPECT_THROW(ring.hand_over(ticket, 4), Error);
    EXPECT_THROW(ring.hand_over(ticket, slices + 1), Error);
    ring.hand_over(ticket, slices);
    EXPECT_THROW(ring.hand_over(ticket, slices), Error);
    EXPECT_THROW(ring.abandon(ticket), Error);
    const ReadTicket read = ring.acquire_read().value();
    EXPECT_THROW(ring.acquire_read(), Error);
    ring.submitted(read);
    EXPECT_THROW(ring.submitted(read), Error);
}

TEST(VolumeRing, HoldsVolumesOfOneSlice) {
    VolumeRing ring(2, 1, Publishing::rolling);
    WriteTicket ticket = ring.acquire_write(stamp(3)).value();
    ring.hand_over(ticket, 1);
    EXPECT_EQ(ring.acquire_read()->newest.stamp.volume, 3);
}

TEST(VolumeRing, RollingShowsFirstSlice) {
    VolumeRing ring(3, slices, Publishing::rolling);
    WriteTicket ticket = ring.acquire_write(stamp(0)).value();
    EXPECT_FALSE(ring.acquire_read());
    ring.hand_over(ticket, 1);
    EXPECT_EQ(ring.acquire_read()->newest.filled_to, 1);
}

TEST(VolumeRing, EachTicketHasUniqueSerial) {
    VolumeRing ring(2, slices, Publishing::whole);
    std::uint64_t last = 0;
    for (std::int64_t volume = 0; volume < 5; ++volume) {
        const std::uint64_t serial = publish(ring, volume).serial;
        EXPECT_GT(serial, last);
        const ReadTicket read = ring.acquire_read().value();
        EXPECT_EQ(read.newest.serial, serial);
        ring.abandon(read);
        last = serial;
    }
    EXPECT_GT(ring.acquire_rewrite(4)->serial, last);
}

TEST(VolumeRing, OnlyNewestIsWrittenAgain) {
    VolumeRing ring(3, slices, Publishing::whole);
    EXPECT_FALSE(ring.acquire_rewrite(0)) << "there is none";
    publish(ring, 0);
    publish(ring, 1);
    EXPECT_FALSE(ring.acquire_rewrite(0));
    EXPECT_TRUE(ring.acquire_rewrite(1));
}

// Ended tickets are refused: after being abandoned, or as a ticket of another kind.
TEST(VolumeRing, RefusesEndedTickets) {
    VolumeRing ring(3, slices, Publishing::whole);
    publish(ring, 0);
    WriteTicket given_up = ring.acquire_write(stamp(1)).value();
    EXPECT_THROW(ring.acquire_rewrite(0), Error) << "one volume is written at a time";
    EXPECT_THROW(ring.hand_over_rewrite(given_up), Error) << "it is not written again";
    ring.abandon(given_up);
    EXPECT_THROW(ring.hand_over(given_up, slices), Error);
    EXPECT_THROW(ring.abandon(given_up), Error);
    WriteTicket again = ring.acquire_rewrite(0).value();
    EXPECT_THROW(ring.hand_over(again, slices), Error) << "it is published when rewriting ends";
    ring.abandon(again);
    EXPECT_THROW(ring.hand_over_rewrite(again), Error);
    EXPECT_THROW(ring.abandon(again), Error);
    EXPECT_EQ(ring.statistics().abandoned, 1) << "what is written again stays";
}

TEST(VolumeRing, RefusesEndedPictures) {
    VolumeRing ring(3, slices, Publishing::whole);
    publish(ring, 0);
    EXPECT_THROW(ring.submitted(ReadTicket{}), Error) << "none was begun";
    const ReadTicket first = ring.acquire_read().value();
    ring.submitted(first);
    EXPECT_EQ(ring.read_submitted(), first.signal);
    ring.acquire_read();
    EXPECT_THROW(ring.submitted(first), Error);
    EXPECT_THROW(ring.abandon(first), Error);
}

TEST(VolumeRing, CountsHandOvers) {
    VolumeRing ring(3, slices, Publishing::rolling);
    WriteTicket ticket = ring.acquire_write(stamp(0)).value();
    for (const std::int64_t to : {2, 5, 8}) ring.hand_over(ticket, to);
    EXPECT_EQ(ring.statistics().handed_over, 3);
    ring.hand_over_rewrite(ring.acquire_rewrite(0).value());
    EXPECT_EQ(ring.statistics().handed_over, 4);
    EXPECT_EQ(ring.statistics().published, 1);
}

// A volume is late if it is replaced before a picture of it is submitted, even if one was begun.
TEST(VolumeRing, AbandonedPictureShowsNoVolume) {
    VolumeRing ring(4, slices, Publishing::rolling);
    const auto late_after = [&](const auto& meanwhile) {
        const ReadTicket read = ring.acquire_read().value();
        meanwhile();
        ring.abandon(read);
        return ring.statistics().late;
    };
    publish(ring, 0);
    EXPECT_EQ(late_after([] {}), 0) << "it is the newest still";
    EXPECT_EQ(late_after([&] { publish(ring, 1); }), 1);
    ring.submitted(ring.acquire_read().value());
    EXPECT_EQ(late_after([&] { publish(ring, 2); }), 1) << "another picture has shown it";
    WriteTicket ticket = ring.acquire_write(stamp(3)).value();
    ring.hand_over(ticket, 3);
    EXPECT_EQ(late_after([] {}), 1) << "it is not whole, and the one behind it the newest";
    EXPECT_EQ(late_after([&] { ring.abandon(ticket); }), 1) << "it was never whole";
    EXPECT_EQ(ring.statistics().shown, 1);
}

// A late volume stays late, even if it is read later, in a submitted or an abandoned picture.
TEST(VolumeRing, UnseenVolumeStaysLate) {
    VolumeRing ring(4, slices, Publishing::whole, 3);
    for (std::int64_t volume = 0; volume < 3; ++volume) publish(ring, volume);
    EXPECT_EQ(ring.statistics().late, 2);
    const std::vector<RecentVolume> kept = ring.kept();
    ring.abandon(ring.acquire_read(kept[0].serial).value());
    ring.submitted(ring.acquire_read(kept[1].serial).value());
    EXPECT_EQ(ring.statistics().late, 2);
    EXPECT_EQ(ring.statistics().shown, 0);
    for (std::int64_t volume = 3; volume < 20; ++volume) publish(ring, volume);
    EXPECT_EQ(ring.statistics().late, 19) << "each of the volumes in a slot is counted again";
}

TEST(VolumeRing, CopyToHostIsNotShown) {
    VolumeRing ring(2, slices, Publishing::whole);
    const std::size_t first = publish(ring, 0).slot;
    const ReadTicket copy = ring.acquire_read().value();
    publish(ring, 1);
    EXPECT_EQ(ring.statistics().late, 0) << "nobody knows yet whether this is a picture";
    ring.copied(copy);
    EXPECT_EQ(ring.statistics().late, 1);
    EXPECT_EQ(ring.statistics().shown, 0);
    EXPECT_EQ(ring.statistics().pictures, 0);
    EXPECT_EQ(ring.read_submitted(), copy.signal);
    const WriteTicket next = ring.acquire_write(stamp(2)).value();
    EXPECT_EQ(next.slot, first);
    EXPECT_EQ(next.wait, copy.signal) << "it is written once the copy is done";
    EXPECT_THROW(ring.copied(copy), Error);
}

// Frames in flight + 2: with two pending pictures nothing is dropped, however slow they are.
TEST(VolumeRing, FourSlotsDropNoVolume) {
    VolumeRing ring(4, slices, Publishing::whole);
    publish(ring, 0);
    for (std::int64_t volume = 1; volume < 100; ++volume) {
        const ReadTicket read = ring.acquire_read().value();
        publish(ring, volume);
        ring.submitted(read);
    }
    EXPECT_EQ(ring.statistics().dropped, 0);
    EXPECT_EQ(ring.statistics().shown, 99);
}

TEST(VolumeRing, WorksWithTwoThreads) {
    VolumeRing ring(3, slices, Publishing::rolling);
    constexpr std::int64_t volumes = 20000;
    std::jthread writer([&] {
        for (std::int64_t volume = 0; volume < volumes; ++volume) {
            std::optional<WriteTicket> ticket = ring.acquire_write(stamp(volume));
            if (!ticket) continue;
            for (std::int64_t to = 4; to <= slices; to += 4) ring.hand_over(*ticket, to);
        }
    });
    std::int64_t last = -1;
    std::int64_t pictures = 0;
    for (TestTimeout timeout; last < volumes - 1 && timeout.lasts();) {
        const std::optional<ReadTicket> read = ring.acquire_read();
        if (!read) continue;
        ASSERT_GE(read->newest.stamp.volume, last) << "time runs backwards";
        ASSERT_LE(read->wait, ring.written_submitted());
        last = read->newest.stamp.volume;
        ring.submitted(*read);
        ++pictures;
        if (ring.statistics().published + ring.statistics().dropped == volumes) break;
    }
    writer.join();
    const RingStatistics counted = ring.statistics();
    EXPECT_EQ(counted.published + counted.dropped, volumes);
    EXPECT_EQ(counted.pictures, pictures);
    EXPECT_LE(counted.shown + counted.late, counted.published + 1);
}

std::vector<std::int64_t> numbers(const std::vector<RecentVolume>& volumes) {
    std::vector<std::int64_t> list;
    for (const RecentVolume& volume : volumes) list.push_back(volume.stamp.volume);
    return list;
}

// Checks that each kept volume can be read: with its own stamp and from its own slot.
void expect_all_readable(VolumeRing& ring, const std::vector<RecentVolume>& volumes) {
    std::set<std::size_t> slots;
    for (const RecentVolume& volume : volumes) {
        const std::optional<ReadTicket> read = ring.acquire_read(volume.serial);
        ASSERT_TRUE(read) << "volume " << volume.stamp.volume;
        EXPECT_EQ(read->newest.stamp.volume, volume.stamp.volume);
        EXPECT_EQ(read->newest.filled_to, slices);
        EXPECT_FALSE(read->previous);
        slots.insert(read->newest.slot);
        ring.submitted(*read);
    }
    EXPECT_EQ(slots.size(), volumes.size());
}

TEST(VolumeRing, KeepsLastVolumesInOrder) {
    for (const Publishing publishing : {Publishing::whole, Publishing::rolling}) {
        VolumeRing ring(4, slices, publishing, 5);
        EXPECT_THAT(ring.kept(), testing::IsEmpty());
        for (std::int64_t volume = 0; volume < 40; ++volume) {
            publish(ring, volume);
            const std::vector<RecentVolume> kept = ring.kept();
            std::vector<std::int64_t> last;
            for (std::int64_t i = std::max<std::int64_t>(0, volume - 4); i <= volume; ++i) last.push_back(i);
            EXPECT_EQ(numbers(kept), last);
            if (volume % 7 == 0) expect_all_readable(ring, kept);
        }
        EXPECT_EQ(ring.statistics().kept, 5);
        EXPECT_EQ(ring.statistics().max_kept, 5);
        EXPECT_EQ(ring.statistics().dropped, 0);
    }
}

TEST(VolumeRing, HeldVolumesStayWhileOthersArrive) {
    VolumeRing ring(4, slices, Publishing::whole, 3);
    for (std::int64_t volume = 0; volume < 5; ++volume) publish(ring, volume);
    const std::vector<RecentVolume> held = ring.kept();
    ring.hold();
    ring.hold();  // a second holder
    for (std::int64_t volume = 5; volume < 30; ++volume) {
        publish(ring, volume);
        EXPECT_EQ(numbers(ring.kept()), (std::vector<std::int64_t>{2, 3, 4}));
        const ReadTicket newest = ring.acquire_read().value();
        EXPECT_EQ(newest.newest.stamp.volume, volume) << "the newest can be seen all the time";
        ring.submitted(newest);
    }
    expect_all_readable(ring, held);
    EXPECT_EQ(ring.statistics().dropped, 0);
    ring.release();
    publish(ring, 30);
    EXPECT_EQ(numbers(ring.kept()), (std::vector<std::int64_t>{2, 3, 4})) << "one still holds them";
    ring.release();
    EXPECT_EQ(numbers(ring.kept()), (std::vector<std::int64_t>{3, 4, 30}));
    publish(ring, 31);
    EXPECT_EQ(numbers(ring.kept()), (std::vector<std::int64_t>{4, 30, 31}));
    EXPECT_FALSE(ring.acquire_read(held.front().serial)) << "it is not kept any more";
    EXPECT_THROW(ring.release(), Error);
}

TEST(VolumeRing, RewrittenVolumeReplacesPrevious) {
    VolumeRing ring(4, slices, Publishing::whole, 3);
    for (const std::int64_t volume : {0, 1, 1, 1}) publish(ring, volume);
    EXPECT_EQ(numbers(ring.kept()), (std::vector<std::int64_t>{0, 1}));
    EXPECT_TRUE(ring.acquire_rewrite(1)) << "the newest is not held";
}

TEST(VolumeRing, HeldVolumesAreNotRewritten) {
    VolumeRing ring(4, slices, Publishing::whole, 3);
    publish(ring, 0);
    ring.hold();
    EXPECT_FALSE(ring.acquire_rewrite(0));
    publish(ring, 1);
    const std::optional<WriteTicket> newer = ring.acquire_rewrite(1);
    ASSERT_TRUE(newer) << "this one passes by";
    EXPECT_TRUE(ring.acquire_read(ring.kept().front().serial)) << "and disturbs no picture of what is held";
}

// ---- volumes that are written again ---------------------------------------------------------------------------------

TEST(VolumeRing, WritesPublishedVolumeAgainInItsPlace) {
    VolumeRing ring(3, slices, Publishing::rolling);
    EXPECT_FALSE(ring.acquire_rewrite(0));
    const WriteTicket first = publish(ring, 0);
    const ReadTicket before = ring.acquire_read().value();
    EXPECT_FALSE(ring.acquire_rewrite(0)) << "a picture of it is being made";
    EXPECT_FALSE(ring.acquire_rewrite(1)) << "it is another one";
    ring.submitted(before);
    const WriteTicket again = ring.acquire_rewrite(0).value();
    EXPECT_EQ(again.slot, first.slot);
    EXPECT_EQ(again.wait, before.signal);
    EXPECT_GT(again.signal, first.signal);
    EXPECT_FALSE(ring.acquire_read()) << "it is being written";
    EXPECT_THROW(ring.acquire_write(stamp(1)), Error);
    ring.hand_over_rewrite(again);
    const ReadTicket after = ring.acquire_read().value();
    EXPECT_EQ(after.newest.stamp.volume, 0);
    EXPECT_EQ(after.newest.filled_to, slices);
    EXPECT_NE(after.newest.serial, before.newest.serial) << "what was made from it is old";
    EXPECT_EQ(after.wait, again.signal);
    ring.submitted(after);
    ring.abandon(ring.acquire_rewrite(0).value());
    EXPECT_EQ(ring.acquire_read().value().newest.filled_to, slices) << "given up, it is still there";
}

}  // namespace
}  // namespace echolux::test
