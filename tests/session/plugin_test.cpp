// Plugins through the C interface: the sample plugin with both kinds of buffers, compared with fringes and patterns
// computed here, and plugins that break each rule, are slow or never return.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "await.h"
#include "compute/error.h"
#include "compute/steps/sample.h"
#include "engine/acquire/source.h"
#include "hostile_plugin.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t header = 16;  // of the sample plugin, before each acquired B-scan

SourceRequest wanted(const std::string& options, const std::vector<std::string>& assignments = {}) {
    SourceRequest result{.name = "plugin:" ECHOLUX_SAMPLE_PLUGIN + (options.empty() ? "" : "," + options),
                         .assignments = {"scan.samples=96", "scan.a_scans=10", "scan.b_scans=7"}};
    result.assignments.insert(result.assignments.end(), assignments.begin(), assignments.end());
    result.settings.block_b_scans = 3;
    return result;
}

Block next_block(Source& source) {
    for (int i = 0; i < 500; ++i) {
        Arrival arrival = source.next(20ms);
        if (arrival.kind == Arrival::Kind::block) return arrival.block;
        if (arrival.kind == Arrival::Kind::ended) break;
    }
    throw std::runtime_error("no block came");
}

std::uint64_t frame_number(const Block& block, std::int64_t frame) {
    std::uint64_t number = 0;
    std::memcpy(&number, block.data + frame * block.frames.stride_bytes, sizeof number);
    return number;
}

// Signal of a tilted mirror, as described in plugins/sample/fringes.c.
double mirror(std::int64_t a_scan, std::int64_t a_scans, double sample, std::int64_t samples, int channel) {
    const double fringes = 20 + 40 * static_cast<double>(a_scan) / static_cast<double>(a_scans);
    const double turns = fringes * (sample + 0.5) / static_cast<double>(samples) + 0.25 * channel;
    return 2048 + 1200 * std::cos(2 * std::numbers::pi * turns);
}

double worst_difference(const Source& source, const Block& block, double offset) {
    const Scan& scan = source.scan();
    const ScanGeometry& geometry = scan.geometry;
    double worst = 0;
    LineFormat(scan.format, geometry).with_reader([&](const auto& read) {
        const std::int64_t frames = block.b_scans * geometry.b_repeats;
        for (std::int64_t i = 0; i < frames * geometry.lines_per_b_scan(); ++i) {
            const std::int64_t frame = i / geometry.lines_per_b_scan();
            const std::int64_t line = i % geometry.lines_per_b_scan();
            const std::byte* at = block.data + block.frames.offset_bytes + frame * block.frames.stride_bytes +
                                  line * line_bytes(scan.format, geometry);
            for (std::int64_t p = 0; p < geometry.samples; ++p) {
                const double expected = mirror(line / geometry.a_repeats, geometry.a_scans, static_cast<double>(p),
                                               geometry.samples, static_cast<int>(scan.format.channel));
                worst = std::max(worst, std::abs(static_cast<double>(read(at, p)) + offset - expected));
            }
        }
    });
    return worst;
}

std::string refusal(const SourceRequest& wanted) {
    try {
        const auto source = open_plugin(wanted);
        source->start();
        std::vector<Arrival> held;
        for (int i = 0; i < 5; ++i) held.push_back(source->next(1ms));
    } catch (const Error& error) {
        return error.line();
    }
    return "accepted";
}

class SamplePlugin : public testing::TestWithParam<const char*> {
  protected:
    std::string shape() const { return std::string("buffers=") + GetParam(); }
};

TEST_P(SamplePlugin, SendsBlocksInOrder) {
    const auto source = open_plugin(wanted(shape() + ",volumes=2"));
    EXPECT_EQ(source->name(), "sample fringes");
    EXPECT_EQ(source->scan().format.sample_format, SampleFormat::u16);
    EXPECT_EQ(source->block_b_scans(), 3);
    source->start();
    for (std::int64_t i = 0; i < 6; ++i) {
        SCOPED_TRACE(i);
        const Block block = next_block(*source);
        EXPECT_EQ(block.volume, i / 3);
        EXPECT_EQ(block.first_b_scan, i % 3 * 3);
        EXPECT_EQ(block.b_scans, i % 3 == 2 ? 1 : 3);
        EXPECT_EQ(block.sequence, static_cast<std::uint64_t>(i));
        EXPECT_EQ(block.lost_before, 0);
        EXPECT_EQ(block.frames.offset_bytes, header);
        EXPECT_EQ(block.frames.stride_bytes, header + 10 * 96 * 2);
        for (std::int64_t b = 0; b < block.b_scans; ++b) {
            EXPECT_EQ(frame_number(block, b), static_cast<std::uint64_t>(i / 3 * 7 + i % 3 * 3 + b));
        }
        EXPECT_LE(worst_difference(*source, block, 0), 0.51);
    }
    EXPECT_EQ(source->next(1000ms).kind, Arrival::Kind::ended);
}

