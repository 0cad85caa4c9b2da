// Stabilising and filtering of live volumes: the result equals that of the file commands for the same volume, settings
// change between volumes, problems are reported without ending the session, and recordings are unaffected.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "await.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/acquire/pushed_source.h"
#include "engine/live/host_volumes.h"
#include "engine/live/session.h"
#include "engine/speckle/speckle_filter.h"
#include "live_plan.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"
#include "tests/support/volumes.h"

namespace echolux::test {
namespace {

using namespace std::chrono_literals;
using SwapPoint = BlockSink::SwapPoint;

const BackendChoice on_cpu{.backend = Backend::cpu};

Scan tissue_scan(VoxelType type = VoxelType::u8) {
    Scan scan = with(live_scan(), "samples=128 a_scans=20 b_scans=9 background=none levels=fixed low=30 high=110");
    scan.recipe.voxel = type;
    return scan;
}

std::vector<std::uint16_t> noise_of(const Scan& scan) {
    const ScanGeometry& geometry = scan.geometry;
    std::vector<std::uint16_t> spectra(index(geometry.samples * geometry.a_scans * geometry.b_scans));
    std::mt19937 random(5);
    for (std::uint16_t& sample : spectra) sample = static_cast<std::uint16_t>(random() % 60000);
    return spectra;
}

// Skips the line at zero depth that all B-scans share.
Scan noise_scan() {
    Scan scan = with(tissue_scan(), "a_scans=64 depth_begin=6");
    return scan;
}

LiveTissue filtering(FilterMethod method) {
    LiveTissue tissue{.filters = true,
                      .filter = {.method = method,
                                 .search_depth = 5,
                                 .search_a_scans = 5,
                                 .search_b_scans = 3,
                                 .patch = 3,
                                 .median_size = 3}};
    return tissue;
}

class LiveTissueOf : public ::testing::Test {
  protected:
    Block block(std::int64_t volume, std::int64_t first, std::int64_t count) const {
        const std::int64_t b_scan = scan_.geometry.samples * scan_.geometry.a_scans;
        Block one{.data = reinterpret_cast<const std::byte*>(spectra_.data() + first * b_scan),
                  .bytes = count * b_scan * 2,
                  .volume = volume,
                  .first_b_scan = first,
                  .b_scans = count};
        return one;
    }
    Block whole(std::int64_t volume) const { return block(volume, 0, scan_.geometry.b_scans); }

    VolumeReceiver receiver() {
        return {[] { return true; }, [this](HostVolume volume) { made_.push_back(std::move(volume)); }};
    }

    void use(const Scan& scan) {
        scan_ = scan;
        spectra_ = noise_of(scan);
        made_.clear();
    }

    Volume raw() {
        HostVolumes sink(scan_.spec(9), on_cpu, receiver());
        EXPECT_TRUE(sink.feed(whole(0)));
        Volume volume = std::move(made_.back().structure);
        made_.pop_back();
        return volume;
    }

    Volume filtered_offline(const SpeckleFilter& filter) {
        Volume volume = raw();
        SilentProgress silent;
        filter_volume(volume, filter, silent);
        return volume;
    }

    Scan scan_ = tissue_scan();
    std::vector<std::uint16_t> spectra_ = noise_of(scan_);
    std::vector<HostVolume> made_;
};

TEST_F(LiveTissueOf, FilteredVolumeEqualsThatOfFilterCommand) {
    for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f32}) {
        use(tissue_scan(type));
        const Volume unfiltered = raw();
        for (const FilterMethod method : {FilterMethod::median, FilterMethod::bilateral, FilterMethod::nlm}) {
            SCOPED_TRACE(::testing::Message() << bytes_of(type) << " bytes, method " << static_cast<int>(method));
            const LiveTissue tissue = filtering(method);
            HostVolumes sink(scan_.spec(9), on_cpu, receiver());
            sink.set_tissue(tissue);
            ASSERT_TRUE(sink.take_change(SwapPoint::between_volumes));
            ASSERT_TRUE(sink.feed(block(0, 0, 4)) && sink.feed(block(0, 4, 5)));
            EXPECT_EQ(made_.back().structure.voxels, filtered_offline(tissue.filter).voxels);
            EXPECT_NE(made_.back().structure.voxels, unfiltered.voxels);
            EXPECT_TRUE(made_.back().structure.provenance.contains("filter"));
            EXPECT_EQ(sink.tissue_log().stats().filtered, 1);
        }
    }
}

