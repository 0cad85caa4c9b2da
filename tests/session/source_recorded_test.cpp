// Scans from disk as live sources: every byte in its place, looping or to the end, with clear errors if that cannot
// work.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "await.h"
#include "compute/indexing.h"
#include "engine/acquire/source.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/truth.h"
#include "hand_clock.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using namespace test;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto long_enough = 30s;  // for immediate events

const std::string scan_toml = R"([scan]
file = "s.raw"
sample_format = "u8"
offset_bytes = 7
frame_offset_bytes = 5
trailer_bytes = 3
samples = 4
a_scans = 3
b_scans = 5
b_repeats = 2
volumes = 2
flyback_lines = 1
flyback_frames = 1
)";
constexpr std::int64_t stride = 5 + 4 * 4;
constexpr std::int64_t volume_bytes = 11 * stride;
constexpr std::int64_t file_bytes = 7 + 2 * volume_bytes + 3;

class RecordedSource : public ::testing::Test {
  protected:
    RecordedSource() {
        folder_.write("scan.toml", scan_toml);
        spectra_.resize(file_bytes);
        std::iota(spectra_.begin(), spectra_.end(), char{1});
        folder_.write("s.raw", spectra_);
        wanted_.name = "replay:" + (folder_ / "scan.toml").string();
        wanted_.settings = {.line_rate_hz = 1000, .block_b_scans = 2, .pool_blocks = 100};
        wanted_.memory = MemoryKind::host;
    }

    std::vector<Block> blocks(Source& source, std::size_t count) {
        std::vector<Block> blocks;
        for (TestTimeout timeout; blocks.size() < count && timeout.lasts();) {
            clock_->set(clock_->now_s() + 0.001);
            Arrival arrival = source.next(1ms);
            if (arrival.kind == Arrival::Kind::block) blocks.push_back(std::move(arrival.block));
            if (arrival.kind == Arrival::Kind::ended) break;
        }
        return blocks;
    }

    static std::string bytes_of(const Block& block) {
        return {reinterpret_cast<const char*>(block.data), index(block.bytes)};
    }

    TemporaryFolder folder_;
    std::string spectra_;
    SourceRequest wanted_;
    std::shared_ptr<HandClock> clock_ = std::make_shared<HandClock>();
};

TEST_F(RecordedSource, RepeatsBytesOfFile) {
    const auto source = open_replay(wanted_, clock_);
    EXPECT_EQ(source->block_b_scans(), 2);
    EXPECT_EQ(source->scan().geometry.line_rate_hz, 1000);
    source->start();
    const std::vector<Block> blocks = this->blocks(*source, 15);
    ASSERT_EQ(blocks.size(), 15U);
    std::string sent;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_EQ(blocks[i].sequence, i);
        EXPECT_EQ(blocks[i].volume, static_cast<std::int64_t>(i / 3));
        EXPECT_EQ(blocks[i].first_b_scan, static_cast<std::int64_t>(i % 3 * 2));
        EXPECT_EQ(blocks[i].b_scans, i % 3 == 2 ? 1 : 2);
        EXPECT_EQ(blocks[i].frames.offset_bytes, 5);
        EXPECT_EQ(blocks[i].frames.stride_bytes, stride);
        EXPECT_DOUBLE_EQ(blocks[i].time_s, static_cast<double>(i / 3 * 11 + i % 3 * 4) * 0.004);
        sent += bytes_of(blocks[i]);
    }
    const std::string both = spectra_.substr(7, 2 * volume_bytes);
    EXPECT_TRUE(sent == both + both + both.substr(0, volume_bytes));
}

TEST_F(RecordedSource, EndsWithoutLoop) {
    wanted_.settings.loop = false;
    const auto source = open_replay(wanted_, clock_);
    for (int i = 0; i < 2; ++i) {
        source->start();
        EXPECT_EQ(blocks(*source, 100).size(), 6U);
        EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::ended);
    }
}

