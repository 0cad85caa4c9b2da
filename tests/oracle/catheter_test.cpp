// Frames of a catheter that rotates unevenly, from a forward model in NumPy: sheath, angles, lumen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "engine/catheter/rotation.h"
#include "engine/io/number_file.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

std::filesystem::path frames_folder() {
    const char* carried = std::getenv("ECHOLUX_VECTORS");
    return std::filesystem::path(carried != nullptr && *carried != '\0' ? carried : ECHOLUX_VECTORS) / "catheter";
}

template <class T>
std::vector<T> numbers_in(const char* name) {
    std::ifstream file(frames_folder() / name, std::ios::binary | std::ios::ate);
    if (!file) return {};
    std::vector<T> values(index(static_cast<std::int64_t>(file.tellg())) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

class CatheterFrames : public testing::Test {
  protected:
    CatheterFrames() {
        grid.b_scans = static_cast<std::int64_t>(about.at(0));
        grid.a_scans = static_cast<std::int64_t>(about.at(1));
        grid.depth = static_cast<std::int64_t>(about.at(2));
        grid.spacing_um = {about.at(3), 0, 20};
    }

    // Rms of the angles, without a common rotation, and that rotation.
    std::pair<double, double> off(const std::vector<double>& angle) const {
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < angle.size(); ++i) sum += angle[i] - truth[i];
        const double mean = sum / static_cast<double>(angle.size());
        for (std::size_t i = 0; i < angle.size(); ++i) squares += std::pow(angle[i] - truth[i] - mean, 2);
        return {std::sqrt(squares / static_cast<double>(angle.size())), mean};
    }

    const std::vector<double> about = numbers_in<double>("grid.f64"), truth = numbers_in<double>("angle.f64");
    const std::vector<float> power = numbers_in<float>("power.f32");
    VolumeGrid grid;
    SilentProgress silent;
};

TEST_F(CatheterFrames, SheathIsFound) {
    const Sheath sheath = found_sheath(power, grid);
    EXPECT_TRUE(sheath.is_found());
    EXPECT_NEAR(sheath.row, (about[5] - about[4]) / about[3], 0.2);
    RecordProperty("row", std::to_string(sheath.row));
    std::vector<float> without = power;
    for (std::size_t i = 0; i < without.size(); ++i) {
        if (static_cast<std::int64_t>(i) % grid.depth < 30) without[i] = power[i + 30];
    }
    EXPECT_FALSE(found_sheath(without, grid).is_found());
}

TEST_F(CatheterFrames, AnglesAreWithinHalfLines) {
    std::vector<double> uniform(truth.size());
    std::iota(uniform.begin(), uniform.end(), 0);
    EXPECT_GT(off(uniform).first, 3) << "the case tests nothing";
    const Rotation found = found_rotation(power, grid, 30, {}, {}, silent);
    EXPECT_LT(off(found.angle).first, 0.5);
    for (std::size_t i = 1; i < found.angle.size(); ++i) ASSERT_GT(found.angle[i], found.angle[i - 1]);
    RecordProperty("before", std::to_string(off(uniform).first));
    RecordProperty("rms_a_scans", std::to_string(off(found.angle).first));
    RecordProperty("found_rms", std::to_string(found.rms_a_scans));
    RecordProperty("frame_correlation", std::to_string(found.frame_correlation));

    std::vector<Fiducial> marks;
    const std::vector<double> table = read_calibration(frames_folder() / "marks.csv", 0, "fiducials", 3);
    for (std::size_t i = 0; i < table.size(); i += 3) marks.push_back({table[i], table[i + 1], table[i + 2]});
    const Rotation marked = found_rotation(power, grid, 30, {}, marks, silent);
    EXPECT_LT(off(marked.angle).first, 0.5);
    RecordProperty("with_marks", std::to_string(off(marked.angle).first));
}

// Marks alone, without speckle. One at the start of the turn is at the end of some frames.
TEST_F(CatheterFrames, MarksAloneShowChangesBetweenTurns) {
    grid.b_scans = 40;
    const std::vector<float> dark(index(grid.voxels()), 1.0F);
    std::vector<Fiducial> marks;
    std::int64_t at_end = 0, at_start = 0;
    constexpr std::int64_t each_turn = 8;
    for (std::int64_t i = each_turn; i < each_turn * (grid.b_scans - 1); ++i) {
        const auto angle = static_cast<double>(i * grid.a_scans) / each_turn;
        const std::int64_t line = std::ranges::lower_bound(truth, angle) - truth.begin();
        const std::int64_t a_scan = line % grid.a_scans, mark = i % each_turn;
        marks.push_back(
            {static_cast<double>(line / grid.a_scans), static_cast<double>(a_scan), static_cast<double>(mark)});
        if (mark == 0) ++(2 * a_scan > grid.a_scans ? at_end : at_start);
    }
    EXPECT_GT(std::min(at_end, at_start), 0) << "the case tests nothing";
    // Marks do not state their own angles, so a deviation that is the same in all turns remains.
    const auto change = [&](const std::vector<double>& angle) {
        double squares = 0;
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            double sum = 0, sum_of_squares = 0;
            for (std::int64_t frame = 1; frame + 1 < grid.b_scans; ++frame) {
                const std::size_t line = index(frame * grid.a_scans + a);
                sum += angle[line] - truth[line];
                sum_of_squares += std::pow(angle[line] - truth[line], 2);
            }
            squares += sum_of_squares - sum * sum / static_cast<double>(grid.b_scans - 2);
        }
        return std::sqrt(squares / static_cast<double>(grid.a_scans * (grid.b_scans - 2)));
    };
    std::vector<double> uniform(truth.size());
    std::iota(uniform.begin(), uniform.end(), 0);
    const double before = change(uniform), after = change(found_rotation(dark, grid, 30, {}, marks, silent).angle);
    EXPECT_LT(after, 0.3 * before);
    RecordProperty("before", std::to_string(before));
    RecordProperty("after", std::to_string(after));
}