TEST_P(SamplePlugin, SignedPackedAndInterleavedSamples) {
    for (const auto& [options, offset] : {std::pair{"format=i16", 2048.0}, {"format=packed12", 0.0}}) {
        const auto source = open_plugin(wanted(shape() + ",channels=2," + options, {"scan.channel=1"}));
        source->start();
        EXPECT_LE(worst_difference(*source, next_block(*source), offset), 0.51) << options;
    }
}

TEST_P(SamplePlugin, IncludesRepeatsAndFlybackInBlock) {
    const auto source = open_plugin(
        wanted(shape(), {"scan.a_repeats=2", "scan.b_repeats=2", "scan.flyback_lines=5", "scan.flyback_frames=4"}));
    source->start();
    next_block(*source);
    next_block(*source);
    next_block(*source);
    const Block block = next_block(*source);
    EXPECT_EQ(block.volume, 1);
    EXPECT_EQ(block.frames.stride_bytes, header + (10 * 2 + 5) * 96 * 2);
    EXPECT_EQ(block.bytes, 3 * 2 * block.frames.stride_bytes);
    EXPECT_EQ(frame_number(block, 1), 7U * 2 + 4 + 1);
    EXPECT_LE(worst_difference(*source, block, 0), 0.51);
}

TEST_P(SamplePlugin, CountsLostBlocksWithoutShift) {
    const auto source = open_plugin(wanted(shape() + ",lose=4"));
    source->start();
    std::int64_t lost = 0;
    for (std::int64_t i = 0; i < 20; ++i) {
        const Block block = next_block(*source);
        lost += block.lost_before;
        const std::int64_t number = i + lost;
        EXPECT_EQ(block.sequence, static_cast<std::uint64_t>(i));
        EXPECT_EQ(block.volume * 3 + block.first_b_scan / 3, number);
        EXPECT_EQ(frame_number(block, 0), static_cast<std::uint64_t>(number / 3 * 7 + number % 3 * 3));
    }
    EXPECT_EQ(lost, 6);
}

TEST_P(SamplePlugin, KeepsHeldBlocksAndReportsLoss) {
    SourceRequest want = wanted(shape());
    want.settings.line_rate_hz = 100'000;  // a block per 0.3 ms
    want.settings.pool_blocks = 3;
    const auto source = open_plugin(want);
    source->start();
    std::vector<Block> held;
    for (int i = 0; i < 3; ++i) held.push_back(next_block(*source));
    const std::vector<std::uint64_t> before{frame_number(held[0], 0), frame_number(held[1], 0),
                                            frame_number(held[2], 0)};
    EXPECT_EQ(source->next(20ms).kind, Arrival::Kind::nothing_yet);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(frame_number(held[i], 0), before[i]);
    const std::int64_t last = held[2].volume * 3 + held[2].first_b_scan / 3;
    held.clear();
    const Block block = next_block(*source);
    EXPECT_GE(block.lost_before, 10);
    EXPECT_EQ(block.volume * 3 + block.first_b_scan / 3, last + 1 + block.lost_before);
    EXPECT_NEAR(block.time_s, static_cast<double>(frame_number(block, 0) * 10) / 100'000, 1e-9);
}

TEST_P(SamplePlugin, AcceptsBlocksFromAnyThread) {
    SourceRequest want = wanted(shape());
    want.settings.pool_blocks = 3;
    const auto source = open_plugin(want);
    source->start();
    std::vector<std::jthread> holders;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t frame = i / 3 * 7 + i % 3 * 3;
        holders.emplace_back([block = next_block(*source), frame] { EXPECT_EQ(frame_number(block, 0), frame); });
    }
}

TEST_P(SamplePlugin, BlocksOutliveTheirSource) {
    Block block;
    {
        const auto source = open_plugin(wanted(shape()));
        source->start();
        next_block(*source);
        block = next_block(*source);
    }
    EXPECT_EQ(frame_number(block, 0), 3U);
    block = {};
}

TEST_P(SamplePlugin, CountsFromZeroAfterEachStart) {
    const auto source = open_plugin(wanted(shape()));
    for (int start = 0; start < 20; ++start) {
        source->start();
        const Block first = next_block(*source);
        EXPECT_EQ(first.sequence, 0U);
        EXPECT_EQ(frame_number(first, 0), 0U);
        next_block(*source);
        source->stop();
        source->stop();
        EXPECT_EQ(frame_number(first, 0), 0U);
    }
    EXPECT_THROW(source->next(1ms), Error);
}