TEST_F(RecordedSource, OfflineReaderSkipsHeadersAndFlyback) {
    SpectraReader reader(open_scan(folder_ / "scan.toml"));
    std::string bytes(4 * 12, '\0');  // two positions, each twice, of three lines
    reader.read(1, 1, 2, std::as_writable_bytes(std::span(bytes)));
    for (std::size_t frame = 0; frame < 4; ++frame) {
        const std::size_t place = 7 + volume_bytes + (2 + frame) * stride + 5;
        EXPECT_EQ(bytes.substr(frame * 12, 12), spectra_.substr(place, 12));
    }
}

TEST_F(RecordedSource, SizeOfFileIncludesFlyback) {
    folder_.write("s.raw", spectra_.substr(0, file_bytes - 3 - stride));
    const std::string line = error_of([&] { open_replay(wanted_, clock_); }).line;
    EXPECT_THAT(line, HasSubstr("ends in volume 1, B-scan 4, A-scan 0"));
    EXPECT_THAT(line, HasSubstr(std::to_string(file_bytes)));
}

// The rate that a recording must keep up with, and the files that it must not overwrite.
TEST_F(RecordedSource, ReportsRateAndFiles) {
    for (const std::string name : {"a", "b"}) {
        folder_.write(name + ".toml", "[scan]\nfile = \"" + name + ".raw\"\nsample_format = \"u8\"\nsamples = 4\n" +
                                          "a_scans = 3\nb_scans = 4\nline_rate_hz = 500\n");
        folder_.write(name + ".raw", std::string(4 * 3 * 4, 'x'));
    }
    const std::string a = "replay:" + (folder_ / "a.toml").string(), b = "replay:" + (folder_ / "b.toml").string();
    wanted_.settings.line_rate_hz = 4000;
    for (const std::string& name : {a, "join:" + a + "+" + b, "interleave:" + a + "+" + b}) {
        SCOPED_TRACE(name);
        wanted_.name = name;
        const auto source = open_source(wanted_);
        const std::size_t parts = name == a ? 1 : 2;
        EXPECT_EQ(source->scan().geometry.line_rate_hz, 500.0 * static_cast<double>(parts));
        EXPECT_EQ(source->line_rate_hz(), 4000.0 * static_cast<double>(parts));
        const std::vector<std::filesystem::path> played = source->played_files();
        ASSERT_EQ(played.size(), parts);
        EXPECT_EQ(played.front().string(), (folder_ / "a.raw").string());
        EXPECT_EQ(played.back().string(), (folder_ / (parts == 1 ? "a.raw" : "b.raw")).string());
    }
}

TEST_F(RecordedSource, RequiresLineRate) {
    wanted_.settings.line_rate_hz = 0;
    const Caught caught = error_of([&] { open_replay(wanted_, clock_); });
    EXPECT_EQ(caught.code, ErrorCode::bad_setting);
    EXPECT_THAT(caught.line, HasSubstr("source.line_rate_hz: is required"));
}

TEST_F(RecordedSource, KeepsLineRateOfScan) {
    wanted_.assignments = {"scan.line_rate_hz=500"};
    const auto source = open_replay(wanted_, clock_);
    EXPECT_EQ(source->scan().geometry.line_rate_hz, 500);  // the rate of acquisition, needed for flow
    source->start();
    EXPECT_DOUBLE_EQ(blocks(*source, 2)[1].time_s, 4 * 0.004);  // the rate of sending
}

TEST_F(RecordedSource, ReportsChangedFileAndCanRestart) {
    const auto source = open_replay(wanted_, clock_);
    source->start();
    blocks(*source, 1);
    std::filesystem::resize_file(folder_ / "s.raw", file_bytes - 1);
    const Caught caught = error_of([&] { blocks(*source, 100); });
    EXPECT_EQ(caught.code, ErrorCode::bad_file);
    EXPECT_THAT(caught.line, HasSubstr("changed from"));
    folder_.write("s.raw", spectra_);
    source->start();
    EXPECT_EQ(blocks(*source, 3).size(), 3U);
}

