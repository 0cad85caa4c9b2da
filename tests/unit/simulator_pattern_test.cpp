// The simulated beam follows the scan pattern. Without noise, a line does not depend on its place in the pattern, so
// scans of other patterns are compared line by line with a plain raster of the same scene.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute/indexing.h"
#include "engine/simulate/truth.h"
#include "simulator_recording.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using test::file_values;
using test::SimulatedRecording;

using Line = std::vector<std::uint16_t>;

Simulation still(const std::string& scene = "layers") {
    Simulation s = with(Simulation{}, "samples=256 a_scans=9 b_scans=5 full_well_electrons=0 read_noise_electrons=0");
    s.scene = scene;
    s.relief = Relief::flat;  // independent of the field
    return s;
}

// Returns [acquired B-scan][line] including flyback, read without the product's readers.
std::vector<std::vector<Line>> frames_of(const Simulation& s) {
    const TemporaryFolder folder;
    SilentProgress silent;
    simulate(s, folder / "scan.toml", silent);
    const std::vector<std::uint16_t> raw = file_values<std::uint16_t>(folder / "scan.raw");
    const auto samples = index(s.samples);
    const auto lines = index(s.a_scans * s.a_repeats + s.flyback_lines);
    const std::size_t stride = 16 + lines * samples;
    std::vector<std::vector<Line>> frames;
    for (std::size_t frame = 0; frame + stride <= raw.size(); frame += stride) {
        frames.emplace_back();
        for (std::size_t line = 0; line < lines; ++line) {
            const auto begin = raw.begin() + static_cast<std::ptrdiff_t>(frame + 16 + line * samples);
            frames.back().emplace_back(begin, begin + static_cast<std::ptrdiff_t>(samples));
        }
    }
    EXPECT_EQ(raw.size() % stride, 0U);
    return frames;
}

TEST(SimulatorPattern, ScansEverySecondBScanBackwards) {
    const auto plain = frames_of(still());
    Simulation s = still();
    s.bidirectional = true;
    auto there_and_back = frames_of(s);
    EXPECT_NE(there_and_back, plain);
    for (std::size_t frame = 1; frame < there_and_back.size(); frame += 2) std::ranges::reverse(there_and_back[frame]);
    EXPECT_EQ(there_and_back, plain);
}

TEST(SimulatorPattern, AddsFlybackBetweenLines) {
    const auto plain = frames_of(still());
    Simulation s = with(still(), "flyback_lines=4 flyback_frames=2 volumes=2");
    const auto frames = frames_of(s);
    ASSERT_EQ(frames.size(), 14U);
    for (std::size_t frame = 0; frame < 14; ++frame) {
        ASSERT_EQ(frames[frame].size(), 13U);
        if (frame % 7 >= 5) continue;
        for (std::size_t line = 0; line < 9; ++line) EXPECT_EQ(frames[frame][line], plain[frame % 7][line]);
        for (std::size_t line = 9; line < 13; ++line) {  // in transit: equal to no line of the scan
            EXPECT_EQ(std::ranges::count(plain[frame % 7], frames[frame][line]), 0);
        }
    }
}

TEST(SimulatorPattern, SineMeetsRasterAtCentreAndEnds) {
    const auto plain = frames_of(still());
    Simulation s = still();
    s.fast_axis = FastAxis::sinusoidal;
    const auto sine = frames_of(s);
    for (std::size_t frame = 0; frame < 5; ++frame) {
        for (std::size_t line = 0; line < 9; ++line) {
            EXPECT_EQ(sine[frame][line] == plain[frame][line], line % 4 == 0) << line;
        }
    }
    Simulation second_line = still();  // a raster whose second A-scan is at the sine's second line
    const double end = std::numbers::pi / 2 * s.sinusoidal_part;
    second_line.spacing_a_um = 4 * 8 * (std::sin(end * (2.0 / 8 - 1)) / std::sin(end) + 1);
    second_line.a_scans = 2;
    EXPECT_EQ(frames_of(second_line)[0][1], sine[0][1]);
}

