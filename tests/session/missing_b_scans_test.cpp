// Missing B-scans of a recording: read from its index, without values in volumes, and ignored by means.
#include "engine/scan/recording.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "await.h"
#include "compute/indexing.h"
#include "compute/missing_voxels.h"
#include "engine/acquire/scan_player.h"
#include "engine/acquire/source.h"
#include "engine/analysis/figures.h"
#include "engine/offline/reconstruction.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class MissingBScansTest : public RecorderTest {
  protected:
    // All lines are equal, so B-scans only differ if a missing one affects them.
    Block same_block(std::int64_t number) {
        Block block = source_.block(number);
        const auto memory = std::make_shared<Bytes>(index(block.bytes));
        const std::int64_t frame = source_.frame_bytes();
        for (std::int64_t at = 0; at < block.bytes; ++at) (*memory)[index(at)] = frame_[index(at % frame)];
        block.data = memory->data();
        block.keeper = memory;
        return block;
    }

    // Records `blocks` blocks without the lost ones.
    void record(std::int64_t blocks, const std::vector<std::int64_t>& lost, const std::string& name = "scan") {
        RecordingRequest wanted = this->wanted();
        wanted.scan_toml = folder_ / "rec" / (name + ".toml");
        wanted.scan.recipe.background = background_;
        Recorder recorder(wanted);
        for (std::int64_t number = 0; number < blocks; ++number) {
            if (std::ranges::count(lost, number) > 0) continue;
            ASSERT_TRUE(recorder.offer(same_block(number)));
            ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
        }
    }

    Volume reconstructed(const std::string& name, std::int64_t volume, const std::vector<std::string>& set = {}) {
        SilentProgress silent;
        Reconstruction work(open_scan(folder_ / "rec" / (name + ".toml"), set), {.backend = Backend::cpu});
        warnings_ = work.warnings();
        return work.run({volume}, silent);
    }

    static bool is_nan(const Volume& volume, std::int64_t slice) {
        std::vector<float> voxels(index(volume.grid.depth * volume.grid.a_scans));
        std::memcpy(voxels.data(), volume.voxels.data() + slice * volume.grid.b_scan_bytes(),
                    voxels.size() * sizeof(float));
        return std::ranges::all_of(voxels, [](float value) { return std::isnan(value); });
    }

    static bool are_alike(const Volume& a, const Volume& b, std::int64_t slice) {
        const std::int64_t bytes = a.grid.b_scan_bytes();
        return std::memcmp(a.voxels.data() + slice * bytes, b.voxels.data() + slice * bytes, index(bytes)) == 0;
    }

    Bytes frame_ = bytes_of_frame();
    Background background_ = Background::running;
    std::vector<std::string> warnings_;

  private:
    Bytes bytes_of_frame() const {
        const Block one = source_.block(0);
        return {one.data, one.data + source_.frame_bytes()};
    }
};

// Blocks of 3, 3 and 1 B-scans of 7.
TEST_F(MissingBScansTest, AreListedPerVolume) {
    record(9, {2, 4, 7});
    const Scan scan = open_scan(toml_);
    EXPECT_THAT(scan.missing, ElementsAre(MissingBScans{0, 6, 7}, MissingBScans{1, 3, 6}, MissingBScans{2, 3, 6}));
    EXPECT_THAT(scan.remarks, testing::Contains(HasSubstr("7 of 21 B-scans of 3 of 3 volumes have no data")));
    record(9, {}, "whole");
    EXPECT_THAT(open_scan(folder_ / "rec" / "whole.toml").missing, testing::IsEmpty());
}

TEST_F(MissingBScansTest, FindsGapAtStartOfVolume) {
    record(9, {3, 8});
    EXPECT_THAT(open_scan(toml_).missing, ElementsAre(MissingBScans{1, 0, 3}));
    EXPECT_EQ(open_scan(toml_).recording.last_volume_b_scans, 6) << "the end is not recorded at all";
}

TEST_F(MissingBScansTest, WarnsWithoutIndex) {
    record(6, {1});
    std::filesystem::remove(folder_ / "rec" / "scan.index.csv");
    const Scan scan = open_scan(toml_);
    EXPECT_THAT(scan.missing, testing::IsEmpty());
    EXPECT_THAT(scan.remarks, testing::Contains(HasSubstr("unknown which B-scans have no data")));
}

TEST_F(MissingBScansTest, SplitsIntoRuns) {
    const std::vector<MissingBScans> missing{{1, 3, 6}, {2, 0, 2}};
    EXPECT_EQ(run_from(missing, 0, 0, 7).end, 7);
    EXPECT_FALSE(run_from(missing, 0, 0, 7).is_missing);
    EXPECT_EQ(run_from(missing, 1, 0, 7).end, 3);
    EXPECT_TRUE(run_from(missing, 1, 3, 7).is_missing);
    EXPECT_EQ(run_from(missing, 1, 4, 5).end, 5);
    EXPECT_EQ(run_from(missing, 1, 6, 7).end, 7);
    EXPECT_TRUE(run_from(missing, 2, 0, 7).is_missing);
    EXPECT_EQ(missing_slices(missing, {1, 2, 7}, 2), "2:8");
}

