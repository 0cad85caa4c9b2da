// Slices of the displayed volume that are rewritten in place.
#include <gtest/gtest.h>

#include "compute/error.h"
#include "volume_ring_writes.h"

namespace echolux::test {
namespace {

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