TEST_F(RecordedSource, UnknownKindsAreRefusedWithKnownOnes) {
    for (const std::string name : {"replai:x", "replay", "replay:", "", "plugin:", "camera"}) {
        wanted_.name = name;
        const Caught caught = error_of([&] { open_source(wanted_); });
        EXPECT_EQ(caught.code, ErrorCode::bad_setting) << name;
        EXPECT_THAT(caught.line, HasSubstr("expected sim[:SCENE], sim:scan.toml, replay:scan.toml")) << name;
    }
    wanted_.name = "replay:" + (folder_ / "none.toml").string();
    EXPECT_EQ(error_of([&] { open_source(wanted_); }).code, ErrorCode::bad_file);
    wanted_.name = "sim:" + (folder_ / "scan.toml").string();
    EXPECT_THAT(error_of([&] { open_source(wanted_); }).line, HasSubstr("only recordings of the simulator"));
    EXPECT_GE(sources_found().size(), 3U);
}

// One simulation, to a file and live, has the same lines, in blocks with other boundaries.
class LiveSimulation : public RecordedSource {
  protected:
    LiveSimulation() {
        wanted_.assignments = {"simulation.samples=256",        "simulation.a_scans=12",
                               "simulation.b_scans=5",          "simulation.volumes=2",
                               "simulation.flyback_lines=3",    "simulation.flyback_frames=1",
                               "simulation.bidirectional=true", "recipe.window=hamming"};
        wanted_.name = "sim:layers";
        SilentProgress silent;
        Simulation recorded;
        set(recorded,
            "scene=layers samples=256 a_scans=12 b_scans=5 volumes=2 flyback_lines=3 flyback_frames=1 "
            "bidirectional=true line_rate_hz=1000");
        simulate(recorded, folder_ / "sim.toml", silent);
        std::ifstream file(folder_ / "sim.raw", std::ios::binary);
        spectra_.assign(std::istreambuf_iterator<char>(file), {});
    }

    void expect_the_recording_twice(Source& source) {
        source.start();
        std::string sent;
        for (const Block& block : blocks(source, 12)) sent += bytes_of(block);
        ASSERT_EQ(sent.size(), 2 * spectra_.size());
        EXPECT_TRUE(sent.starts_with(spectra_));  // including its stamps
        const std::size_t frame = 32 + 15 * 512;
        for (std::size_t at = 0; at < spectra_.size(); at += frame) {
            EXPECT_TRUE(sent.substr(spectra_.size() + at + 32, frame - 32) == spectra_.substr(at + 32, frame - 32));
            EXPECT_FALSE(sent.substr(spectra_.size() + at, 32) == spectra_.substr(at, 32));
        }
    }
};

TEST_F(LiveSimulation, SendsSameDataAsSimulatedFile) {
    const auto source = open_simulator(wanted_, clock_);
    EXPECT_EQ(source->name(), "simulator (layers)");
    EXPECT_TRUE(source->capabilities().has_truth);
    expect_the_recording_twice(*source);
    const Scan recorded = open_scan(folder_ / "sim.toml");
    const Scan& scan = source->scan();
    EXPECT_EQ(scan.calibration.wavelengths_nm, recorded.calibration.wavelengths_nm);
    EXPECT_EQ(scan.calibration.background, recorded.calibration.background);
    EXPECT_EQ(scan.calibration.dark, recorded.calibration.dark);
    EXPECT_EQ(scan.recipe.depth_end, recorded.recipe.depth_end);
    EXPECT_EQ(scan.recipe.window, Window::hamming);
    EXPECT_TRUE(scan.geometry.bidirectional);
    source->write_truth(folder_ / "live");
    EXPECT_EQ(read_truth(folder_ / "live").labels, read_truth(folder_ / "truth").labels);
}

TEST_F(LiveSimulation, ReplaysEarlierSimulation) {
    wanted_.name = "sim:" + (folder_ / "sim.toml").string();
    wanted_.assignments.clear();
    const auto source = open_simulator(wanted_, clock_);
    expect_the_recording_twice(*source);
}

TEST_F(LiveSimulation, BadSettingsAreRefused) {
    wanted_.assignments.emplace_back("simulation.b_scan=3");
    EXPECT_THAT(error_of([&] { open_simulator(wanted_, clock_); }).line, HasSubstr("b_scans"));
    wanted_.name = "sim:eye";
    wanted_.assignments.clear();
    EXPECT_THAT(error_of([&] { open_simulator(wanted_, clock_); }).line, HasSubstr("retina"));
}

}  // namespace
}  // namespace echolux
