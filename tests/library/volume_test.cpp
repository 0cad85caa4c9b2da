// Volumes and series: created from memory, written, read, converted.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

echolux_grid ramp_grid() {
    auto grid = lux::make<echolux_grid>();
    grid.depth = 5;
    grid.a_scans = 4;
    grid.b_scans = 3;
    grid.voxel = ECHOLUX_U16;
    grid.spacing_um[0] = 2;
    grid.spacing_um[1] = 10;
    grid.spacing_um[2] = 20;
    grid.scale = 0.5;
    grid.offset = -3;
    std::strcpy(grid.quantity, "db");
    std::strcpy(grid.unit, "dB");
    return grid;
}

lux::Volume ramp() {
    std::vector<std::uint16_t> codes(60);
    std::iota(codes.begin(), codes.end(), std::uint16_t{0});
    return lux::Volume::create(ramp_grid(), {reinterpret_cast<const std::byte*>(codes.data()), 120});
}

TEST(LibraryVolume, IsWrittenWithItsFacts) {
    const TemporaryFolder folder;
    auto facts = lux::make<echolux_volume_facts>();
    facts.time_s = 1.5;
    facts.number = 3;
    facts.provenance = "recipe.window = \"hann\"\nsource = scan = 2.toml\n";
    facts.warnings = "too bright\ntoo dark\n";
    const std::vector<std::byte> codes(120);
    const lux::Volume volume = lux::Volume::create(ramp_grid(), codes, 0, 0, facts);
    EXPECT_EQ(volume.time_s(), 1.5);
    EXPECT_EQ(volume.number(), 3);
    EXPECT_EQ(volume.provenance(), facts.provenance);
    EXPECT_EQ(volume.warnings(), facts.warnings);
    const lux::Volume converted = volume.converted(ECHOLUX_F32, 0, 1);
    EXPECT_EQ(converted.provenance(), facts.provenance);
    EXPECT_EQ(converted.number(), 3);
    EXPECT_EQ(converted.warnings(), facts.warnings);
    volume.write((folder / "one.nrrd").string());
    EXPECT_NE(lux::Volume::open((folder / "one.nrrd").string()).provenance().find("recipe.window = \"hann\"\n"),
              std::string::npos);
    for (const char* wrong : {"no sign of equality", " = nameless", "recipe.window = \"hann\"\n\n"}) {
        facts.provenance = wrong;
        EXPECT_EQ(status_of([&] { lux::Volume::create(ramp_grid(), codes, 0, 0, facts); }), ECHOLUX_BAD_ARGUMENT);
    }
    facts = lux::make<echolux_volume_facts>();
    facts.time_s = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(status_of([&] { lux::Volume::create(ramp_grid(), codes, 0, 0, facts); }), ECHOLUX_BAD_ARGUMENT);
}

TEST(LibraryVolume, WritingCanBeStopped) {
    const TemporaryFolder folder;
    for (const char* name : {"one.nrrd", "one.tiff", "one.ome.zarr", "one.nii.gz"}) {
        const std::string path = (folder / name).string();
        std::int64_t last = -1, all = 0;
        ramp().write(path, false, [&](const std::string&, std::int64_t done, std::int64_t total) {
            EXPECT_GT(done, last);
            last = done;
            all = total;
            return true;
        });
        EXPECT_EQ(last, 120) << name;
        EXPECT_EQ(all, 120);
        std::filesystem::remove_all(path);
        for (const std::int64_t at : {0, 120}) {
            const auto stop = [&](const std::string&, std::int64_t done, std::int64_t) { return done < at; };
            EXPECT_EQ(status_of([&] { ramp().write(path, false, stop); }), ECHOLUX_CANCELLED) << name;
            EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << name << " left something";
        }
    }
}

TEST(LibraryVolume, AcceptsStrides) {
    std::vector<std::uint16_t> spread(3 * 40, 999);
    for (std::size_t i = 0; i < 60; ++i) spread[i / 20 * 40 + i / 5 % 4 * 8 + i % 5] = static_cast<std::uint16_t>(i);
    const lux::Volume volume =
        lux::Volume::create(ramp_grid(), {reinterpret_cast<const std::byte*>(spread.data()), 240}, 16, 80);
    const auto voxels = volume.voxels<std::uint16_t>();
    for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(voxels[i], i);
}

// HDF5 files are read by echolux-reader. It is found next to the library, regardless of the program that loads the
// library.
TEST(LibraryVolume, FindsItsReaderProcess) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "a.h5").string();
    if (status_of([&] { ramp().write(file); }) == ECHOLUX_BAD_SETTING) GTEST_SKIP() << "this build has no HDF5";
    const lux::Volume read = lux::Volume::open(file);
    EXPECT_EQ(0, std::memcmp(read.bytes().data(), ramp().bytes().data(), 120));
}

