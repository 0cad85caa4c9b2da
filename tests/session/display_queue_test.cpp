// The newest whole volume wins, and every dropped block is counted.
#include "engine/live/display_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "await.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t b_scans = 4;

Block block(std::int64_t volume, std::int64_t first, std::int64_t count = 1) {
    Block block{.volume = volume, .first_b_scan = first, .b_scans = count};
    return block;
}

void push_volume(DisplayQueue& queue, std::int64_t volume) {
    for (std::int64_t b = 0; b < b_scans; ++b) queue.push(block(volume, b));
}

// Takes all blocks and returns their volumes and first B-scans.
std::vector<std::pair<std::int64_t, std::int64_t>> taken(DisplayQueue& queue) {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    while (const auto one = queue.take(0ms)) all.emplace_back(one->volume, one->first_b_scan);
    return all;
}

// Real threads that count the waits begun. Once `waits` is reached, acquiring the lock implies that the thread is
// waiting.
class WatchedThreads : public Threads {
  public:
    Clock::time_point now() override { return real_threads().now(); }
    LiveThread start(Work work) override { return real_threads().start(std::move(work)); }
    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, const std::stop_token& stop,
              Clock::time_point time, const std::function<bool()>& is_so) override {
        ++waits;
        return real_threads().wait(lock, changed, stop, time, is_so);
    }

    std::atomic<int> waits = 0;
};

void expect_balance(const QueueStats& f) {
    EXPECT_EQ(f.pushed_blocks,
              f.taken_blocks + f.waiting_blocks + f.overtaken_blocks + f.incomplete_blocks + f.given_up_blocks);
}

TEST(DisplayQueue, FinishesCurrentVolumeThenTakesNewest) {
    DisplayQueue queue(b_scans);
    queue.push(block(0, 0));
    EXPECT_EQ(queue.take(0ms)->volume, 0);
    for (std::int64_t b = 1; b < b_scans; ++b) queue.push(block(0, b));
    push_volume(queue, 1);
    push_volume(queue, 2);
    queue.push(block(3, 0));
    EXPECT_EQ(taken(queue), (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {0, 2}, {0, 3}, {3, 0}}));
    const QueueStats f = queue.stats();
    EXPECT_EQ(f.overtaken_blocks, 8);
    EXPECT_EQ(f.overtaken_volumes, 2);
    EXPECT_EQ(f.incomplete_volumes, 0);
    expect_balance(f);
}

TEST(DisplayQueue, SkipsRestOfVolumeWithMissingBlock) {
    DisplayQueue queue(b_scans);
    queue.push(block(0, 0));
    queue.push(block(0, 2));
    queue.push(block(0, 3));
    push_volume(queue, 1);
    EXPECT_EQ(taken(queue), (std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 0}, {1, 1}, {1, 2}, {1, 3}}));
    EXPECT_EQ(queue.stats().incomplete_blocks, 3);
    EXPECT_EQ(queue.stats().incomplete_volumes, 1);
    expect_balance(queue.stats());
}

TEST(DisplayQueue, UnfinishedVolumeIsReplaced) {
    DisplayQueue queue(b_scans);
    queue.push(block(0, 0));
    queue.push(block(0, 1));
    EXPECT_EQ(queue.take(0ms)->first_b_scan, 0);
    push_volume(queue, 1);
    EXPECT_EQ(taken(queue).front(), std::pair(std::int64_t{1}, std::int64_t{0}));
    EXPECT_EQ(queue.stats().incomplete_volumes, 1);
    expect_balance(queue.stats());
}

TEST(DisplayQueue, SkipsVolumeWithoutBeginning) {
    DisplayQueue queue(b_scans);
    for (std::int64_t b = 1; b < b_scans; ++b) queue.push(block(7, b));
    EXPECT_TRUE(taken(queue).empty());
    push_volume(queue, 8);
    EXPECT_EQ(taken(queue).size(), 4u);
    EXPECT_EQ(queue.stats().incomplete_blocks, 3);
    EXPECT_EQ(queue.stats().incomplete_volumes, 1);
    expect_balance(queue.stats());
}

