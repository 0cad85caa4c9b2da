// Several instruments as one source, joined or line by line: the order of their blocks, the place of every line, losses
// of each, and combinations that do not work.
#include <gmock/gmock.h>

#include <deque>
#include <functional>

#include "await.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/acquire/wrapped_sources.h"

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
    Scan& mutable_scan() { return scan_; }
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
            Block block{.volume = volume,
                        .first_b_scan = first,
                        .b_scans = count,
                        .sequence = sent_++,
                        .time_s = 0.1 * static_cast<double>(volume * scan_.geometry.b_scans + first)};
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
    static_cast<ListedSource&>(*parts.back()).mutable_scan().calibration.background = {1, 2, 3, 4, 5, 6, 7, 8};
    try {
        const JoinedSource refused(std::move(parts));
        ADD_FAILURE() << "it is not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.line(), HasSubstr("B: differs from A in its calibration"));
    }
    EXPECT_THROW(open_source({.name = "join:sim", .scan = {}, .assignments = {}, .settings = {}}), Error);
    EXPECT_THROW(open_source({.name = "join:nonsense+sim", .scan = {}, .assignments = {}, .settings = {}}), Error);
}

constexpr std::int64_t header = 5, samples = 4, a_scans = 3, flyback = 1, b_scans = 3, b_repeats = 2;
constexpr std::int64_t stride = header + (a_scans + flyback) * samples;

// Bytes of a volume's lines, across all instruments.
std::byte value_at(std::int64_t volume, std::int64_t frame, std::int64_t line, std::int64_t sample) {
    return static_cast<std::byte>(101 * volume + 37 * frame + 5 * line + sample);
}

// The instrument with lines `index`, `index` + `instruments`, ...
class LinesSource : public Source {
  public:
    LinesSource(std::int64_t index, std::int64_t instruments) : index_(index), instruments_(instruments) {
        scan_.format.sample_format = SampleFormat::u8;
        scan_.file.frame_offset_bytes = header;
        scan_.geometry = {.samples = samples,
                          .a_scans = a_scans,
                          .b_scans = b_scans,
                          .b_repeats = b_repeats,
                          .line_rate_hz = 30,
                          .flyback_lines = flyback};
    }

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return 2; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return std::string(1, static_cast<char>('A' + index_)); }
    void start() override { is_running = true; }
    Arrival next(std::chrono::milliseconds timeout) override {
        was_given = timeout;
        using Clock = std::chrono::steady_clock;
        becomes_true([done = Clock::now() + takes] { return Clock::now() >= done; });
        if (script.empty()) return {ends ? Arrival::Kind::ended : Arrival::Kind::nothing_yet, {}};
        Arrival arrival{Arrival::Kind::block, script.front()};
        script.pop_front();
        return arrival;
    }
    void stop() noexcept override { is_running = false; }

    // Sends the block that starts at B-scan `first`.
    void send(std::int64_t volume, std::int64_t first) {
        const std::int64_t count = std::min<std::int64_t>(2, b_scans - first), frames = count * b_repeats;
        auto bytes = std::make_shared<std::vector<std::byte>>(index(frames * stride), std::byte{255});
        for (std::int64_t frame = 0; frame < frames; ++frame) {
            for (std::int64_t i = 0; i < (a_scans + flyback) * samples; ++i) {
                (*bytes)[index(frame * stride + header + i)] =
                    value_at(volume, first * b_repeats + frame, i / samples * instruments_ + index_, i % samples);
            }
        }
        Block block{.data = bytes->data(),
                    .bytes = std::ssize(*bytes),
                    .frames = {header, stride},
                    .volume = volume,
                    .first_b_scan = first,
                    .b_scans = count,
                    .sequence = sent_++,
                    .keeper = bytes};
        script.push_back(block);
    }

    std::deque<Block> script;
    bool is_running = false, ends = false;
    std::chrono::milliseconds takes{0}, was_given{0};
    Scan& mutable_scan() { return scan_; }
    SourceCapabilities& can() { return capabilities_; }

  private:
    std::int64_t index_, instruments_;
    Scan scan_;
    SourceCapabilities capabilities_;
    std::uint64_t sent_ = 0;
};

