// Files of the simulator: reproducible bytes, frames with checksums, and nothing left after a failure.
#include <gtest/gtest.h>

#include <cstring>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/simulate/truth.h"
#include "simulator_recording.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using test::file_bytes;

Simulation small(const std::string& scene = "vessel") {
    Simulation s = with(Simulation{}, "samples=256 a_scans=24 b_scans=6 volumes=2");
    s.scene = scene;
    return s;
}

std::vector<char> raw_of(const Simulation& simulation, int threads = 0) {
    const TemporaryFolder folder;
    SilentProgress silent;
    set_thread_count(threads);
    simulate(simulation, folder / "scan.toml", silent);
    set_thread_count(0);
    return file_bytes(folder / "scan.raw");
}

TEST(SimulatorFiles, SameBytesForAnyNumberOfThreads) {
    const std::vector<char> one = raw_of(small(), 1);
    EXPECT_EQ(one, raw_of(small(), 2));
    EXPECT_EQ(one, raw_of(small(), 5));
    const auto middle = one.begin() + static_cast<std::ptrdiff_t>(one.size() / 2);
    const std::vector<char> first_frame(one.begin() + 32, one.begin() + 32 + 24 * 512);
    EXPECT_FALSE(std::equal(first_frame.begin(), first_frame.end(), middle + 32));  // blood and noise continue
    Simulation other = small();
    other.seed = 2;
    EXPECT_NE(one, raw_of(other));
}

// Computes the checksum bit by bit, as in the standard.
std::uint32_t slow_crc(const std::vector<char>& bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<std::uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xedb88320U : crc >> 1;
    }
    return ~crc;
}

TEST(SimulatorFiles, FramesCarrySequenceTimeAndChecksum) {
    EXPECT_EQ(slow_crc({'1', '2', '3', '4', '5', '6', '7', '8', '9'}), 0xcbf43926U);
    const Simulation s = small();
    const std::vector<char> raw = raw_of(s);
    const std::size_t frame_bytes = 24 * 256 * 2;
    ASSERT_EQ(raw.size(), 12 * (32 + frame_bytes));
    for (std::uint64_t frame = 0; frame < 12; ++frame) {
        const char* header = raw.data() + frame * (32 + frame_bytes);
        std::uint64_t sequence = 0;
        double time_s = 0;
        std::uint32_t crc = 0;
        std::memcpy(&sequence, header + 8, 8);
        std::memcpy(&time_s, header + 16, 8);
        std::memcpy(&crc, header + 28, 4);
        std::vector<char> covered(header, header + 28);
        covered.insert(covered.end(), header + 32, header + 32 + frame_bytes);
        EXPECT_EQ(std::memcmp(header, "ECHOLUX1", 8), 0);
        EXPECT_EQ(sequence, frame);
        EXPECT_DOUBLE_EQ(time_s, 24.0 * static_cast<double>(frame) / s.line_rate_hz);
        EXPECT_EQ(crc, slow_crc(covered));
    }
}

TEST(SimulatorFiles, CreateUsualScan) {
    const TemporaryFolder folder;
    SilentProgress silent;
    Simulation s = with(small("retina"), "a2_rad=12 a_repeats=2 b_repeats=3");
    simulate(s, folder / "eye.toml", silent);
    const Scan scan = open_scan(folder / "eye.toml");
    EXPECT_EQ(scan.geometry.samples, 256);
    EXPECT_EQ(scan.geometry.b_repeats, 3);
    EXPECT_EQ(scan.geometry.volumes, 2);
    EXPECT_EQ(scan.file.frame_offset_bytes, 32);
    EXPECT_EQ(scan.calibration.background.size(), 256U);
    EXPECT_EQ(scan.calibration.wavelengths_nm.size(), 256U);
    EXPECT_EQ(scan.recipe.background, Background::stored);
    EXPECT_EQ(scan.recipe.a2_rad, 12);
    const Truth truth = read_truth(folder / "truth");
    EXPECT_EQ(truth.facts.scene, "retina");
    EXPECT_EQ(truth.facts.tube_radius_um.size(), 2U);
    EXPECT_EQ(truth.labels.size(), 24U * 6 * 128);
}

