// Wrong calls return an error that names the problem, and never crash.
#include <array>
#include <cstring>
#include <limits>

#include "compute/plan/describe.h"
#include "fringes.h"

namespace echolux::test {
namespace {

// Calls every function with null arguments only.
TEST(LibraryErrors, NullIsRefusedByEveryCall) {
    auto error = lux::make<echolux_error>();
    echolux_error* e = &error;
    const std::array refused{
        echolux_scan_open(nullptr, nullptr, 0, nullptr, e),
        echolux_scan_create(nullptr, nullptr, 0, nullptr, e),
        echolux_scan_describe(nullptr, nullptr, e),
        echolux_scan_set_calibration(nullptr, nullptr, nullptr, 0, e),
        echolux_scan_get_calibration(nullptr, nullptr, nullptr, 0, nullptr, e),
        echolux_scan_read(nullptr, 0, 0, 0, nullptr, 0, e),
        echolux_scan_settings(nullptr, nullptr, e),
        echolux_settings_count(nullptr, nullptr, e),
        echolux_settings_describe(nullptr, 0, nullptr, e),
        echolux_settings_find(nullptr, nullptr, nullptr, e),
        echolux_settings_set_text(nullptr, nullptr, nullptr, e),
        echolux_settings_get_text(nullptr, nullptr, nullptr, 0, nullptr, e),
        echolux_settings_set_number(nullptr, nullptr, 0, e),
        echolux_settings_get_number(nullptr, nullptr, nullptr, e),
        echolux_settings_toml(nullptr, 0, nullptr, 0, nullptr, e),
        echolux_gpu_count(nullptr, nullptr, 0, e),
        echolux_gpu_describe(1000, nullptr, e),
        echolux_plan(nullptr, nullptr, nullptr, e),
        echolux_reconstructor_create(nullptr, nullptr, 0, nullptr, e),
        echolux_reconstructor_grid(nullptr, nullptr, nullptr, e),
        echolux_reconstructor_device(nullptr, nullptr, 0, nullptr, e),
        echolux_reconstructor_provenance(nullptr, nullptr, 0, nullptr, e),
        echolux_reconstructor_submit(nullptr, nullptr, nullptr, nullptr, nullptr, e),
        echolux_reconstructor_prime(nullptr, nullptr, e),
        echolux_reconstructor_wait(nullptr, 0, e),
        echolux_reconstructor_collect(nullptr, e),
        echolux_reconstruct(nullptr, nullptr, nullptr, nullptr, nullptr, e),
        echolux_batch_create(nullptr, nullptr, e),
        echolux_batch_reconstruct(nullptr, nullptr, nullptr, nullptr, nullptr, e),
        echolux_batch_plans(nullptr, nullptr, e),
        echolux_volume_open(nullptr, nullptr, e),
        echolux_volume_create(nullptr, nullptr, 0, 0, 0, nullptr, nullptr, e),
        echolux_volume_grid(nullptr, nullptr, e),
        echolux_volume_data(nullptr, nullptr, nullptr, e),
        echolux_volume_time(nullptr, nullptr, nullptr, e),
        echolux_volume_provenance(nullptr, nullptr, 0, nullptr, e),
        echolux_volume_warnings(nullptr, nullptr, 0, nullptr, e),
        echolux_volume_convert(nullptr, 0, 0, 1, nullptr, e),
        echolux_volume_velocities(nullptr, nullptr, e),
        echolux_volume_write(nullptr, nullptr, nullptr, nullptr, e),
        echolux_series_open(nullptr, nullptr, e),
        echolux_series_describe(nullptr, nullptr, nullptr, e),
        echolux_series_read(nullptr, 0, nullptr, e),
        echolux_mean_spectrum(nullptr, nullptr, nullptr, 0, e),
        echolux_measure_noise_floor(nullptr, nullptr, nullptr, e),
        echolux_noise_profile(nullptr, nullptr, nullptr, 0, nullptr, e),
        echolux_calibrate_mirrors(nullptr, nullptr, e),
        echolux_search_dispersion(nullptr, nullptr, nullptr, nullptr, nullptr, e),
        echolux_live_open(nullptr, nullptr, nullptr, 0, nullptr, nullptr, e),
        echolux_live_create(nullptr, 0, nullptr, nullptr, e),
        echolux_live_start(nullptr, 0, e),
        echolux_live_stop(nullptr, e),
        echolux_live_wait(nullptr, 0, e),
        echolux_live_push(nullptr, nullptr, 0, e),
        echolux_live_end(nullptr, e),
        echolux_live_next(nullptr, 0, nullptr, nullptr, e),
        echolux_live_kept(nullptr, nullptr, e),
        echolux_live_go_to(nullptr, 0, nullptr, nullptr, e),
        echolux_live_play(nullptr, e),
        echolux_live_save_kept(nullptr, nullptr, 0, nullptr, e),
        echolux_live_set(nullptr, nullptr, nullptr, e),
        echolux_live_stat_count(nullptr, e),
        echolux_live_stat_describe(0, nullptr, e),
        echolux_live_stat(nullptr, nullptr, nullptr, e),
        echolux_live_stats(nullptr, nullptr, 0, nullptr, e),
        echolux_live_events(nullptr, nullptr, 0, nullptr, e),
        echolux_live_record(nullptr, nullptr, nullptr, 0, 0, e),
        echolux_live_scan(nullptr, nullptr, e),
        echolux_live_stop_recording(nullptr, e),
        echolux_scan_set_stages(nullptr, nullptr, e),
        echolux_series_grid(nullptr, 0, 0, nullptr, nullptr, e),
        echolux_series_time(nullptr, 0, nullptr, e),
        echolux_series_provenance(nullptr, 0, nullptr, 0, nullptr, e),
        echolux_series_read_region(nullptr, 0, nullptr, nullptr, 0, e),
        echolux_read_mirror(nullptr, nullptr, nullptr, 0, 0, nullptr, e),
        echolux_fit_roll_off(nullptr, nullptr, 2, 100, nullptr, e),
        echolux_simulation_create(nullptr, nullptr, 0, nullptr, e),
        echolux_simulation_scan(nullptr, nullptr, e),
        echolux_simulation_record(nullptr, 0, 0, 1, nullptr, 0, nullptr, nullptr, e),
        echolux_simulation_write(nullptr, nullptr, 0, nullptr, nullptr, e),
        echolux_simulation_facts(nullptr, nullptr, 0, nullptr, e),
        echolux_simulation_truth(nullptr, nullptr, nullptr, nullptr, 0, e),
        echolux_validate(nullptr, 1, nullptr, nullptr, nullptr, e),
        echolux_validation_count(nullptr, nullptr, e),
        echolux_validation_describe(nullptr, 0, nullptr, e),
        echolux_validation_report(nullptr, nullptr, 0, nullptr, e),
    };
    for (std::size_t i = 0; i < refused.size(); ++i) EXPECT_EQ(refused[i], ECHOLUX_BAD_ARGUMENT) << "call " << i;
    const echolux_status pictures = echolux_has("render") != 0 ? ECHOLUX_BAD_ARGUMENT : ECHOLUX_UNSUPPORTED;
    EXPECT_EQ(echolux_view_create(nullptr, e), pictures);
    EXPECT_EQ(echolux_view_settings(nullptr, nullptr, e), pictures);
    EXPECT_EQ(echolux_renderer_create(nullptr, nullptr, e), pictures);
    EXPECT_EQ(echolux_render(nullptr, nullptr, nullptr, nullptr, nullptr, 0, e), pictures);
    EXPECT_EQ(echolux_write_movie(nullptr, nullptr, nullptr, nullptr, nullptr, e), pictures);
}

TEST(LibraryErrors, FreeingNullIsAllowed) {
    EXPECT_EQ(echolux_scan_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_reconstructor_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_volume_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_series_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_view_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_renderer_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_live_free(nullptr), ECHOLUX_OK);
    EXPECT_EQ(echolux_batch_free(nullptr), ECHOLUX_OK);
}

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