INSTANTIATE_TEST_SUITE_P(Buffers, SamplePlugin, testing::Values("ring", "posted"),
                         [](const auto& shape) { return std::string(shape.param); });

TEST(SamplePluginPattern, FollowsScanLineByLine) {
    const TemporaryFolder folder;
    const std::string file = (folder / "pattern.csv").string();
    const auto source = open_plugin(wanted("pattern=" + file, {"scan.spacing_a_um=4", "scan.spacing_b_um=6",
                                                               "scan.flyback_lines=2", "scan.flyback_frames=1"}));
    EXPECT_TRUE(source->capabilities().plays_patterns);
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    EXPECT_EQ(line, "x_um,y_um,marks");
    for (int i = 0; i < (7 + 1) * (10 + 2); ++i) {
        SCOPED_TRACE(i);
        const int frame = i / 12;
        const int in_frame = i % 12;
        const bool is_flyback = frame >= 7 || in_frame >= 10;
        ASSERT_TRUE(std::getline(stream, line));
        std::istringstream fields(line);
        double x = 0, y = 0;
        int marks = 0;
        char comma = 0;
        fields >> x >> comma >> y >> comma >> marks;
        if (!is_flyback) {
            EXPECT_NEAR(x, (in_frame - 4.5) * 4, 1e-4);
            EXPECT_NEAR(y, (frame - 3) * 6.0, 1e-4);
        }
        EXPECT_LE(std::abs(x), 18.001);
        EXPECT_LE(std::abs(y), 18.001);
        EXPECT_EQ(marks, (i == 0 ? 1 : 0) + (in_frame == 0 ? 2 : 0) + (is_flyback ? 4 : 0) + (frame < 7 ? 8 : 0));
    }
    EXPECT_FALSE(std::getline(stream, line));
}

TEST(SamplePluginOptions, InvalidOptionsAreNamed) {
    EXPECT_THAT(refusal(wanted("speed=11")), AllOf(HasSubstr("sample fringes"), HasSubstr("option speed")));
    EXPECT_THAT(refusal(wanted("pattern=/no/such/folder/file")), HasSubstr("cannot write /no/such/folder/file"));
    SourceRequest bare = wanted("");
    bare.assignments.clear();
    EXPECT_THAT(refusal(bare), HasSubstr("needs a scan file with a_scans and b_scans"));
}

// ---- plugins that break the rules -----------------------------------------------------------------------------------

TEST(HostilePlugin, AcceptsCorrectPlugin) {
    EXPECT_EQ(refusal(hostile("hostile", "posted")), "accepted");
    EXPECT_EQ(refusal(hostile("hostile", "ring")), "accepted");
}

TEST(HostilePlugin, RefusesInvalidLibraries) {
    EXPECT_THAT(refusal(hostile("missing", "")), HasSubstr("cannot open shared object file"));
    EXPECT_THAT(refusal(hostile("no_entry", "")), HasSubstr("has no function echolux_source_plugin"));
    EXPECT_THAT(refusal(hostile("null_entry", "")), HasSubstr("does not support version 1"));
    EXPECT_THAT(refusal(hostile("other_version", "")), HasSubstr("compiled for version 2 of the plugin interface"));
    EXPECT_THAT(refusal(hostile("small", "")), HasSubstr("has no close()"));
    EXPECT_THAT(refusal(hostile("no_next", "")), HasSubstr("has no next()"));
    EXPECT_THAT(refusal(hostile("no_release", "")), HasSubstr("lends ring buffers but does not define release()"));
    SourceRequest nothing = hostile("", "");
    nothing.name = "plugin:";
    EXPECT_THAT(refusal(nothing), HasSubstr("expected plugin:PATH[,OPTIONS]"));
}

struct Fault {
    const char* option;
    const char* complaint;
};

class HostilePluginFault : public testing::TestWithParam<Fault> {};