TEST_F(MissingBScansTest, HaveNoValueAndDoNotAffectBackground) {
    record(9, {}, "whole");
    record(9, {3, 7}, "holes");
    for (const std::int64_t volume : {0, 1, 2}) {
        const Volume whole = reconstructed("whole", volume), holes = reconstructed("holes", volume);
        for (std::int64_t slice = 0; slice < holes.grid.b_scans; ++slice) {
            SCOPED_TRACE(testing::Message() << "volume " << volume << ", slice " << slice);
            const std::int64_t b_scan = slice / 2;
            const bool is_missing = (volume == 1 && b_scan < 3) || (volume == 2 && b_scan >= 3 && b_scan < 6);
            EXPECT_EQ(is_nan(holes, slice), is_missing);
            if (!is_missing) {
                EXPECT_TRUE(are_alike(whole, holes, slice));
            }
        }
    }
    EXPECT_EQ(std::ranges::count_if(warnings_,
                                    [](const std::string& line) { return line.find("have no data") != line.npos; }),
              1);
    EXPECT_EQ(reconstructed("holes", 2).provenance.at("missing_b_scans"), "6:12");
    EXPECT_FALSE(reconstructed("holes", 0).provenance.contains("missing_b_scans"));
}

TEST_F(MissingBScansTest, AreCodeZeroInIntegersAndIgnoredByRanges) {
    background_ = Background::none;
    record(6, {}, "whole");
    record(6, {1}, "holes");
    const std::vector<std::string> codes{"recipe.voxel=u8", "recipe.low=-40", "recipe.high=120"};
    const Volume whole = reconstructed("whole", 0, codes), holes = reconstructed("holes", 0, codes);
    const std::int64_t bytes = holes.grid.b_scan_bytes();
    EXPECT_EQ(holes.voxels[index(6 * bytes + 10)], std::byte{0});
    EXPECT_NE(whole.voxels[index(6 * bytes + 10)], std::byte{0});
    const Figure en_face = en_face_figure(holes, 0, holes.grid.depth), all = en_face_figure(whole, 0, whole.grid.depth);
    EXPECT_EQ(std::ranges::count_if(en_face.values, [](float value) { return std::isnan(value); }),
              6 * holes.grid.a_scans);
    EXPECT_FLOAT_EQ(static_cast<float>(percentile_range(en_face).black),
                    static_cast<float>(percentile_range(all).black));
    EXPECT_FLOAT_EQ(static_cast<float>(percentile_range(en_face).white),
                    static_cast<float>(percentile_range(all).white));
}

TEST_F(MissingBScansTest, AreFiniteInTextures) {
    Recipe recipe;
    recipe.low = -5;
    const auto value_of = [](const VoxelCode& code) {
        float value = 0;
        std::memcpy(&value, code.data(), sizeof value);
        return value;
    };
    EXPECT_EQ(value_of(missing_structure_code(recipe, VoxelType::f32, true)), -5);
    EXPECT_TRUE(std::isnan(value_of(missing_structure_code(recipe, VoxelType::f32, false))));
    EXPECT_EQ(value_of(missing_flow_code(VoxelType::f16, true)), 0) << "no flow: in no range of it";
    EXPECT_EQ(missing_code(VoxelType::phasor8), VoxelCode{});
}

TEST_F(MissingBScansTest, AreIgnoredByNoiseFloor) {
    record(9, {}, "whole");
    record(9, {1}, "holes");
    EXPECT_NEAR(noise_floor_of(open_scan(folder_ / "rec" / "whole.toml")),
                noise_floor_of(open_scan(folder_ / "rec" / "holes.toml")), 1e-6);
}

TEST_F(MissingBScansTest, AreLostAgainByReplay) {
    record(6, {1});
    SourceRequest wanted;
    wanted.name = "replay:" + toml_.string();
    wanted.settings = {.line_rate_hz = 1e6, .block_b_scans = 2, .pool_blocks = 100};
    wanted.settings.loop = false;
    wanted.memory = MemoryKind::host;
    const std::unique_ptr<Source> source = open_source(wanted);
    source->start();
    std::vector<std::int64_t> came;
    std::int64_t lost = 0;
    for (TestTimeout timeout; timeout.lasts();) {
        const Arrival arrival = source->next(10ms);
        lost += arrival.block.lost_before;
        if (arrival.kind == Arrival::Kind::ended) break;
        if (arrival.kind == Arrival::Kind::block)
            came.push_back(arrival.block.volume * SmallSource::b_scans + arrival.block.first_b_scan);
    }
    EXPECT_THAT(came, ElementsAre(0, 6, 7, 9, 11, 13)) << "2:4 and 4:6 are missing, in part or whole";
    EXPECT_EQ(lost, 2);
}

TEST_F(MissingBScansTest, AreSentWithoutDataByPlayerAndReported) {
    record(6, {1});
    ScanPlayer player(open_scan(toml_), MemoryKind::host, 2);
    player.start();
    std::vector<std::int64_t> missing;
    std::int64_t b_scans = 0;
    for (TestTimeout timeout; b_scans < SmallSource::b_scans && timeout.lasts();) {
        const Arrival arrival = player.next(10ms);
        if (arrival.kind != Arrival::Kind::block) continue;
        b_scans += arrival.block.b_scans;
        if (is_missing(arrival.block)) missing.push_back(arrival.block.first_b_scan);
    }
    EXPECT_THAT(missing, ElementsAre(3, 5));
    EXPECT_THAT(player.take_problems(), ElementsAre(HasSubstr("3 of 14 B-scans of 1 of 2 volumes have no data")));
}

}  // namespace
}  // namespace echolux
