// Regions of files: every format returns the same voxels as reading the whole file.
#include <cstring>
#include <numeric>

#include "fringes.h"
#include "temporary_folder.h"

namespace echolux::test {
namespace {

echolux_grid small_grid() {
    auto grid = lux::make<echolux_grid>();
    grid.depth = 40;
    grid.a_scans = 24;
    grid.b_scans = 20;
    grid.voxel = ECHOLUX_U16;
    grid.spacing_um[0] = 2;
    grid.scale = 0.5;
    return grid;
}

std::vector<std::uint16_t> codes() {
    std::vector<std::uint16_t> codes(40 * 24 * 20);
    std::iota(codes.begin(), codes.end(), std::uint16_t{0});
    return codes;
}

lux::Volume volume() {
    const auto all = codes();
    return lux::Volume::create(small_grid(), {reinterpret_cast<const std::byte*>(all.data()), all.size() * 2});
}

std::vector<std::uint16_t> part(const lux::Series& series, const echolux_region& region, std::size_t count) {
    std::vector<std::uint16_t> voxels(count);
    series.read(0, region, {reinterpret_cast<std::byte*>(voxels.data()), 2 * count});
    return voxels;
}

TEST(LibraryRegion, EqualsPartOfWholeVolume) {
    const TemporaryFolder folder;
    const auto all = codes();
    for (const char* name : {"a.nrrd", "a.mha", "a.nii.gz", "a.npy", "a.tiff", "a.ome.zarr"}) {
        const std::string file = (folder.path() / name).string();
        volume().write(file);
        const lux::Series series = lux::Series::open(file);
        EXPECT_EQ(series.grid(0).a_scans, 24) << name;
        auto region = lux::make<echolux_region>();
        region.depth_begin = 5;
        region.depth_end = 12;
        region.a_scan_begin = 3;
        region.b_scan_begin = 7;
        region.b_scan_end = 19;
        const auto voxels = part(series, region, 7 * 21 * 12);
        std::size_t at = 0;
        for (std::size_t b = 7; b < 19; ++b) {
            for (std::size_t a = 3; a < 24; ++a) {
                for (std::size_t z = 5; z < 12; ++z) ASSERT_EQ(voxels[at++], all[(b * 24 + a) * 40 + z]) << name;
            }
        }
        EXPECT_EQ(part(series, lux::make<echolux_region>(), all.size()), all) << name;
        EXPECT_EQ(series.time_s(0), 0);
    }
}

TEST(LibraryRegion, OutsideIsRefused) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "a.nrrd").string();
    volume().write(file);
    const lux::Series series = lux::Series::open(file);
    const auto with = [&](const auto& change, std::size_t count = 40 * 24 * 20) {
        auto region = lux::make<echolux_region>();
        change(region);
        return status_of([&] { part(series, region, count); });
    };
    EXPECT_EQ(with([](echolux_region&) {}), ECHOLUX_OK);
    EXPECT_EQ(with([](echolux_region&) {}, 3), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.depth_end = 41; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.a_scan_begin = -1; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.b_scan_begin = 20; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(with([](echolux_region& r) { r.level = 1; }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { series.grid(1); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { series.time_s(-1); }), ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
