// Instruments that take turns line by line: the place of every line, losses and truncated blocks of one instrument, and
// combinations that do not work.
#include "engine/acquire/wrapped_sources.h"

#include <gmock/gmock.h>

#include <deque>
#include <functional>

#include "await.h"
#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

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
        Block block;
        block.data = bytes->data();
        block.bytes = std::ssize(*bytes);
        block.frames = {header, stride};
        block.volume = volume;
        block.first_b_scan = first;
        block.b_scans = count;
        block.sequence = sent_++;
        block.keeper = bytes;
        script.push_back(block);
    }

    std::deque<Block> script;
    bool is_running = false, ends = false;
    std::chrono::milliseconds takes{0}, was_given{0};
    Scan& told() { return scan_; }
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
        change(other->told());
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