class StopsAfterTwo : public Progress {
  public:
    void begin(const std::string&, std::int64_t, const std::string&) override {}
    void advance(std::int64_t) override {
        if (++calls_ == 2) throw Error(ErrorCode::cancelled, "stopped");
    }
    void end() override {}

  private:
    int calls_ = 0;
};

TEST(SimulatorFiles, CancelledWorkLeavesNoFiles) {
    const TemporaryFolder folder;
    StopsAfterTwo progress;
    EXPECT_THROW(simulate(small(), folder / "scan.toml", progress), Error);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

class CountsLines : public SilentProgress {
  public:
    void begin(const std::string&, std::int64_t total, const std::string&) override { left = total; }
    void advance(std::int64_t count) override { left -= count; }
    std::int64_t left = -1;
};

TEST(SimulatorFiles, ProgressCountsEveryLine) {
    const TemporaryFolder folder;
    CountsLines progress;
    Simulation s = small();
    s.a_repeats = 3;
    simulate(s, folder / "scan.toml", progress);
    EXPECT_EQ(progress.left, 0);
}

void expect_refused(const Simulation& simulation, const std::string& key) {
    const TemporaryFolder folder;
    SilentProgress silent;
    const Caught caught = error_of([&] { simulate(simulation, folder / "scan.toml", silent); });
    EXPECT_EQ(caught.code, ErrorCode::bad_setting) << key;
    EXPECT_EQ(caught.where, "simulation." + key) << caught.line;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SimulatorFiles, BadSettingsAreRefused) {
    for (const auto& [assignments, key] :
         {std::pair{"samples=0", "samples"},
          {"beam_radius_um=nan", "beam_radius_um"},
          {"b_scans=4096 volumes=1048576 b_repeats=4096", "volumes"},
          {"a_scans=1048576 samples=16384", "a_scans"},
          {"beam_radius_um=0.5 scatterers_per_cell=1000 a_scans=10000", "scatterers_per_cell"},
          {"curve2_nm=90", "span_nm"},
          {"scene=mirror mirror_um=50,400", "mirror_um"},
          {"scene=mirror mirror_amplitude=0.1", "mirror_amplitude"},
          {"scene=capillary", "tilt_deg"}})
        expect_refused(with(small(), assignments), key);
}

TEST(SimulatorFiles, LimitsFieldsOfScanToThoseThatCanBeSimulated) {
    Simulation s;
    Settings settings;
    settings.bind("simulation", s);
    for (const char* refused : {"depth_flip=true", "fast_axis=file", "samples=64", "a_scans=0", "volumes=2000000",
                                "line_rate_hz=0", "spacing_a_um=20000", "refractive_index=4"}) {
        EXPECT_THROW(settings.set_assignment(std::string("simulation.") + refused), Error) << refused;
    }
    EXPECT_EQ(s.line_rate_hz, 70'000);
    for (const char* accepted : {"fast_axis=sinusoidal", "samples=128", "spacing_a_um=0", "refractive_index=0"}) {
        EXPECT_NO_THROW(settings.set_assignment(std::string("simulation.") + accepted)) << accepted;
    }
    EXPECT_EQ(s.fast_axis, FastAxis::sinusoidal);
}

TEST(SimulatorFiles, UnwritableFolderIsOutputError) {
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << "not a folder";
    SilentProgress silent;
    EXPECT_EQ(error_of([&] { simulate(small(), folder / "file/scan.toml", silent); }).code, ErrorCode::output);
}

TEST(SimulatorFiles, TruthOfWrongSizeIsRefused) {
    const TemporaryFolder folder;
    SilentProgress silent;
    simulate(small(), folder / "scan.toml", silent);
    std::filesystem::resize_file(folder / "truth/labels.u8", 100);
    EXPECT_THROW(read_truth(folder / "truth"), Error);
}

}  // namespace
}  // namespace echolux