class Interleaved : public testing::Test {
  protected:
    void make(std::int64_t instruments, std::int64_t pool_blocks = 100) {
        std::vector<std::unique_ptr<Source>> parts;
        for (std::int64_t i = 0; i < instruments; ++i) {
            auto one = std::make_unique<LinesSource>(i, instruments);
            sources.push_back(one.get());
            parts.push_back(std::move(one));
        }
        SourceSettings settings;
        settings.pool_blocks = pool_blocks;
        both = std::make_unique<InterleavedSource>(std::move(parts), settings, MemoryKind::host);
        both->start();
    }

    void send(std::int64_t volume, std::int64_t first) {
        for (LinesSource* one : sources) one->send(volume, first);
    }

    // Returns the numbers of all blocks until none comes for some calls, and checks their bytes.
    std::vector<std::uint64_t> all() {
        std::vector<std::uint64_t> numbers;
        for (int idle = 0; idle < 40; ++idle) {
            Arrival arrival = both->next(1ms);
            if (arrival.kind != Arrival::Kind::block) continue;
            idle = 0;
            numbers.push_back(arrival.block.sequence);
            check(arrival.block);
            if (holds) held.push_back(arrival.block);
        }
        return numbers;
    }

    void check(const Block& block) const {
        const std::int64_t lines = (a_scans + flyback) * std::ssize(sources), frames = block.b_scans * b_repeats;
        ASSERT_EQ(block.bytes, frames * lines * samples);
        ASSERT_EQ(block.frames.offset_bytes, 0);
        ASSERT_EQ(block.frames.stride_bytes, lines * samples);
        for (std::int64_t i = 0; i < block.bytes; ++i) {
            const std::int64_t line = i / samples;
            ASSERT_EQ(block.data[i],
                      value_at(block.volume, block.first_b_scan * b_repeats + line / lines, line % lines, i % samples))
                << "byte " << i;
        }
    }

    std::vector<LinesSource*> sources;
    std::unique_ptr<InterleavedSource> both;
    bool holds = false;
    std::vector<Block> held;
};

TEST_F(Interleaved, PlacesEveryLine) {
    for (const std::int64_t instruments : {2, 4}) {
        sources.clear();
        make(instruments);
        for (std::int64_t volume = 0; volume < 2; ++volume) {
            send(volume, 0);
            send(volume, 2);
        }
        EXPECT_THAT(all(), ElementsAre(0, 1, 2, 3));
        const ScanGeometry& geometry = both->scan().geometry;
        EXPECT_EQ(geometry.a_scans, a_scans * instruments);
        EXPECT_EQ(geometry.flyback_lines, flyback * instruments);
        EXPECT_EQ(geometry.b_scans, b_scans);
        EXPECT_EQ(geometry.line_rate_hz, 30 * static_cast<double>(instruments));
        EXPECT_EQ(both->scan().file.frame_offset_bytes, 0);
    }
    EXPECT_EQ(both->name(), "A + B + C + D, line by line");
}

TEST_F(Interleaved, LateAndLostBlocksLeaveGapsInNumbers) {
    make(2);
    send(0, 0);
    sources[0]->send(0, 2);  // lost by B
    sources[1]->send(1, 0);  // lost by A
    send(1, 2);
    EXPECT_THAT(all(), ElementsAre(0, 3));
}

TEST_F(Interleaved, SkipsTruncatedBlocks) {
    make(2);
    send(0, 0);
    send(0, 2);
    sources[1]->script[0].bytes -= 1;
    sources[0]->script[1].b_scans = 2;
    send(1, 0);
    EXPECT_THAT(all(), ElementsAre(2));
}

TEST_F(Interleaved, LosesBlockWithoutMemory) {
    make(2, 1);
    holds = true;
    send(0, 0);
    send(0, 2);
    EXPECT_THAT(all(), ElementsAre(0));
    held.clear();
    send(1, 0);
    EXPECT_THAT(all(), ElementsAre(2));
}

// Earlier losses no longer count once blocks match again.
TEST_F(Interleaved, NamesInstrumentThatRestartsNumbers) {
    make(2);
    const auto send_early = [&](std::int64_t blocks) {
        for (std::int64_t volume = 0; volume < blocks; ++volume) sources[1]->send(volume, 0);
    };
    sources[0]->send(1000, 0);
    send_early(15);
    sources[1]->send(1000, 0);
    EXPECT_THAT(all(), ElementsAre(2000));
    sources[0]->send(1001, 0);
    send_early(16);
    try {
        all();
        ADD_FAILURE() << "nobody is named";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        EXPECT_THAT(error.line(),
                    HasSubstr("B: 16 of its blocks in a row lag behind those of A: volume 15 instead of 1001"));
    }
    for (const LinesSource* one : sources) EXPECT_FALSE(one->is_running);
    both->start();  // as after a restart
    for (LinesSource* one : sources) one->script.clear();
    send(0, 0);
    EXPECT_THAT(all(), ElementsAre(0));
}