TEST_F(LiveTissueOf, SettingsChangeBetweenVolumes) {
    const LiveTissue tissue = filtering(FilterMethod::median);
    HostVolumes sink(scan_.spec(9), on_cpu, receiver());
    ASSERT_TRUE(sink.feed(block(0, 0, 4)));
    sink.set_tissue(tissue);
    EXPECT_FALSE(sink.take_change(SwapPoint::within_volume));
    ASSERT_TRUE(sink.feed(block(0, 4, 5)));
    EXPECT_EQ(made_.back().structure.voxels, raw().voxels);
    EXPECT_TRUE(sink.take_change(SwapPoint::between_volumes));
    EXPECT_FALSE(sink.take_change(SwapPoint::between_volumes)) << "it is taken once";
    ASSERT_TRUE(sink.feed(whole(1)));
    EXPECT_EQ(made_.back().structure.voxels, filtered_offline(tissue.filter).voxels);
    sink.set_tissue({});
    ASSERT_TRUE(sink.take_change(SwapPoint::between_volumes));
    ASSERT_TRUE(sink.feed(whole(2)));
    EXPECT_EQ(made_.back().structure.voxels, raw().voxels);
}

TEST_F(LiveTissueOf, ShowsNoiseUnchangedAndReportsOnce) {
    use(noise_scan());
    LiveTissue tissue{.stabilises = true, .registration = {.axial_range = 8, .lateral_range = 4}};
    HostVolumes sink(scan_.spec(9), on_cpu, receiver());
    sink.set_tissue(tissue);
    ASSERT_TRUE(sink.take_change(SwapPoint::between_volumes));
    const Volume unchanged = raw();
    ASSERT_TRUE(sink.feed(whole(0)) && sink.feed(whole(1)));
    for (const HostVolume& volume : made_) EXPECT_TRUE(volume.structure.voxels == unchanged.voxels);
    const auto news = sink.take_messages();
    ASSERT_EQ(news.size(), 1u);
    EXPECT_TRUE(news[0].is_problem);
    EXPECT_NE(news[0].line.find("as they are"), std::string::npos) << news[0].line;
    EXPECT_EQ(sink.tissue_log().stats().as_it_was, 2);
    EXPECT_EQ(sink.tissue_log().stats().stabilised, 0);
}

TEST_F(LiveTissueOf, PassesUnsuitableVolumesAndReports) {
    Scan scan = tissue_scan(VoxelType::f32);
    scan.recipe.quantity = Quantity::complex;
    use(scan);
    HostVolumes sink(scan_.spec(9), on_cpu, receiver());
    sink.set_tissue(filtering(FilterMethod::median));
    ASSERT_TRUE(sink.take_change(SwapPoint::between_volumes));
    ASSERT_TRUE(sink.feed(whole(0)));
    EXPECT_EQ(made_.back().structure.voxels, raw().voxels);
    const auto news = sink.take_messages();
    ASSERT_EQ(news.size(), 1u);
    EXPECT_NE(news[0].line.find("complex"), std::string::npos) << news[0].line;
}

TEST_F(LiveTissueOf, RejectsInvalidSettingsAtOnce) {
    HostVolumes sink(scan_.spec(9), on_cpu, receiver());
    LiveTissue even = filtering(FilterMethod::nlm);
    even.filter.patch = 4;
    EXPECT_THROW(sink.set_tissue(even), Error);
    LiveTissue without_middle;
    without_middle.registration.strip = 2;
    EXPECT_THROW(sink.set_tissue(without_middle), Error);
    EXPECT_FALSE(sink.take_change(SwapPoint::between_volumes)) << "nothing was taken";
}