TEST(DisplayQueue, StrayBlockSkipsOnlyIncompleteVolumes) {
    DisplayQueue queue(b_scans);
    push_volume(queue, 0);
    queue.push(block(3, 2));
    EXPECT_EQ(taken(queue).size(), 4u) << "it was whole";
    queue.push(block(4, 0));
    queue.push(block(4, 2));
    EXPECT_TRUE(taken(queue).empty()) << "it cannot become whole";
    EXPECT_EQ(queue.stats().incomplete_volumes, 2);
    expect_balance(queue.stats());
}

TEST(DisplayQueue, IsIdleAfterLastBlockIsDone) {
    DisplayQueue queue(1);
    EXPECT_TRUE(queue.is_idle());
    queue.push(block(0, 0));
    EXPECT_FALSE(queue.is_idle()) << "it waits";
    EXPECT_TRUE(queue.take(0ms));
    EXPECT_FALSE(queue.is_idle()) << "it is worked on";
    EXPECT_FALSE(queue.take(0ms));
    EXPECT_TRUE(queue.is_idle());
}

TEST(DisplayQueue, RecordsLargestNumberOfWaitingBlocks) {
    DisplayQueue queue(b_scans);
    queue.push(block(0, 0));
    EXPECT_TRUE(queue.take(0ms));
    for (std::int64_t b = 1; b < b_scans; ++b) queue.push(block(0, b));
    push_volume(queue, 1);
    EXPECT_EQ(taken(queue).size(), 7u);
    EXPECT_EQ(queue.stats().max_waiting_blocks, 7);
    EXPECT_EQ(queue.stats().waiting_blocks, 0);
}

TEST(DisplayQueue, ResetsWhenCleared) {
    DisplayQueue queue(b_scans);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(queue.stats().pushed_blocks, 0);
        EXPECT_FALSE(queue.take(0ms));
        push_volume(queue, 5);
        EXPECT_TRUE(queue.take(0ms));
        queue.push(block(6, 0));  // begins behind it
        queue.push(block(9, 1));  // a stray block
        EXPECT_EQ(queue.stats().incomplete_volumes, 2) << i;
        queue.close();
        EXPECT_FALSE(queue.take(0ms));
        queue.clear();
    }
}

TEST(DisplayQueue, ClearDropsWaitingBlocks) {
    DisplayQueue queue(b_scans);
    push_volume(queue, 0);
    EXPECT_TRUE(queue.take(0ms));
    push_volume(queue, 1);
    queue.clear();
    EXPECT_FALSE(queue.take(0ms));
    EXPECT_TRUE(queue.is_idle());
    push_volume(queue, 0);
    EXPECT_EQ(taken(queue).size(), 4u);
    EXPECT_EQ(queue.stats().overtaken_volumes, 0);
}

TEST(DisplayQueue, SkipsAbandonedVolume) {
    DisplayQueue queue(b_scans);
    push_volume(queue, 0);
    EXPECT_TRUE(queue.take(0ms));
    queue.abandon_current();
    queue.abandon_current();
    EXPECT_TRUE(taken(queue).empty());
    push_volume(queue, 1);
    EXPECT_EQ(taken(queue).size(), 4u);
    EXPECT_EQ(queue.stats().given_up_blocks, 3);
    expect_balance(queue.stats());
}