TEST_F(Interleaved, NamesInstrumentWithTruncatedBlocks) {
    make(2);
    for (std::int64_t volume = 0; volume < 16; ++volume) {
        send(volume, 0);
        sources[1]->script.back().bytes -= 1;
    }
    try {
        all();
        ADD_FAILURE() << "nobody is named";
    } catch (const Error& error) {
        EXPECT_THAT(error.line(), HasSubstr("B: 16 of its blocks in a row are truncated"));
    }
}

TEST_F(Interleaved, SharesTimeoutBetweenInstruments) {
    make(2);
    sources[0]->send(0, 0);
    sources[0]->takes = 3ms;
    EXPECT_EQ(both->next(5ms).kind, Arrival::Kind::nothing_yet);
    EXPECT_LE(sources[1]->was_given, 2ms);
    sources[0]->send(0, 2);
    sources[1]->send(0, 0);
    EXPECT_EQ(both->next(10s).kind, Arrival::Kind::block);
    EXPECT_GT(sources[1]->was_given, 2ms) << "A had its block already";
}

// The blocks are copies, so they are not near the GPU of the originals.
TEST_F(Interleaved, CopiedBlocksHaveNoGpu) {
    make(2);
    send(0, 0);
    for (LinesSource* one : sources) one->script.front().near_gpu = DeviceId{9};
    const Arrival arrival = both->next(1ms);
    ASSERT_EQ(arrival.kind, Arrival::Kind::block);
    EXPECT_EQ(arrival.block.near_gpu, DeviceId{});
}

TEST(InterleavedSilence, IsAllowedIfAllowedForEachInstrument) {
    for (const bool second : {false, true}) {
        std::vector<std::unique_ptr<Source>> parts;
        for (const bool asked : {true, second}) {
            auto one = std::make_unique<LinesSource>(std::ssize(parts), 2);
            one->can().sends_when_asked = asked;
            parts.push_back(std::move(one));
        }
        const InterleavedSource both(std::move(parts), {}, MemoryKind::host);
        EXPECT_EQ(both.capabilities().sends_when_asked, second);
    }
}

TEST_F(Interleaved, EndsIfOneInstrumentEnds) {
    make(2);
    sources[0]->send(0, 0);
    sources[1]->ends = true;
    EXPECT_EQ(both->next(1ms).kind, Arrival::Kind::ended);
    for (const LinesSource* one : sources) EXPECT_FALSE(one->is_running);
}

TEST(InterleavedRefusal, NamesDifferencesOfInstruments) {
    const auto line_of = [](const std::function<void(Scan&)>& change) {
        std::vector<std::unique_ptr<Source>> parts;
        parts.push_back(std::make_unique<LinesSource>(0, 2));
        auto other = std::make_unique<LinesSource>(1, 2);
        change(other->mutable_scan());
        parts.push_back(std::move(other));
        try {
            const InterleavedSource refused(std::move(parts), {}, MemoryKind::host);
        } catch (const Error& error) {
            return error.line();
        }
        return std::string("nothing is refused");
    };
    EXPECT_THAT(line_of([](Scan& scan) { ++scan.geometry.a_scans; }),
                HasSubstr("B: differs from A in lines per B-scan"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.geometry.line_rate_hz = 31; }), HasSubstr("in line rate"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.calibration.k_jitter = {0, 1}; }), HasSubstr("per-line calibration"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.file.frame_offset_bytes = 6; }), HasSubstr("the size of B-scan headers"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.format.bits = 7; }), HasSubstr("sample format"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.geometry.depth_flip = true; }), HasSubstr("in scan.depth_flip"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.geometry.bidirectional = true; }), HasSubstr("in scan.bidirectional"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.geometry.spacing_b_um = 3; }), HasSubstr("in scan.spacing_b_um"));
    EXPECT_THAT(line_of([](Scan& scan) {
                    scan.calibration.k_positions = {0, 1, 2, 3};
                }),
                HasSubstr("B: differs from A in its calibration"));
    EXPECT_THAT(line_of([](Scan& scan) { scan.geometry.volumes = 7; }), HasSubstr("nothing is refused"));
}

}  // namespace
}  // namespace echolux
