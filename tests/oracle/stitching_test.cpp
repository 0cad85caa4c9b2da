// Tiles of a forward model in NumPy, joined: positions, brightness, seams, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "compute/indexing.h"
#include "engine/stitching/mosaic.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

std::filesystem::path tiles_folder() {
    const char* carried = std::getenv("ECHOLUX_VECTORS");
    return std::filesystem::path(carried != nullptr && *carried != '\0' ? carried : ECHOLUX_VECTORS) / "stitching";
}

StitchRecipe wide_search() {
    return {.search_um = 60, .search_depth_um = 40};
}

std::vector<TileShift> true_positions(std::size_t tiles) {
    std::vector<TileShift> truth(tiles);
    std::ifstream file(tiles_folder() / "truth.f64", std::ios::binary);
    file.read(reinterpret_cast<char*>(truth.data()), static_cast<std::streamsize>(tiles * sizeof(TileShift)));
    return truth;
}

// Distances per axis in voxels, without the common shift of all tiles.
TileShift rms_off(const std::vector<TileShift>& found, const std::vector<TileShift>& truth) {
    TileShift rms{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < found.size(); ++i) sum += found[i][axis] - truth[i][axis];
        const double mean = sum / static_cast<double>(found.size());
        for (std::size_t i = 0; i < found.size(); ++i) squares += std::pow(found[i][axis] - truth[i][axis] - mean, 2);
        rms[axis] = std::sqrt(squares / static_cast<double>(found.size()));
    }
    return rms;
}

struct Joined {
    VolumeGrid grid;
    std::vector<float> decibels;
    std::int64_t bytes = 0;

    Joined(const TileSet& set, const TileAlignment& alignment) {
        Mosaic mosaic(set, alignment);
        grid = mosaic.grid();
        bytes = mosaic.bytes();
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            const std::vector<float> b_scan = mosaic.next();
            decibels.insert(decibels.end(), b_scan.begin(), b_scan.end());
        }
    }

    // Mean intensity in dB of 4 A-scans from `a` on, over 16 B-scans and 20 rows.
    double mean_db(std::int64_t a, std::int64_t b, std::int64_t z) const {
        double sum = 0, count = 0;
        for (std::int64_t j = b; j < b + 16; ++j) {
            for (std::int64_t i = a; i < a + 4; ++i) {
                for (std::int64_t k = z; k < z + 20; ++k) {
                    const float db = decibels[index((j * grid.a_scans + i) * grid.depth + k)];
                    if (db == db) sum += std::pow(10, static_cast<double>(db) / 10), count += 1;
                }
            }
        }
        return 10 * std::log10(sum / count);
    }
};

// Rms step in dB between the A-scans before and after the first ones of all tiles, `away` A-scans from there.
double rms_step(const Joined& joined, const TileAlignment& alignment, std::int64_t away) {
    TileShift low = alignment.first.front();
    for (const TileShift& first : alignment.first) {
        for (std::size_t axis = 0; axis < 3; ++axis) low[axis] = std::min(low[axis], first[axis]);
    }
    double squares = 0, count = 0;
    for (const TileShift& first : alignment.first) {
        const std::int64_t a = std::llround(first[1] - low[1]) + away, b = std::llround(first[2] - low[2]) + 8;
        const std::int64_t z = std::llround(first[0] - low[0]) + 8;
        if (a < 8 || a + 8 > joined.grid.a_scans) continue;
        squares += std::pow(joined.mean_db(a, b, z) - joined.mean_db(a - 4, b, z), 2);
        count += 1;
    }
    return std::sqrt(squares / count);
}

TEST(Stitching, HundredTilesAreWithinFifthOfVoxel) {
    const TileSet set(tiles_folder() / "tiles.csv");
    ASSERT_EQ(set.tiles.size(), 100U);
    SilentProgress silent;
    const TileAlignment alignment = aligned_tiles(set, wide_search(), silent);
    const std::vector<TileShift> truth = true_positions(set.tiles.size());
    const TileShift off = rms_off(alignment.first, truth);
    std::vector<TileShift> stage;
    for (const Tile& tile : set.tiles) stage.push_back(tile.first);
    const TileShift before = rms_off(stage, truth);
    for (const std::size_t axis : {0U, 1U, 2U}) {
        EXPECT_LT(off[axis], 0.2) << axis;
        EXPECT_GT(before[axis], 0.8) << "the case tests nothing";
        RecordProperty("rms_voxels_" + std::to_string(axis), std::to_string(off[axis]));
        RecordProperty("stage_voxels_" + std::to_string(axis), std::to_string(before[axis]));
    }
    EXPECT_GE(alignment.used(), 180);
    EXPECT_LT(alignment.brightness.after_db, 0.6 * alignment.brightness.before_db);
    RecordProperty("used", std::to_string(alignment.used()) + " of " + std::to_string(alignment.pairs.size()));
    RecordProperty("before_db", std::to_string(alignment.brightness.before_db));
    RecordProperty("after_db", std::to_string(alignment.brightness.after_db));

    const Joined joined(set, alignment);
    EXPECT_LT(joined.bytes, set.bytes() / 3);
    const double seams = rms_step(joined, alignment, 0), elsewhere = rms_step(joined, alignment, 12);
    EXPECT_LT(seams, 1.3 * elsewhere);
    RecordProperty("seams_db", std::to_string(seams));
    RecordProperty("elsewhere_db", std::to_string(elsewhere));
    RecordProperty("memory_share",
                   std::to_string(static_cast<double>(joined.bytes) / static_cast<double>(set.bytes())));
}

TEST(Stitching, RefusesTilesThatDisagree) {
    const TileSet set(tiles_folder() / "swapped.csv");
    SilentProgress silent;
    const auto error = error_of([&] { aligned_tiles(set, wide_search(), silent); });
    EXPECT_NE(error.line.find("overlaps agree: the median correlation is"), std::string::npos) << error.line;
}

// A tile at a wrong place contradicts its neighbours, which stay where they are.
TEST(Stitching, LeavesOutContradictions) {
    TileSet set(tiles_folder() / "tiles.csv");
    SilentProgress silent;
    set.tiles[44].path = set.tiles[81].path;
    const TileAlignment alignment = aligned_tiles(set, wide_search(), silent);
    std::vector<TileShift> truth = true_positions(set.tiles.size()), found = alignment.first;
    truth.erase(truth.begin() + 44);
    found.erase(found.begin() + 44);
    for (const double off : rms_off(found, truth)) EXPECT_LT(off, 0.2);
    for (const TilePair& pair : alignment.pairs) {
        const bool is_of_it = pair.first == 44 || pair.second == 44;
        EXPECT_TRUE(!is_of_it || pair.reason != PairReason::ok);
    }
}

}  // namespace
}  // namespace echolux
