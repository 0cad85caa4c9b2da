// Series of volumes in files: their order and times, damaged ones, and a real one.
#include "engine/offline/series.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "await.h"
#include "engine/scan/time_points.h"
#include "temporary_folder.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// u8, 2 x 3 x 4 voxels of the same `value`.
Volume constant(int value) {
    Volume volume = make_volume({.depth = 2, .a_scans = 3, .b_scans = 4, .type = VoxelType::u8});
    volume.voxels.assign(24, static_cast<std::byte>(value));
    return volume;
}

// A NIfTI-1 file of 2 x 2 x 1 voxels (i16) and `points` time points, written by the offsets of the standard. All voxels
// of time point t are t.
std::string nifti_series(std::int16_t points, float step, char units) {
    std::string bytes(352, '\0');
    const auto put = [&](std::size_t place, auto value) { std::memcpy(bytes.data() + place, &value, sizeof(value)); };
    put(0, std::int32_t{348});
    const std::array<std::int16_t, 8> dim{4, 2, 2, 1, points, 1, 1, 1};
    std::memcpy(bytes.data() + 40, dim.data(), sizeof(dim));
    put(70, std::int16_t{4});
    put(72, std::int16_t{16});
    const std::array<float, 8> pixdim{1, 1, 1, 1, step, 1, 1, 1};
    std::memcpy(bytes.data() + 76, pixdim.data(), sizeof(pixdim));
    put(108, 352.0f);
    bytes[123] = units;
    std::memcpy(bytes.data() + 344, "n+1", 4);
    for (std::int16_t t = 0; t < points; ++t) {
        for (int voxel = 0; voxel < 4; ++voxel) bytes.append(reinterpret_cast<const char*>(&t), 2);
    }
    return bytes;
}

std::shared_ptr<const Volume> waited_for(Series& series, std::int64_t step) {
    series.want(step, 1, 0, series.steps() - 1);
    AWAIT(series.volume(step));
    return *series.volume(step);
}

int first_code(const Volume& volume) {
    std::int16_t code = 0;
    std::memcpy(&code, volume.voxels.data(), 2);
    return code;
}

class SeriesTest : public ::testing::Test {
  protected:
    TemporaryFolder folder_;
};

TEST_F(SeriesTest, SortsFilesOfFolderNaturally) {
    const std::vector<std::string> names{"scan2.nrrd", "scan10.nrrd", "scan 1.nrrd", "scan02b.nrrd", "scan009.nrrd"};
    for (std::size_t i = 0; i < names.size(); ++i) write_volume(folder_ / names[i], constant(static_cast<int>(i)));
    folder_.write("notes.txt", "no volume");
    Series series(folder_.path());
    ASSERT_EQ(series.steps(), 5);
    EXPECT_EQ(series.step_s(), 0);
    EXPECT_EQ(series.name(), folder_.path().filename());
    std::vector<int> order;
    for (std::int64_t step = 0; step < 5; ++step) {
        order.push_back(std::to_integer<int>(waited_for(series, step)->voxels[0]));
    }
    EXPECT_THAT(order, ElementsAre(2, 0, 3, 4, 1));
    EXPECT_TRUE(series.take_problems().empty());
}

TEST_F(SeriesTest, PatternSelectsMatchingFiles) {
    const std::vector<std::string> names{"scan_10.nrrd", "scan_2.nrrd", "other_3.nrrd", "scan_4.txt", "scan_x1.nrrd"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].ends_with("nrrd")) write_volume(folder_ / names[i], constant(static_cast<int>(i)));
    }
    folder_.write("scan_4.txt", "no volume");
    const auto codes = [&](const std::string& pattern) {
        Series series(folder_ / pattern);
        std::vector<int> found;
        for (std::int64_t step = 0; step < series.steps(); ++step)
            found.push_back(std::to_integer<int>(waited_for(series, step)->voxels[0]));
        return found;
    };
    EXPECT_THAT(codes("scan_*.nrrd"), ElementsAre(1, 0, 4));
    EXPECT_THAT(codes("scan_?.nrrd"), ElementsAre(1));
    EXPECT_THAT(codes("*_*1*"), ElementsAre(0, 4));
    EXPECT_THAT(error_of([&] { codes("scan_*.nii"); }).line, HasSubstr("scan_*.nii"));
    write_volume(folder_ / "odd*.nrrd", constant(9));
    EXPECT_THAT(codes("odd*.nrrd"), ElementsAre(9)) << "a file of that very name";
}

