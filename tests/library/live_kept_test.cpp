// The last volumes of a session with a source or pushed blocks: kept, stepped through, and saved with their changes.
#include "compute/indexing.h"
#include "sessions.h"
#include "temporary_folder.h"
#include "tests/unit/await.h"

namespace echolux::test {
namespace {

// The memory limit allows two and a half volumes.
TEST(LibraryLiveKept, KeepsLastVolumes) {
    const TemporaryFolder folder;
    const Size size{.volumes = 3};
    auto settings = fixed_levels;
    const double volume_gb = 1e-9 * static_cast<double>(size.samples / 2 * size.a_scans * size.b_scans * 4);
    settings.push_back("source.keep_gb=" + std::to_string(2.5 * volume_gb));
    lux::Live live = lux::Live::open("replay:" + scan_in(folder.path(), size), settings, options(ECHOLUX_EVERY));
    EXPECT_EQ(live.kept(), 0);
    live.start();
    std::vector<std::vector<float>> voxels;
    const auto take = [&](std::size_t count) {
        while (voxels.size() < count) {
            const auto made = live.next(soon);
            ASSERT_TRUE(made);
            ASSERT_EQ(made->structure.number(), std::ssize(voxels));
            voxels.push_back(floats_of(made->structure));
        }
    };
    take(3);
    AWAIT(live.stats()["reconstructed.volumes"] >= 5);  // 2 more may wait to be taken
    const std::int64_t newest = live.go_to(1).structure.number();
    take(index(newest) + 4);  // later volumes are not kept while paused
    EXPECT_EQ(live.kept(), 2);
    for (const std::int64_t i : {0, 1}) {
        const lux::Volume kept = live.go_to(i).structure;
        EXPECT_EQ(kept.number(), newest - 1 + i);
        EXPECT_EQ(floats_of(kept), voxels[index(kept.number())]);
    }
    EXPECT_EQ(status_of([&] { live.go_to(2); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { live.go_to(-1); }), ECHOLUX_BAD_SETTING);
    const std::string file = (folder / "last.nrrd").string();
    EXPECT_EQ(live.save_kept(file), 2);
    const lux::Series series = lux::Series::open(file);
    ASSERT_EQ(series.size(), 2);
    for (const std::int64_t i : {0, 1}) EXPECT_EQ(floats_of(series.read(i)), voxels[index(newest - 1 + i)]);
    EXPECT_EQ(live.save_kept(file, 1e-9), 1) << "of the last nanosecond";
    live.play();
    take(voxels.size() + 5);  // the first of these may have been finished before play()
    EXPECT_GT(live.go_to(1).structure.number(), newest + 1);
}

// Changes of volume processing are recorded like changes of the recipe.
TEST(LibraryLiveKept, KeepsPushedVolumesAndCountsTheirChanges) {
    const TemporaryFolder folder;
    const std::string file = (folder / "last.nrrd").string();
    const Size size;
    const auto spectra = fringes(size);
    echolux_live_options wanted = options(ECHOLUX_EVERY);
    wanted.keep_gb = 1e-9 * 8.5 * static_cast<double>(size.samples / 2 * size.a_scans * size.b_scans * 4);
    lux::Live live = lux::Live::create(described(size), wanted);
    const auto make = [&] {
        ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
        ASSERT_TRUE(live.next(soon));
    };
    const auto changed = [&] {
        live.save_kept(file);
        const std::string lines = lux::Series::open(file).provenance(0);
        const std::size_t at = lines.find("recipe_changed = ");
        return at == std::string::npos ? "" : lines.substr(at, lines.find('\n', at) - at);
    };
    live.start();
    make();
    make();
    EXPECT_EQ(live.kept(), 2);
    EXPECT_EQ(changed(), "");
    live.set("filter.shown", "true");
    ASSERT_TRUE(live.next(soon));  // the last volume is processed again
    EXPECT_EQ(changed(), "recipe_changed = begun with other settings: 2 volumes of 3, up to volume 1");
    try {
        live.go_to(3);
        ADD_FAILURE() << "there are not so many";
    } catch (const lux::Error& error) {
        EXPECT_EQ(error.problem(), "is 3, and 3 volumes are kept");
        EXPECT_NE(error.remedy().find("let the session run longer"), std::string::npos);
    }
    wanted.keep_gb = -1;
    EXPECT_EQ(status_of([&] { lux::Live::create(described(size), wanted); }), ECHOLUX_BAD_SETTING);
}

TEST(LibraryLiveKept, KeepsNoVolumesWithoutMemory) {
    lux::Live live = lux::Live::open("sim:vessel", {"scan.samples=256", "scan.a_scans=16", "scan.b_scans=4"});
    live.start(1);
    ASSERT_TRUE(live.next(soon));
    EXPECT_EQ(live.kept(), 0);
    try {
        live.go_to(0);
        ADD_FAILURE() << "none is kept";
    } catch (const lux::Error& error) {
        EXPECT_EQ(error.status(), ECHOLUX_BAD_SETTING);
        EXPECT_NE(error.remedy().find("source.keep_gb"), std::string::npos);
    }
    EXPECT_EQ(status_of([&] { live.save_kept("nowhere.nrrd"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { live.save_kept("nowhere.nrrd", -1); }), ECHOLUX_BAD_ARGUMENT);
}

}  // namespace
}  // namespace echolux::test
