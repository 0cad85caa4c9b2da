// How much of a picture fits into a submission: learned, doubted and forgotten.
#include "render/raycaster.h"

#include <gtest/gtest.h>

namespace echolux::test {
namespace {

// Dense tissue after empty space: the speed learned in one is not trusted for the other.
TEST(Paces, AreDoubtedWithinLimitOfSlowDevice) {
    Pace pace;
    pace.learn(1e6, 1e-3, 0);  // 1 ns
    pace.doubt(8);
    EXPECT_NEAR(pace.seconds(1), 8e-9, 1e-12);
    pace.learn(1e6, 9e-3, 0);
    pace.doubt(8);
    EXPECT_NEAR(pace.seconds(1), 1e-8, 1e-12);
    pace.learn(1, 1e-6, 0);
    pace.doubt(8);
    EXPECT_NEAR(pace.seconds(1), 1e-6, 1e-12);
}

TEST(Paces, StayConstantForEqualPictures) {
    Pace pace;
    pace.learn(1e6, 1e-6, 0);  // 1 ps
    for (int turn = 0; turn < 40; ++turn) {
        pace.doubt(8);
        EXPECT_LE(pace.seconds(1), 8.1e-12) << turn;
        pace.learn(1e6, 1e-6, 0.25);
    }
}

}  // namespace
}  // namespace echolux::test