TEST_F(SeriesTest, RejectsVolumesOfDifferentShape) {
    Volume taller = constant(1);
    taller.grid.depth = 4;
    taller.voxels.resize(48);
    write_volume(folder_ / "a.nrrd", constant(0));
    write_volume(folder_ / "b.nrrd", taller);
    EXPECT_THAT(error_of([&] { TimePoints points(folder_.path()); }).line,
                HasSubstr("contains volumes of different sizes or types, so it is not a series: a.nrrd is 2 x 3 x 4, "
                          "b.nrrd is 4 x 3 x 4 (name one of them"));
    EXPECT_EQ(TimePoints(folder_ / "b*.nrrd").count(), 1);
}

TEST_F(SeriesTest, TextsOfAllFilesAreKept) {
    for (int t = 0; t < 3; ++t) {
        Volume volume = constant(t);
        volume.provenance = {{"source", "t" + std::to_string(t) + ".toml"}, {"backend", "cpu"}};
        if (t == 1) volume.provenance["note"] = "moved";
        write_volume(folder_ / ("t" + std::to_string(t) + ".nrrd"), volume);
    }
    const auto texts = TimePoints(folder_.path()).provenance({0, 3});
    EXPECT_EQ(texts.at("source"), "t0.toml; t1.toml; t2.toml");
    EXPECT_EQ(texts.at("backend"), "cpu");
    EXPECT_EQ(texts.at("note"), "-; moved; -");
    EXPECT_EQ(TimePoints(folder_.path()).provenance({1, 2}).at("source"), "t1.toml");
}

TEST_F(SeriesTest, DamagedFirstFileDoesNotHideOthers) {
    folder_.write("v0.nrrd", "NRRD0004\nno header at all\n");
    for (int i = 1; i < 4; ++i) write_volume(folder_ / ("v" + std::to_string(i) + ".nrrd"), constant(i));
    Series series(folder_.path());
    EXPECT_EQ(series.steps(), 4);
    EXPECT_EQ(series.first_ready(), 1);
    EXPECT_FALSE(waited_for(series, 0));
    EXPECT_EQ(std::to_integer<int>(waited_for(series, 3)->voxels[0]), 3);
    EXPECT_THAT(series.take_problems(), ElementsAre(HasSubstr("v0.nrrd")));
}

TEST_F(SeriesTest, ReadsVolumesBeyondBudgetInBoxes) {
    const auto path = folder_ / "t.ome.zarr";
    const VolumeGrid grid = constant(0).grid;
    SeriesWriter writer(path, {.grid = grid, .time_points = 5});
    for (int t = 0; t < 5; ++t) writer.write(constant(t).voxels);
    writer.finish();
    Series series(path, {.bytes = grid.bytes() - 1});
    ASSERT_TRUE(series.is_in_boxes());
    ASSERT_EQ(series.steps(), 5);
    series.want(3, 1, 0, 4);
    EXPECT_FALSE(series.volume(3));
    EXPECT_TRUE(series.ready().empty());
    EXPECT_EQ(series.levels(3).front().voxels(), grid.voxels());
    const std::vector<std::byte> box = series.read_box(3, 0, {{0, 2}, {1, 2}, {0, 4}});
    EXPECT_EQ(box, std::vector<std::byte>(8, std::byte{3}));
    EXPECT_EQ(series.read(4)->voxels, constant(4).voxels) << "whole, for who wants to wait";
}

// Counts how often files of a folder are opened, as reported by the kernel.
class Opens {
  public:
    explicit Opens(const std::filesystem::path& folder) : watch_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        inotify_add_watch(watch_, folder.c_str(), IN_OPEN);
    }
    ~Opens() { close(watch_); }
    Opens(const Opens&) = delete;
    Opens& operator=(const Opens&) = delete;

    int since_last() {
        alignas(inotify_event) std::array<char, 1 << 16> bytes;
        int opens = 0;
        for (ssize_t count = 0; (count = read(watch_, bytes.data(), bytes.size())) > 0;) {
            for (ssize_t at = 0; at < count; ++opens) {
                inotify_event event{};
                std::memcpy(&event, bytes.data() + at, sizeof event);
                at += static_cast<ssize_t>(sizeof event + event.len);
            }
        }
        return opens;
    }

  private:
    int watch_;
};

// The displayed and the next time point are read alternately.
TEST_F(SeriesTest, KeepsFilesOfTwoStepsOpen) {
    for (int i = 0; i < 6; ++i) write_volume(folder_ / ("v" + std::to_string(i) + ".nrrd"), constant(i));
    const TimePoints points(folder_.path());
    const auto code = [&](std::int64_t step) { return std::to_integer<int>(points.read(step).voxels[0]); };
    Opens opens(folder_.path());
    EXPECT_EQ(code(4), 4);
    EXPECT_EQ(code(5), 5);
    EXPECT_GE(opens.since_last(), 2);
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(code(4), 4);
        EXPECT_EQ(code(5), 5);
    }
    EXPECT_EQ(opens.since_last(), 0);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(code(i), i);
    EXPECT_GE(opens.since_last(), 4) << "only so many at a time";
}