TEST_F(CatheterFrames, RefusesAxisBehindAllRows) {
    const std::string line = error_of([&] { lumen_contours(power, grid, -1e5, silent); }).line;
    EXPECT_NE(line.find("puts the axis at row"), std::string::npos) << line;
}

TEST_F(CatheterFrames, LumenIsWithinOnePercent) {
    const std::vector<double> lumen = numbers_in<double>("lumen.f64");
    const Rotation found = found_rotation(power, grid, 30, {}, {}, silent);
    const std::int64_t turned = std::llround(off(found.angle).second);
    const std::vector<float> turns = uniform_turns(power, grid, found);
    grid.b_scans = 40;
    const std::vector<LumenContour> contours = lumen_contours(turns, grid, about[4], silent);
    double squares = 0, count = 0, mean = 0;
    for (std::int64_t frame = 1; frame + 1 < grid.b_scans; ++frame) {
        for (std::int64_t a = 20; a + 20 < grid.a_scans; ++a) {
            const double radius = static_cast<double>(contours[index(frame)].radius_um[index(a)]);
            const double wanted = lumen[index(frame * grid.a_scans + a - turned)];
            if (!(radius == radius)) continue;
            squares += std::pow(radius / wanted - 1, 2);
            mean += radius / wanted - 1;
            count += 1;
        }
    }
    EXPECT_GT(count, 0.95 * static_cast<double>((grid.b_scans - 2) * (grid.a_scans - 40)));
    EXPECT_LT(std::abs(mean / count), 0.01);
    EXPECT_LT(std::sqrt(squares / count), 0.0125);
    RecordProperty("rms_percent", std::to_string(100 * std::sqrt(squares / count)));
    RecordProperty("mean_percent", std::to_string(100 * mean / count));
}

TEST_F(CatheterFrames, RefusesNoise) {
    std::vector<float> noise(power.size());
    std::uint32_t state = 1;
    for (float& value : noise) {
        state = state * 1664525U + 1013904223U;
        value = 1 + static_cast<float>(state >> 8U) / 16777216.0F;
    }
    const std::string line = error_of([&] { found_rotation(noise, grid, 30, {}, {}, silent); }).line;
    EXPECT_NE(line.find("speckle shows no rotation"), std::string::npos) << line;
}

}  // namespace
}  // namespace echolux
