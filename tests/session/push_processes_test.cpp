// Acquisition programs and viewers as processes, killed while working: the others continue, and no block differs from
// what was pushed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "compute/indexing.h"
#include "push_support.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::HasSubstr;

// Counts from the file of a viewer.
struct Noted {
    std::int64_t blocks = 0, lost = 0, wrong = 0;
    std::set<std::uint64_t> producers;
};

Noted noted(const std::filesystem::path& path) {
    Noted all;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (file.eof()) break;  // the viewer was killed while writing
        if (line.starts_with("wrong")) ++all.wrong;
        std::istringstream words(line.substr(line.starts_with("wrong ") ? 6 : 0));
        std::uint64_t producer = 0, sequence = 0;
        std::int64_t lost = 0;
        words >> producer >> sequence >> lost;
        ++all.blocks;
        all.lost += lost;
        all.producers.insert(producer);
    }
    return all;
}

class Processes : public ::testing::Test {
  protected:
    ~Processes() override {  // removes the ring of a killed producer
        std::error_code ignored;
        std::filesystem::remove(ECHOLUX_PUSH_PREFIX + name_, ignored);
    }

    // 4 KiB per block: 16 A-scans of 64 samples, 8 B-scans, 2 per block.
    std::vector<std::string> small_producer(const std::string& what, int blocks = 0) const {
        return {ECHOLUX_PUSH_PRODUCER, source_, "64", "16", "8", "2", "160000", std::to_string(blocks), "16", what};
    }
    std::filesystem::path notes() const { return folder_ / "notes"; }

    TemporaryFolder folder_;
    std::string name_ = own_ring_name();
    std::string source_ = "shm:" + name_;
};

TEST_F(Processes, KilledProducerLeavesOtherBlocksWhole) {
    auto producer = std::make_unique<Child>(small_producer("hangs", 5));
    producer->await_ready();
    const auto source = open_shared_memory(pushed_to(source_), 10s);
    source->start();
    producer->await_ready();  // it hangs
    while (source->next(1ms).kind == Arrival::Kind::block) {
    }
    EXPECT_EQ(source->next(100ms).kind, Arrival::Kind::nothing_yet) << "the half block is none";
    producer->kill();
    EXPECT_THAT(error_of([&] { source->next(2s); }).line, HasSubstr("has exited"));
    EXPECT_THAT(error_of([&] { source->start(); }).line, HasSubstr("its producer has exited"));
    producer = std::make_unique<Child>(small_producer(""));  // takes the name of the killed one
    producer->await_ready();
    source->start();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(is_right(next_block(*source))) << i;
}

TEST_F(Processes, ProducerIgnoresKilledViewers) {
    Child producer(small_producer(""));
    producer.await_ready();
    const auto source = open_shared_memory(pushed_to(source_), 10s);
    source->start();
    for (int i = 0; i < 3; ++i) {
        Child viewer({ECHOLUX_PUSH_VIEWER, source_, notes().string()});
        const std::int64_t before = noted(notes()).blocks;
        AWAIT(noted(notes()).blocks > before + 5);
        viewer.kill();
    }
    EXPECT_TRUE(producer.is_alive());
    std::optional<std::uint64_t> last;  // blocks missed by this viewer are counted exactly
    for (int i = 0; i < 50; ++i) {
        const Block block = next_block(*source);
        EXPECT_TRUE(is_right(block));
        const std::uint64_t sequence = pattern_sequence(stamp_of(block));
        const std::uint64_t missing = last ? sequence - *last - 1 : 0;
        EXPECT_EQ(missing, last ? static_cast<std::uint64_t>(block.lost_before) : 0);
        last = sequence;
    }
    EXPECT_EQ(noted(notes()).wrong, 0);
}

// Duration of the long run in seconds: ten minutes, or ECHOLUX_PUSH_SECONDS.
double long_seconds() {
    const char* wanted = std::getenv("ECHOLUX_PUSH_SECONDS");
    return wanted == nullptr ? 600 : std::atof(wanted);
}

// 210,000 lines per second of 2048 samples (860 MB/s); producer and viewer are killed 20 times each.
TEST_F(Processes, SlowLinesAt210KHzSurviveKillsOnBothSides) {
    constexpr int kills = 20;
    const std::vector<std::string> words{ECHOLUX_PUSH_PRODUCER, source_, "2048", "512", "64", "4", "210000", "0", "32"};
    const std::vector<std::string> looks{ECHOLUX_PUSH_VIEWER, source_, notes().string()};
    const double pause_s = long_seconds() / (2 * kills);
    auto producer = std::make_unique<Child>(words);
    producer->await_ready();
    auto viewer = std::make_unique<Child>(looks);
    const auto lives = [pause_s](const Child& child) {
        const auto pause = std::chrono::ceil<std::chrono::nanoseconds>(std::chrono::duration<double>(pause_s));
        return !becomes_true([&] { return !child.is_alive(); }, pause);
    };
    for (int i = 0; i < kills; ++i) {
        EXPECT_TRUE(lives(*viewer));
        producer->kill();
        producer = std::make_unique<Child>(words);
        producer->await_ready();
        EXPECT_TRUE(lives(*producer));
        viewer->kill();
        viewer = std::make_unique<Child>(looks);
    }
    const std::int64_t before = noted(notes()).blocks;
    AWAIT(noted(notes()).blocks > before);
    const Noted all = noted(notes());
    std::printf("%lld blocks of 8 MiB came, %lld were lost, %lld wrong, of %zu producers\n",
                static_cast<long long>(all.blocks), static_cast<long long>(all.lost), static_cast<long long>(all.wrong),
                all.producers.size());
    EXPECT_EQ(all.wrong, 0);
    EXPECT_EQ(all.producers.size(), index(kills) + 1);
    const double sent = long_seconds() * 210000 / (4 * 512);
    EXPECT_GT(static_cast<double>(all.blocks), 0.5 * sent);
}

}  // namespace
}  // namespace echolux
