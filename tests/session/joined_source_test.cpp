// Several instruments as one source: the order of their blocks, losses of each, and combinations that do not work.
#include "engine/acquire/wrapped_sources.h"

#include <gmock/gmock.h>

#include <deque>
#include <functional>

#include "compute/error.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

// Sends its script, one entry per call.
class ListedSource : public Source {
  public:
    explicit ListedSource(std::string name, std::int64_t b_scans = 4) : name_(std::move(name)) {
        scan_.geometry = {.samples = 8, .a_scans = 3, .b_scans = b_scans, .line_rate_hz = 30};
    }

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return 2; }
    std::int64_t pool_blocks() const override { return 5; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    SourceCapabilities& can() { return capabilities_; }
    Scan& told() { return scan_; }
    std::string name() const override { return name_; }
    void start() override { is_running = true; }
    Arrival next(std::chrono::milliseconds) override {
        if (script.empty()) return {};
        const auto what = script.front();
        script.pop_front();
        return what();
    }
    void stop() noexcept override { is_running = false; }

    void send(std::int64_t volume, std::int64_t first, std::int64_t count = 2) {
        script.emplace_back([=, this] {
            Block block;
            block.volume = volume;
            block.first_b_scan = first;
            block.b_scans = count;
            block.sequence = sent_++;
            block.time_s = 0.1 * static_cast<double>(volume * scan_.geometry.b_scans + first);
            return Arrival{Arrival::Kind::block, block};
        });
    }

    std::deque<std::function<Arrival()>> script;
    bool is_running = false;

  private:
    std::string name_;
    Scan scan_;
    SourceCapabilities capabilities_;
    std::uint64_t sent_ = 0;
};

class Joined : public testing::Test {
  protected:
    // Joins two instruments with `b_scans` each.
    JoinedSource& make(std::int64_t b_scans = 4) {
        std::vector<std::unique_ptr<Source>> parts;
        for (const char* name : {"A", "B"}) {
            auto one = std::make_unique<ListedSource>(name, b_scans);
            sources.push_back(one.get());
            parts.push_back(std::move(one));
        }
        joined = std::make_unique<JoinedSource>(std::move(parts));
        joined->start();
        return *joined;
    }

    // Returns all blocks as "volume:first+count", until none comes for some calls.
    std::vector<std::string> all() {
        std::vector<std::string> blocks;
        for (int idle = 0; idle < 8;) {
            const Arrival arrival = joined->next(1ms);
            if (arrival.kind != Arrival::Kind::block) {
                ++idle;
                continue;
            }
            idle = 0;
            const Block& block = arrival.block;
            blocks.push_back(std::to_string(block.volume) + ":" + std::to_string(block.first_b_scan) + "+" +
                             std::to_string(block.b_scans));
            sequences.push_back(block.sequence);
            times.push_back(block.time_s);
        }
        return blocks;
    }

    std::vector<ListedSource*> sources;
    std::unique_ptr<JoinedSource> joined;
    std::vector<std::uint64_t> sequences;
    std::vector<double> times;
};

