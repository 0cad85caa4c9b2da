// Wrong calls return an error that names the problem, and never crash. check_symbols.py calls every function with null.
#include <cstring>

#include "compute/plan/describe.h"
#include "fringes.h"

namespace echolux::test {
namespace {

TEST(LibraryErrors, ErrorHasCauseLocationAndRemedy) {
    auto error = lux::make<echolux_error>();
    echolux_scan* scan = nullptr;
    EXPECT_EQ(echolux_scan_open("/nowhere/scan.toml", nullptr, 0, &scan, &error), ECHOLUX_BAD_FILE);
    EXPECT_EQ(error.code, ECHOLUX_BAD_FILE);
    EXPECT_STREQ(error.what, "does not exist");
    EXPECT_STREQ(error.where, "/nowhere/scan.toml");
    EXPECT_STREQ(error.remedy, "check the name");
    EXPECT_EQ(scan, nullptr);
}

TEST(LibraryErrors, SuccessClearsError) {
    auto error = lux::make<echolux_error>();
    echolux_volume_open("/nowhere.nrrd", nullptr, &error);
    ASSERT_NE(error.code, ECHOLUX_OK);
    std::size_t gpus = 0;
    EXPECT_EQ(echolux_gpu_count(&gpus, nullptr, 0, &error), ECHOLUX_OK);
    EXPECT_EQ(error.code, ECHOLUX_OK);
    EXPECT_STREQ(error.what, "");
}

TEST(LibraryErrors, ErrorArgumentIsOptional) {
    echolux_scan* scan = nullptr;
    EXPECT_EQ(echolux_scan_open("/nowhere/scan.toml", nullptr, 0, &scan, nullptr), ECHOLUX_BAD_FILE);
    echolux_error unset;
    std::memset(&unset, 0, sizeof unset);
    EXPECT_EQ(echolux_scan_open("/nowhere/scan.toml", nullptr, 0, &scan, &unset), ECHOLUX_BAD_FILE);
    EXPECT_EQ(unset.code, 0) << "an error whose size is not set is not touched";
}

TEST(LibraryErrors, RejectsWrongSize) {
    const lux::Scan scan = described();
    for (const std::size_t size : {std::size_t{0}, sizeof(echolux_grid) - 8, sizeof(echolux_grid) + 8}) {
        auto grid = lux::make<echolux_grid>();
        grid.size = size;
        EXPECT_EQ(
            status_of([&] { lux::checked([&](auto* e) { return echolux_plan(scan.get(), &grid, nullptr, e); }); }),
            ECHOLUX_BAD_ARGUMENT)
            << size;
    }
}

TEST(LibraryErrors, HandleOfAnotherKindIsRefused) {
    const lux::Scan scan = described();
    const void* data = nullptr;
    auto* no_volume = reinterpret_cast<echolux_volume*>(scan.get());
    EXPECT_EQ(echolux_volume_data(no_volume, &data, nullptr, nullptr), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_volume_free(no_volume), ECHOLUX_BAD_ARGUMENT);
}

// Reads freed memory, which the address sanitizer would report. The library checks a word in the handle, although this
// cannot detect every freed handle.
TEST(LibraryErrors, DetectsFreedHandleIfMemoryIsIntact) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "reads freed memory on purpose";
#else
    echolux_volume* volume = nullptr;
    auto grid = lux::make<echolux_grid>();
    grid.depth = grid.a_scans = grid.b_scans = 64;
    grid.voxel = ECHOLUX_U8;
    const std::vector<std::byte> voxels(64 * 64 * 64);
    ASSERT_EQ(echolux_volume_create(&grid, voxels.data(), voxels.size(), 0, 0, nullptr, &volume, nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_volume_free(volume), ECHOLUX_OK);
    EXPECT_EQ(echolux_volume_free(volume), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(echolux_volume_grid(volume, &grid, nullptr), ECHOLUX_BAD_ARGUMENT);
#endif
}

TEST(LibraryErrors, ReportsVersions) {
    EXPECT_EQ(echolux_interface_version(), static_cast<std::uint32_t>(ECHOLUX_INTERFACE_VERSION));
    EXPECT_STREQ(echolux_version(), ECHOLUX_TEST_VERSION);
    EXPECT_EQ(echolux_has("nothing"), 0);
    EXPECT_EQ(echolux_has(nullptr), 0);
}

}  // namespace
}  // namespace echolux::test