// ---- comparison with known motion

constexpr std::int64_t depth = 96, a_scans = 64, b_scans = 24;

// Layers and speckle, partly shared by neighbouring B-scans. B-scan b is shifted by z[b], x[b] whole voxels.
Volume moved_tissue(const std::vector<int>& z, const std::vector<int>& x) {
    std::mt19937 random(8);
    std::exponential_distribution<float> speckle(1);
    constexpr std::int64_t border = 16, long_z = depth + 2 * border, long_x = a_scans + 2 * border;
    constexpr std::size_t plane = long_z * long_x, shared = 3;
    std::vector<float> looks(plane * (b_scans + shared)), still(plane * b_scans);
    for (float& look : looks) look = speckle(random);
    for (std::size_t i = 0; i < still.size(); ++i) {
        const std::size_t a = i / long_z % long_x;
        const double d = static_cast<double>(i % long_z) + 5 * std::sin(static_cast<double>(a) / 5);
        const bool is_layer = (d > 44 && d < 52) || (d > 60 && d < 80);
        for (std::size_t k = 0; k < shared; ++k) still[i] += looks[i + k * plane] * (is_layer ? 20.0F : 0.2F);
    }
    Volume volume = make_volume({.depth = depth, .a_scans = a_scans, .b_scans = b_scans, .quantity = "intensity"});
    auto* out = reinterpret_cast<float*>(volume.voxels.data());
    for (std::size_t b = 0; b < index(b_scans); ++b) {
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t d = 0; d < depth; ++d)
                *out++ = still[b * plane + index((a + border - x[b]) * long_z + d + border - z[b])];
        }
    }
    return volume;
}

CpuPostprocessor stabilising() {
    LiveTissue tissue{.stabilises = true,
                      .registration = {.axial_range = 12, .lateral_range = 8, .row_range = 2, .strip = 1}};
    CpuPostprocessor work;
    work.set(tissue);
    return work;
}

TEST(LiveTissue, AlignsLaterVolumesToFirstGoodOne) {
    const std::vector<int> still(b_scans, 0);
    std::vector<int> z(b_scans), x(b_scans);
    for (int b = 0; b < b_scans; ++b) {
        z[index(b)] = 3 + b / 6;
        x[index(b)] = -2;
    }
    CpuPostprocessor work = stabilising();
    SilentProgress silent;
    Volume first = moved_tissue(still, still), second = moved_tissue(z, x);
    ASSERT_TRUE(work.apply(0, first, nullptr, on_cpu, silent).is_stabilised);
    const PostprocessingResult done = work.apply(1, second, nullptr, on_cpu, silent);
    ASSERT_TRUE(done.is_stabilised) << done.unsteady;
    ASSERT_EQ(std::ssize(done.rows), b_scans);
    int found = 0;
    for (std::size_t b = 0; b < z.size(); ++b) {
        const RowShift& row = done.rows[b];
        if (!row.is_valid()) continue;
        ++found;
        EXPECT_NEAR(row.z, -z[b], 0.35) << b;
        EXPECT_NEAR(row.x, -x[b], 0.35) << b;
    }
    EXPECT_GE(found, b_scans * 3 / 4);
    EXPECT_EQ(done.provenance.at("registration.b_scans_used"),
              std::to_string(done.used) + " of " + std::to_string(b_scans));
}