TEST_F(Joined, SendsBlocksInOrderOfVolume) {
    make();
    for (std::int64_t volume = 0; volume < 2; ++volume) {  // B sends all of its blocks before A's second
        for (ListedSource* one : sources) {
            one->send(volume, 0);
            one->send(volume, 2);
        }
    }
    EXPECT_THAT(all(), ElementsAre("0:0+2", "0:2+2", "0:4+2", "0:6+2", "1:0+2", "1:2+2", "1:4+2", "1:6+2"));
    EXPECT_THAT(sequences, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
    EXPECT_EQ(joined->scan().geometry.b_scans, 8);
    EXPECT_EQ(joined->scan().geometry.line_rate_hz, 60);
    EXPECT_EQ(joined->pool_blocks(), 10);
    EXPECT_EQ(joined->name(), "A + B");
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_NEAR(times[i] - times[i - 1], 0.1, 1e-9);
}

TEST_F(Joined, AcceptsShorterLastBlocks) {
    make(3);
    for (ListedSource* one : sources) {
        one->send(0, 0);
        one->send(0, 2, 1);
    }
    EXPECT_THAT(all(), ElementsAre("0:0+2", "0:2+2", "0:4+1", "0:5+1"));
}

// The other instruments' blocks wait in their own memory.
TEST_F(Joined, LateInstrumentDelaysOthers) {
    make();
    sources[1]->send(0, 0);
    EXPECT_THAT(all(), ElementsAre());
    sources[0]->send(0, 0);
    EXPECT_THAT(all(), ElementsAre("0:0+2", "0:2+2"));
}

// Numbers show the loss even if the instrument does not report it.
TEST_F(Joined, LostBlocksLeaveGapsInNumbers) {
    make();
    sources[0]->send(0, 0);
    sources[0]->send(1, 0);
    for (const std::int64_t first : {0, 2}) sources[1]->send(0, first);
    sources[1]->send(1, 0);
    EXPECT_THAT(all(), ElementsAre("0:0+2", "0:2+2", "0:6+2", "1:0+2", "1:2+2"));
    EXPECT_THAT(sequences, ElementsAre(0, 1, 3, 4, 5));
}

TEST_F(Joined, StopsAllInstrumentsIfOneFailsOrEnds) {
    make();
    sources[0]->script.emplace_back([]() -> Arrival { throw Error(ErrorCode::device, "unplugged", "A"); });
    EXPECT_THROW(joined->next(1ms), Error);
    for (const ListedSource* one : sources) EXPECT_FALSE(one->is_running);
    joined->start();
    sources[0]->script.emplace_back([] { return Arrival{Arrival::Kind::ended, {}}; });
    EXPECT_EQ(joined->next(1ms).kind, Arrival::Kind::ended);
    for (const ListedSource* one : sources) EXPECT_FALSE(one->is_running);
}

TEST(JoinedSilence, IsAllowedIfAllowedForEachInstrument) {
    for (const bool second : {false, true}) {
        std::vector<std::unique_ptr<Source>> parts;
        for (const bool asked : {true, second}) {
            auto one = std::make_unique<ListedSource>("A");
            one->can().sends_when_asked = asked;
            parts.push_back(std::move(one));
        }
        EXPECT_EQ(JoinedSource(std::move(parts)).capabilities().sends_when_asked, second);
    }
}

TEST(SourcesPutTogether, OpenByName) {
    const std::vector<std::string> small{"simulation.samples=256", "simulation.a_scans=8", "simulation.b_scans=4"};
    for (const std::string kind : {"join", "interleave"}) {
        const auto both = open_source({.name = kind + ":sim:vessel+sim:vessel",
                                       .scan = {},
                                       .assignments = small,
                                       .settings = {.line_rate_hz = 20'000}});
        const ScanGeometry& geometry = both->scan().geometry;
        EXPECT_EQ(geometry.line_rate_hz, 40'000);
        EXPECT_EQ(geometry.a_scans * geometry.b_scans, 2 * 8 * 4);
        both->start();
        Arrival arrival;
        for (int i = 0; i < 1000 && arrival.kind != Arrival::Kind::block; ++i) arrival = both->next(10ms);
        EXPECT_EQ(arrival.kind, Arrival::Kind::block) << kind;
    }
}

TEST_F(Joined, RejectsDifferentInstruments) {
    std::vector<std::unique_ptr<Source>> parts;
    parts.push_back(std::make_unique<ListedSource>("A", 4));
    parts.push_back(std::make_unique<ListedSource>("B", 6));
    try {
        const JoinedSource refused(std::move(parts));
        ADD_FAILURE() << "it is not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.line(), HasSubstr("B: differs from A in B-scans per volume"));
    }
    parts.clear();
    for (const char* name : {"A", "B"}) parts.push_back(std::make_unique<ListedSource>(name));
    static_cast<ListedSource&>(*parts.back()).told().calibration.background = {1, 2, 3, 4, 5, 6, 7, 8};
    try {
        const JoinedSource refused(std::move(parts));
        ADD_FAILURE() << "it is not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.line(), HasSubstr("B: differs from A in its calibration"));
    }
    EXPECT_THROW(open_source({.name = "join:sim", .scan = {}, .assignments = {}, .settings = {}}), Error);
    EXPECT_THROW(open_source({.name = "join:nonsense+sim", .scan = {}, .assignments = {}, .settings = {}}), Error);
}

}  // namespace
}  // namespace echolux
