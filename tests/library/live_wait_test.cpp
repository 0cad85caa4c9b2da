// The end of a session waits for work in progress, but not for volumes that wait for room.
#include <atomic>

#include "sessions.h"
#include "tests/unit/await.h"

namespace echolux::test {
namespace {

// A stage that takes as long as the test wants, and counts its calls.
struct Slow {
    std::atomic<int> begun = 0, ended = 0;
    std::atomic<bool> may_end = false;

    static int stage(void* user, const echolux_staged*) {
        auto& counts = *static_cast<Slow*>(user);
        ++counts.begun;
        becomes_true([&] { return counts.may_end.load(); });
        ++counts.ended;
        return 0;
    }
    echolux_stages stages() {
        auto stages = lux::make<echolux_stages>();
        stages.voxels = stage;
        stages.user = this;
        return stages;
    }
};

TEST(LibraryLive, WaitsForWorkInProgress) {
    const Size size;
    const auto spectra = fringes(size);
    Slow slow;
    const echolux_stages stages = slow.stages();
    echolux_live_options wanted = options(ECHOLUX_NEWEST);
    wanted.stages = &stages;
    lux::Live live = lux::Live::create(described(size), wanted);
    EXPECT_TRUE(live.wait(0)) << "nothing was acquired";
    live.start();
    ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
    AWAIT(slow.begun > 0);
    EXPECT_FALSE(live.wait(1));
    live.stop();
    EXPECT_FALSE(live.wait(1));
    slow.may_end = true;
    EXPECT_TRUE(live.wait(soon));
    EXPECT_EQ(slow.ended, slow.begun);
    EXPECT_TRUE(live.next(0)) << "and can be taken";
    EXPECT_EQ(status_of([&] { live.wait(-1); }), ECHOLUX_BAD_ARGUMENT);
}

TEST(LibraryLive, DoesNotWaitForBlocksWithoutRoom) {
    const Size size;
    const auto spectra = fringes(size);
    echolux_live_options wanted = options(ECHOLUX_EVERY);
    wanted.queue = 1;
    lux::Live live = lux::Live::create(described(size), wanted);
    live.start();
    int pushed = 0;
    while (pushed < 100 && live.push(block_of(spectra, size, 0, 6), 300)) ++pushed;
    live.stop();
    EXPECT_TRUE(live.wait(soon));
    int taken = 0;
    while (live.next(1000)) ++taken;
    EXPECT_GE(taken, 2);
}

TEST(LibraryLive, CallbackCannotWaitForItself) {
    struct Heard {
        std::atomic<echolux_live*> live = nullptr;
        std::atomic<int> status = -1;
    } heard;
    auto wanted = options(ECHOLUX_EVERY);
    wanted.user = &heard;
    wanted.finished = [](void* user, echolux_volume* structure, echolux_volume*) {
        const lux::Volume volume(structure);
        auto& to = *static_cast<Heard*>(user);
        to.status = echolux_live_wait(to.live, soon, nullptr);
    };
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), wanted);
    heard.live = live.get();
    live.start();
    ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
    AWAIT(heard.status >= 0);
    EXPECT_EQ(heard.status, ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