// For any order of pushes and takes and any losses: counts balance, at most two volumes wait, and taken blocks are
// consecutive.
TEST(DisplayQueue, CountsBalanceInAnyOrder) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        DisplayQueue queue(b_scans);
        std::int64_t volume = 0, next = 0, last_volume = -1, last_b_scan = -1;
        for (int step = 0; step < 400; ++step) {
            if (random() % 3 != 0) {
                if (random() % 12 != 0) queue.push(block(volume, next));  // otherwise it is lost
                if (random() % 25 == 0) next = b_scans - 1;               // the source skips the rest
                if (++next >= b_scans) ++volume, next = 0;
            } else if (const auto one = queue.take(0ms)) {
                const bool follows = one->volume == last_volume && one->first_b_scan == last_b_scan + 1;
                EXPECT_TRUE(follows || (one->volume > last_volume && one->first_b_scan == 0)) << "seed " << seed;
                last_volume = one->volume, last_b_scan = one->first_b_scan;
            } else if (random() % 10 == 0) {
                queue.abandon_current();
            }
            EXPECT_LE(queue.stats().waiting_blocks, 2 * b_scans);
        }
        expect_balance(queue.stats());
    }
}

TEST(DisplayQueue, CloseAndPushWakeWaitingThread) {
    for (const bool pushes : {false, true}) {
        WatchedThreads threads;
        DisplayQueue queue(b_scans, Overload::newest_wins, threads);
        std::future<std::optional<Block>> waiting = std::async(std::launch::async, [&] { return queue.take(1min); });
        AWAIT(threads.waits == 1);
        if (pushes)
            queue.push(block(0, 0));
        else
            queue.close();
        ASSERT_EQ(waiting.wait_for(30s), std::future_status::ready);
        EXPECT_EQ(waiting.get().has_value(), pushes);
    }
}

// A source that waits for room because a volume is already waiting.
class WaitingSource : public testing::Test {
  protected:
    void SetUp() override {
        push_volume(queue_, 0);
        push_volume(queue_, 1);
        source_ = std::async(std::launch::async, [this] { queue_.push(block(2, 0), stop_.get_token()); });
        AWAIT(threads_.waits == 3);  // first blocks of three volumes
    }
    ~WaitingSource() override { stop_.request_stop(); }

    WatchedThreads threads_;
    DisplayQueue queue_{b_scans, Overload::source_waits, threads_};
    std::stop_source stop_;
    std::future<void> source_;
};

TEST_F(WaitingSource, IsWokenByClosing) {
    queue_.close();
    EXPECT_EQ(source_.wait_for(30s), std::future_status::ready);
}

TEST_F(WaitingSource, IsWokenByRoom) {
    for (std::int64_t b = 0; b <= b_scans; ++b) EXPECT_TRUE(queue_.take(0ms));
    EXPECT_EQ(source_.wait_for(30s), std::future_status::ready);
    EXPECT_EQ(queue_.stats().pushed_blocks, 2 * b_scans + 1);
}

TEST_F(WaitingSource, CanBeStopped) {
    EXPECT_EQ(queue_.stats().pushed_blocks, 2 * b_scans);
    stop_.request_stop();
    ASSERT_EQ(source_.wait_for(30s), std::future_status::ready);
    EXPECT_EQ(queue_.stats().pushed_blocks, 2 * b_scans) << "its block is left out";
    expect_balance(queue_.stats());
}

TEST(DisplayQueue, OvertakesNoVolumeWhileSourceWaits) {
    DisplayQueue queue(b_scans, Overload::source_waits);
    std::atomic<bool> has_pushed_all = false;
    std::jthread source([&] {
        for (std::int64_t volume = 0; volume < 5; ++volume) push_volume(queue, volume);
        has_pushed_all = true;
    });
    AWAIT(queue.stats().waiting_blocks == 2 * b_scans);
    std::vector<std::int64_t> volumes;
    while (volumes.size() < 5) {
        AWAIT(queue.stats().waiting_blocks >= b_scans || has_pushed_all);  // the source is faster
        const auto one = queue.take(1s);
        ASSERT_TRUE(one);
        if (one->first_b_scan == 0) volumes.push_back(one->volume);
        EXPECT_LE(queue.stats().waiting_blocks, 2 * b_scans);
    }
    EXPECT_EQ(volumes, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(queue.stats().overtaken_volumes, 0);
}

}  // namespace
}  // namespace echolux