TEST(LiveTissue, MovesFlowWithStructureAndKeepsReferenceDuringBlink) {
    const std::vector<int> still(b_scans, 0), down(b_scans, 4);
    CpuPostprocessor work = stabilising();
    SilentProgress silent;
    Volume first = moved_tissue(still, still), moved = moved_tissue(down, still), blink = first;
    std::mt19937 random(3);
    for (std::int64_t i = 0; i < blink.grid.voxels(); ++i)
        reinterpret_cast<float*>(blink.voxels.data())[i] = static_cast<float>(random() % 100);
    Volume flow = moved;
    flow.grid.type = VoxelType::f16;
    flow.voxels.assign(index(flow.grid.bytes()), std::byte{});
    auto* codes = reinterpret_cast<std::uint16_t*>(flow.voxels.data());
    const auto at = [](std::int64_t b, std::int64_t a, std::int64_t d) { return (b * a_scans + a) * depth + d; };
    codes[at(10, 30, 50)] = 7;
    ASSERT_TRUE(work.apply(0, first, nullptr, on_cpu, silent).is_stabilised);
    const Volume as_it_was = blink;
    const PostprocessingResult blinked = work.apply(1, blink, nullptr, on_cpu, silent);
    EXPECT_FALSE(blinked.is_stabilised);
    EXPECT_FALSE(blinked.unsteady.empty());
    EXPECT_EQ(blink.voxels, as_it_was.voxels);
    const PostprocessingResult done = work.apply(2, moved, &flow, on_cpu, silent);
    ASSERT_TRUE(done.is_stabilised) << done.unsteady;
    EXPECT_NEAR(done.rows[10].z, -4, 0.35) << "against the volume before the blink";
    EXPECT_EQ(codes[at(10, 30, 46)], 7);
    EXPECT_EQ(codes[at(10, 30, 50)], 0);
}

// ---- with a recording

std::string bytes_in(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(LiveTissueOf, LeavesRecordingUnchanged) {
    std::string recorded[2];
    const Volume unfiltered = raw();
    for (int with = 0; with < 2; ++with) {
        const TemporaryFolder folder;
        PushedSource source(scan_, 9);
        HostVolumes sink(scan_.spec(9), on_cpu, receiver());
        if (with == 1) sink.set_tissue(filtering(FilterMethod::bilateral));
        made_.clear();
        Session session(source, sink, Overload::source_waits);
        RecordingRequest wanted{.scan_toml = folder / "scan.toml", .scan = scan_};
        session.record(wanted);
        session.start();
        for (int volume = 0; volume < 3; ++volume) {
            AWAIT(source.push(whole(0), 10ms));
            AWAIT(session.stats().finished_volumes == volume + 1);
        }
        EXPECT_EQ(session.stats().failed_volumes + session.stats().dropped_volumes, 0);
        session.stop();
        EXPECT_EQ(session.stop_recording().missing_blocks, 0);
        recorded[with] = bytes_in(folder / "scan.raw");
        ASSERT_EQ(made_.size(), 3u);
        EXPECT_EQ(made_.back().structure.voxels == unfiltered.voxels, with == 0);
    }
    EXPECT_FALSE(recorded[0].empty());
    EXPECT_EQ(recorded[0], recorded[1]);
}

TEST_F(LiveTissueOf, SessionReportsFailureAndContinues) {
    use(noise_scan());
    PushedSource source(scan_, 9);
    HostVolumes sink(scan_.spec(9), on_cpu, receiver());
    LiveTissue tissue = filtering(FilterMethod::median);
    tissue.stabilises = true;
    tissue.registration.axial_range = 8;
    tissue.registration.lateral_range = 4;
    sink.set_tissue(tissue);
    Session session(source, sink, Overload::source_waits);
    session.start();
    for (int volume = 0; volume < 3; ++volume) {
        AWAIT(source.push(whole(0), 10ms));
        AWAIT(session.stats().finished_volumes == volume + 1);
    }
    int said = 0;
    for (const LiveEvent& event : session.take_events()) said += event.line.find("as they are") != std::string::npos;
    EXPECT_EQ(said, 1);
    ASSERT_EQ(made_.size(), 3u);
    const Volume last = made_.back().structure;
    EXPECT_TRUE(last.voxels == filtered_offline(tissue.filter).voxels) << "what can be done is done";
}

}  // namespace
}  // namespace echolux::test
