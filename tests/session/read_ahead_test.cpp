// Time points that are read ahead: their order, the memory budget, jumps and faults. The reader belongs to the test: it
// counts reads, and each read ends on demand.
#include "engine/offline/series.h"

#include <gmock/gmock.h>

#include <semaphore>

#include "await.h"
#include "compute/error.h"

namespace echolux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t volume_bytes = 100;

Volume volume_of(std::int64_t step) {
    Volume volume;
    volume.voxels.assign(volume_bytes, static_cast<std::byte>(step));
    return volume;
}

class AheadTest : public ::testing::Test {
  protected:
    ~AheadTest() override {
        is_free_ = true;
        go_on_.release(1000);
        ahead_.reset();
    }

    void make(std::int64_t steps, std::int64_t volumes_in_budget) {
        budget_ = volumes_in_budget * volume_bytes;
        ahead_ = std::make_unique<ReadAhead>(
            steps, budget_, std::pair(std::int64_t{0}, volume_of(0)), [this](std::int64_t step) {
                begun_.release();
                if (!is_free_) go_on_.acquire();
                const std::scoped_lock lock(mutex_);
                read_.push_back(step);
                if (const ReadAhead* made = made_) max_bytes_ = std::max(max_bytes_, made->bytes() + volume_bytes);
                if (bad_.contains(step)) throw Error(ErrorCode::bad_file, "is damaged", "t" + std::to_string(step));
                return volume_of(step);
            });
        made_ = ahead_.get();
    }

    // Completes one read and waits until it is in memory or known to be bad.
    void read_one() {
        begun_.acquire();
        const std::size_t before = reads();
        go_on_.release();
        AWAIT(reads() != before);
        AWAIT(ahead_->volume(last_read()));
    }
    void wait_for_a_read() {
        begun_.acquire();
        begun_.release();
    }
    void read_some(int count) {
        for (int i = 0; i < count; ++i) read_one();
    }

    std::size_t reads() {
        const std::scoped_lock lock(mutex_);
        return read_.size();
    }
    std::int64_t last_read() {
        const std::scoped_lock lock(mutex_);
        return read_.back();
    }
    std::vector<std::int64_t> order() {
        const std::scoped_lock lock(mutex_);
        return read_;
    }

    std::int64_t budget_ = 0;
    std::mutex mutex_;
    std::vector<std::int64_t> read_;
    std::set<std::int64_t> bad_;
    std::int64_t max_bytes_ = 0;
    std::atomic<bool> is_free_ = false;
    std::atomic<const ReadAhead*> made_ = nullptr;  // valid also during destruction
    std::counting_semaphore<> begun_{0}, go_on_{0};
    std::unique_ptr<ReadAhead> ahead_;
};

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const std::vector<Interval>& intervals) {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const Interval& one : intervals) pairs.emplace_back(one.begin, one.end);
    return pairs;
}

TEST_F(AheadTest, ReadsInOrderOfPlayback) {
    make(6, 100);
    read_some(5);
    EXPECT_THAT(order(), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(pairs(ahead_->ready()), ElementsAre(std::pair(0, 6)));
    for (std::int64_t step = 0; step < 6; ++step) {
        EXPECT_EQ((**ahead_->volume(step)).voxels, volume_of(step).voxels) << "step " << step;
    }
}

TEST_F(AheadTest, ReadsBackwardsAndWrapsAround) {
    make(10, 100);
    wait_for_a_read();
    ahead_->want(3, -1, {2, 6});
    read_some(5);
    EXPECT_THAT(order(), ElementsAre(1, 3, 2, 5, 4));
}

TEST_F(AheadTest, StaysWithinBudget) {
    make(20, 4);
    is_free_ = true;
    go_on_.release(1);
    for (std::int64_t step = 0; step < 60; ++step) {
        ahead_->want(step % 20, 1, {0, 20});
        AWAIT(ahead_->volume(step % 20));
        EXPECT_LE(ahead_->bytes(), budget_);
    }
    const std::scoped_lock lock(mutex_);
    EXPECT_EQ(max_bytes_, budget_) << "with the one that is being read; all of the budget is used";
}

TEST_F(AheadTest, DropsFarthestStepWhenFull) {
    make(10, 3);
    read_some(2);
    EXPECT_THAT(pairs(ahead_->ready()), ElementsAre(std::pair(0, 3)));
    ahead_->want(1, 1, {0, 10});
    read_one();  // reads 3, drops 0
    EXPECT_THAT(pairs(ahead_->ready()), ElementsAre(std::pair(1, 4)));
}

TEST_F(AheadTest, KeepsAtLeastOneVolume) {
    make(3, 0);
    ahead_->want(2, 1, {0, 3});
    read_one();
    EXPECT_THAT(pairs(ahead_->ready()), ElementsAre(std::pair(2, 3)));
}

// One read is in progress when the jump comes; the other pending ones are cancelled.
TEST_F(AheadTest, JumpCancelsUnneededReads) {
    make(100, 10);
    wait_for_a_read();
    ahead_->want(50, 1, {0, 100});
    read_some(4);
    EXPECT_THAT(order(), ElementsAre(1, 50, 51, 52));
}

TEST_F(AheadTest, ReportsDamagedStepOnceAndSkipsIt) {
    bad_ = {2};
    make(5, 100);
    read_some(4);
    EXPECT_THAT(order(), ElementsAre(1, 2, 3, 4));
    ASSERT_TRUE(ahead_->volume(2));
    EXPECT_EQ(*ahead_->volume(2), nullptr);
    EXPECT_THAT(pairs(ahead_->ready()), ElementsAre(std::pair(0, 2), std::pair(3, 5)));
    EXPECT_THAT(ahead_->take_problems(), ElementsAre(HasSubstr("time point 3: t2: is damaged")));
    ahead_->want(2, 1, {0, 5});
    EXPECT_THAT(ahead_->take_problems(), ElementsAre());
}

TEST_F(AheadTest, EndsDuringRead) {
    constexpr std::size_t pending = 20000;
    make(pending, pending);
    begun_.acquire();
    std::atomic<bool> begins_to_end = false, has_ended = false;
    std::jthread ends([&] {
        begins_to_end = true;
        ahead_.reset();
        has_ended = true;
    });
    AWAIT(begins_to_end.load());
    // Completes reads one by one, far fewer than are pending.
    for (std::size_t let_go = 1; !has_ended && let_go < pending / 2; ++let_go) {
        go_on_.release();
        AWAIT(has_ended || reads() >= let_go);
    }
    EXPECT_TRUE(has_ended) << "it reads what nobody wants any more";
    is_free_ = true;
    go_on_.release(pending);
    ends.join();
    EXPECT_LT(read_.size(), pending / 2);
}

}  // namespace
}  // namespace echolux