TEST_F(SeriesTest, FileOfOneVolumeHasOneStep) {
    write_volume(folder_ / "a.nii", constant(7));
    for (const auto& path : {folder_ / "a.nii", folder_.path()}) {
        Series series(path);
        EXPECT_EQ(series.steps(), 1);
        EXPECT_EQ(waited_for(series, 0)->voxels, constant(7).voxels);
    }
}

TEST_F(SeriesTest, ReadsTimePointsAndTheirInterval) {
    const auto path = folder_.write("t.nii", nifti_series(6, 250, 2 + 16));  // mm, ms
    Series series(path);
    EXPECT_EQ(series.steps(), 6);
    EXPECT_DOUBLE_EQ(series.step_s(), 0.25);
    for (const std::int64_t step : {5, 0, 3, 1, 4, 2}) {
        const auto volume = waited_for(series, step);
        ASSERT_TRUE(volume);
        EXPECT_EQ(first_code(*volume), step);
        EXPECT_EQ(volume->grid.voxels(), 4);
    }
    EXPECT_EQ(waited_for(series, 3)->provenance.at("time_points"), "4 of 6");
}

TEST_F(SeriesTest, CompressedTimePointsInAnyOrder) {
    const std::string bytes = nifti_series(40, 2, 2 + 8);
    const auto path = folder_ / "t.nii.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), std::ssize(bytes));
    gzclose(file);
    Series series(path, {.bytes = 3 * 8});  // three volumes
    EXPECT_DOUBLE_EQ(series.step_s(), 2);
    for (const std::int64_t step : {39, 0, 20, 19, 21, 39, 38}) {
        const auto volume = waited_for(series, step);
        ASSERT_TRUE(volume) << "step " << step;
        EXPECT_EQ(first_code(*volume), step);
    }
}

TEST_F(SeriesTest, DamagedFileInMiddleIsSkipped) {
    for (int i = 0; i < 4; ++i) write_volume(folder_ / ("v" + std::to_string(i) + ".nrrd"), constant(i));
    folder_.write("v2.nrrd", "NRRD0004\nno header at all\n");
    Series series(folder_.path());
    EXPECT_TRUE(waited_for(series, 1));
    EXPECT_FALSE(waited_for(series, 2));
    EXPECT_EQ(std::to_integer<int>(waited_for(series, 3)->voxels[0]), 3);
    EXPECT_THAT(series.take_problems(), ElementsAre(HasSubstr("v2.nrrd")));
}

TEST_F(SeriesTest, ReportsMissingVolumes) {
    EXPECT_THAT(error_of([&] { Series series(folder_.path()); }).line, HasSubstr("contains no volume files"));
    EXPECT_THAT(error_of([&] { Series series(folder_ / "a.nii"); }).line, HasSubstr("does not exist"));
    folder_.write("v0.nrrd", "nothing");
    folder_.write("v1.nrrd", "nothing");
    EXPECT_EQ(error_of([&] { Series series(folder_.path()); }).code, ErrorCode::bad_file);
}

// Sums over all voxels, computed from the decompressed bytes alone.
TEST_F(SeriesTest, ReadsAllTimePointsOfRealSeries) {
    const char* place = std::getenv("ECHOLUX_DATA");
    if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA is not set: no real series is tested";
    const auto path = std::filesystem::path(place) / "volumes/fmri_4d.nii.gz";
    constexpr std::size_t voxels = 64 * 64 * 21, points = 64, start = 1296;
    std::string bytes(start + voxels * points * 2, '\0');
    gzFile file = gzopen(path.c_str(), "rb");
    ASSERT_EQ(gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())), std::ssize(bytes));
    gzclose(file);
    Series series(path);
    ASSERT_EQ(series.steps(), points);
    for (std::size_t t = 0; t < points; ++t) {
        const auto volume = waited_for(series, static_cast<std::int64_t>(t));
        ASSERT_TRUE(volume) << "time point " << t;
        std::int64_t sum = 0, expected = 0;
        for (std::size_t i = 0; i < voxels; ++i) {
            std::int16_t code = 0;
            std::memcpy(&code, volume->voxels.data() + 2 * i, 2);
            sum += code * static_cast<std::int64_t>(i / (64 * 64) + 1);  // detects reordered slices
            std::memcpy(&code, bytes.data() + start + 2 * (t * voxels + i), 2);
            expected += code * static_cast<std::int64_t>(i / (64 * 64) + 1);
        }
        EXPECT_EQ(sum, expected) << "time point " << t;
    }
    EXPECT_TRUE(series.take_problems().empty());
}

}  // namespace
}  // namespace echolux