TEST_P(HostilePluginFault, IsRefusedInOneClearLine) {
    const std::string line = refusal(hostile("hostile", GetParam().option));
    EXPECT_THAT(line, HasSubstr("plugin hostile.so"));
    EXPECT_THAT(line, HasSubstr(GetParam().complaint));
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, HostilePluginFault,
    testing::Values(Fault{"open fails", "no such device"},
                    Fault{"open fails silently", "open() failed without giving a reason"},
                    Fault{"open returns nonsense", "open() returned 77"},
                    Fault{"no device", "open() succeeded but returned no device"},
                    Fault{"negative samples", "stream.samples is -5"}, Fault{"negative a_scans", "stream.a_scans"},
                    Fault{"huge scan", "stream.a_scans"}, Fault{"short lines", "line_bytes"},
                    Fault{"endless spectra", "stream.samples is 1152921504606846976, expected 1 to 1048576"},
                    Fault{"posted endless b_scans", "of memory"}, Fault{"posted endless blocks", "of memory"},
                    Fault{"endless pattern", "cannot play a pattern with this number of lines"},
                    Fault{"sample format", "stream.sample_format is 99"}, Fault{"no blocks", "stream.blocks is 0"},
                    Fault{"negative offset", "stream.frame_offset_bytes is -8"}, Fault{"channels", "stream.channels"},
                    Fault{"memory", "stream.memory is 3"}, Fault{"block size", "stream.block_b_scans is 1000"},
                    Fault{"line rate", "line_rate_hz"}, Fault{"start fails", "no clock at the input"},
                    Fault{"no address", "block 0: has no address"},
                    Fault{"size", "block 0: has -1 bytes, expected 960"}, Fault{"b_scans", "block 0: has -2 B-scans"},
                    Fault{"lost", "lost_before is -1"}, Fault{"most lost", "lost_before is "},
                    Fault{"time", "its time stamp is not a finite number"},
                    Fault{"volume alone", "volume 3 with first B-scan -1"},
                    Fault{"outside", "exceed the 7 of a volume"}, Fault{"far outside", "exceed the 7 of a volume"},
                    Fault{"volume leap", "volume 1048577 after volume 0 is too large a jump"},
                    Fault{"last volume", "volume 9223372036854775807 after volume 0 is too large a jump"},
                    Fault{"volume back", "block 2: volume 0 after volume 2097152 is too large a jump"},
                    Fault{"lost leap", "after volume 0 is too large a jump, expected at most 1048576 volumes"},
                    Fault{"posted token", "token 12345 does not belong to a posted buffer"},
                    Fault{"posted address", "its address"}, Fault{"next returns nonsense", "next() returned -9"},
                    Fault{"next fails", "next() failed without giving a reason"},
                    Fault{"lent twice", "block 3: token 0 is already lent"},
                    Fault{"lends too much", "lends more than the 2 blocks"}),
    [](const auto& fault) { return as_name(fault.param.option); });

// A call that returns after its caller gave up still delivers its block.
class SlowPlugin : public testing::TestWithParam<const char*> {};

TEST_P(SlowPlugin, LosesNoBlock) {
    const auto source = open_plugin(hostile("hostile", GetParam()));
    source->start();
    int waited = 0;
    for (std::int64_t number = 0; number < 7; ++number) {
        Arrival arrival = source->next(1ms);
        for (TestTimeout timeout; arrival.kind != Arrival::Kind::block && timeout.lasts(); ++waited)
            arrival = source->next(1ms);
        SCOPED_TRACE(number);
        EXPECT_EQ(arrival.block.lost_before, 0);
        EXPECT_EQ(arrival.block.volume, number / 3);
        EXPECT_EQ(arrival.block.first_b_scan, number % 3 * 3);
    }
    EXPECT_GT(waited, 0) << "else this tests nothing";
}

INSTANTIATE_TEST_SUITE_P(EachWay, SlowPlugin, testing::Values("next is slow", "posted next is slow"),
                         [](const auto& fault) { return as_name(fault.param); });

// A plugin that never returns is reported. Stopping and closing do not wait for it.
class HangingPlugin : public testing::TestWithParam<const char*> {};

TEST_P(HangingPlugin, DoesNotBlockExit) {
    const auto begun = std::chrono::steady_clock::now();
    {
        const auto source = open_plugin(hostile("hostile", GetParam()));
        source->start();
        source->next(1ms);
        source->stop();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s) << "it hangs for 30 s";
}

INSTANTIATE_TEST_SUITE_P(EachWay, HangingPlugin,
                         testing::Values("next hangs", "posted next hangs", "stop hangs", "close hangs"),
                         [](const auto& fault) { return as_name(fault.param); });

TEST(PluginFaults, ReportsCallThatHangs) {
    const auto source = open_plugin(hostile("hostile", "next hangs"));
    source->start();
    std::string line;
    for (TestTimeout timeout; line.empty() && timeout.lasts();) {
        try {
            const auto begun = std::chrono::steady_clock::now();
            EXPECT_EQ(source->next(20ms).kind, Arrival::Kind::nothing_yet);
            EXPECT_LT(std::chrono::steady_clock::now() - begun, 2s) << "no call waits longer than it was asked to";
        } catch (const Error& error) {
            line = error.line();
        }
    }
    EXPECT_THAT(line, HasSubstr("next() has not returned for 5 s"));
    EXPECT_THROW(source->start(), Error) << "it still hangs";
}

}  // namespace
}  // namespace echolux