// Both slices of a cross see the same tissue at their intersection.
TEST(SimulatorPattern, CrossSlicesAgreeAtIntersection) {
    Simulation s = with(still(), "protocol=cross a_scans=31");
    s.b_scans = 100;  // overridden by the protocol
    const auto cross = frames_of(s);
    ASSERT_EQ(cross.size(), 2U);
    EXPECT_EQ(cross[0][15], cross[1][15]);
    EXPECT_NE(cross[0][14], cross[1][14]);
    s.protocol = Protocol::four_slices;
    const auto slices = frames_of(s);
    ASSERT_EQ(slices.size(), 4U);
    EXPECT_EQ(slices[1], cross[0]);
    EXPECT_EQ(slices[3], cross[1]);
    EXPECT_EQ(std::ranges::count(slices[3], slices[0][15]), 0);  // a quarter of the field: between two A-scans
}

// The slice along y equals the middle column of a raster. Blood is at rest; each line of the slice needs only a few of
// its streamlines.
TEST(SimulatorPattern, CrossSliceEqualsColumnOfRaster) {
    Simulation s = still("capillary");
    set(s, "samples=1024 a_scans=11 b_scans=11 spacing_a_um=4 spacing_b_um=4 flow_ul_s=0");
    const auto raster = frames_of(s);
    s.protocol = Protocol::cross;
    const auto cross = frames_of(s);
    EXPECT_EQ(cross[0], raster[5]);
    for (std::size_t b = 0; b < 11; ++b) EXPECT_EQ(cross[1][b], raster[b][5]);
}

// The surface is where the truth says, also in the slice along y.
TEST(SimulatorPattern, StoresTruthOfSlices) {
    Simulation s = with(Simulation{}, "scene=vessel samples=512 a_scans=64 spacing_a_um=12 protocol=cross");
    const SimulatedRecording recording(s);
    const Truth truth = read_truth(recording.folder() / "truth");
    ASSERT_EQ(truth.facts.b_scans, 2);
    for (std::int64_t b = 0; b < 2; ++b) {
        double above = 0;
        double below = 0;
        double min_um = 1e9;
        double max_um = 0;
        for (std::int64_t a = 0; a < 64; ++a) {
            const double surface_um = truth.boundary_bin(0, a, b) * truth.facts.pitch_um;
            min_um = std::min(min_um, surface_um);
            max_um = std::max(max_um, surface_um);
            const auto line = index(b * 64 + a);
            above += std::norm(recording.amplitude(line, surface_um - 6));
            below += std::norm(recording.amplitude(line, surface_um + 6));
        }
        EXPECT_GT(max_um - min_um, 12);  // it is curved, so other positions would fail
        EXPECT_GT(below, 10 * above);
    }
}

// A vessel cut lengthwise: the axis of the lumen leaves and enters the slice, and the labels agree with it.
TEST(SimulatorPattern, TruthIncludesVesselsOfEverySlice) {
    Simulation s = with(Simulation{}, "scene=retina samples=512 a_scans=48 protocol=four_slices");
    const SimulatedRecording recording(s);
    const Truth truth = read_truth(recording.folder() / "truth");
    std::int64_t inside = 0;
    for (std::int64_t b = 0; b < 4; ++b) {
        for (std::int64_t a = 0; a < 48; ++a) {
            for (std::int64_t bin = 0; bin < truth.facts.depth_bins; ++bin) {
                const auto voxel = index((b * 48 + a) * truth.facts.depth_bins + bin);
                const double depth_um = static_cast<double>(bin) * truth.facts.pitch_um;
                const bool flows = truth.axial_velocity_mm_s(a, b, depth_um, 0) != 0;
                const bool is_lumen = truth.labels[voxel] >= lumen_label && truth.labels[voxel] < wall_label;
                EXPECT_EQ(flows, is_lumen);
                inside += flows ? 1 : 0;
            }
        }
    }
    EXPECT_GT(inside, 50);
}

}  // namespace
}  // namespace echolux