TEST(LibraryVolume, FilesThatCannotBeUsedAreReported) {
    const TemporaryFolder folder;
    EXPECT_EQ(status_of([&] { ramp().write((folder.path() / "a.doc").string()); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { ramp().write("/proc/nowhere/a.nrrd"); }), ECHOLUX_OUTPUT);
    EXPECT_EQ(status_of([&] { lux::Volume::open((folder.path() / "b.nrrd").string()); }), ECHOLUX_BAD_FILE);
    EXPECT_EQ(status_of([&] { lux::Series::open((folder.path() / "w_*.nrrd").string()); }), ECHOLUX_BAD_FILE);
}

TEST(LibraryVolume, ConvertsVoxelTypes) {
    const lux::Volume bytes = ramp().converted(ECHOLUX_U8, -3, 26.5);
    EXPECT_EQ(bytes.grid().voxel, ECHOLUX_U8);
    EXPECT_EQ(bytes.voxels<std::uint8_t>()[0], 0);
    EXPECT_EQ(bytes.voxels<std::uint8_t>()[59], 255);
    EXPECT_EQ(ramp().converted(ECHOLUX_F32, 0, 0).voxels<float>()[10] * 1.0f, 2.0f);
    EXPECT_EQ(status_of([] { ramp().converted(ECHOLUX_U8, 5, 5); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { ramp().converted(17, 0, 1); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([] { ramp().converted(ECHOLUX_U8, std::numeric_limits<double>::quiet_NaN(), 1); }),
              ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([] { ramp().converted(ECHOLUX_COMPLEX64, 0, 1); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { ramp().velocities(); }), ECHOLUX_BAD_SETTING);
}

TEST(LibraryVolume, ComplexVoxelsHaveNoFlow) {
    echolux_grid grid = ramp_grid();
    grid.voxel = ECHOLUX_COMPLEX64;
    const lux::Volume complex = lux::Volume::create(grid, std::vector<std::byte>(480));
    EXPECT_EQ(status_of([&] { complex.velocities(); }), ECHOLUX_BAD_SETTING);
}

TEST(LibraryVolume, RejectsInvalidGrids) {
    const std::vector<std::byte> some(1000);
    const auto wrong = [&](const auto& change) {
        echolux_grid grid = ramp_grid();
        change(grid);
        EXPECT_EQ(status_of([&] { lux::Volume::create(grid, some); }), ECHOLUX_BAD_ARGUMENT);
    };
    wrong([](echolux_grid& g) { g.depth = 0; });
    wrong([](echolux_grid& g) { g.a_scans = -4; });
    wrong([](echolux_grid& g) { g.b_scans = std::numeric_limits<std::int64_t>::max(); });
    wrong([](echolux_grid& g) { g.depth = g.a_scans = g.b_scans = 1 << 30; });
    wrong([](echolux_grid& g) { g.b_scans = 26; });
    wrong([](echolux_grid& g) { g.voxel = 7; });
    wrong([](echolux_grid& g) { g.spacing_um[1] = std::numeric_limits<double>::quiet_NaN(); });
    wrong([](echolux_grid& g) { g.size = 1; });
    for (const auto& [a, b] : {std::pair(8, 0), std::pair(-10, 0), std::pair(0, 30), std::pair(0, 1 << 30)}) {
        EXPECT_EQ(status_of([&, a = a, b = b] { lux::Volume::create(ramp_grid(), some, a, b); }), ECHOLUX_BAD_ARGUMENT);
    }
}

TEST(LibrarySeries, RegionsOutsideAreRefused) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "a.nrrd").string();
    ramp().write(file);
    const lux::Series series = lux::Series::open(file);
    const auto with = [&](const auto& change, std::size_t count = 60) {
        auto region = lux::make<echolux_region>();
        change(region);
        std::vector<std::uint16_t> voxels(count);
        return status_of([&] { series.read(0, region, std::as_writable_bytes(std::span(voxels))); });
    };
    EXPECT_EQ(with([](echolux_region&) {}), ECHOLUX_OK);
    EXPECT_EQ(with([](echolux_region&) {}, 3), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.depth_end = 6; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.a_scan_begin = -1; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.b_scan_begin = 3; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.level = 1; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { series.grid(1); }), ECHOLUX_BAD_ARGUMENT);
    for (const std::int64_t number : {-1, 1}) EXPECT_EQ(status_of([&] { series.read(number); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { series.time_s(-1); }), ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
