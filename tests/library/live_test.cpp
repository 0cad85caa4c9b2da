// Live volumes in host memory: pushed blocks and sources, delivered by callback or taken, all of them or only the
// newest, kept, stepped through and saved. The end of a session waits for work in progress, but not for volumes that
// wait for room.
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "compute/indexing.h"
#include "fringes.h"
#include "temporary_folder.h"
#include "tests/unit/await.h"

namespace echolux::test {
namespace {

constexpr std::int32_t soon = 60'000;  // ms

echolux_live_options options(std::int32_t delivery) {
    auto options = lux::make<echolux_live_options>();
    options.delivery = delivery;
    return options;
}

std::vector<float> floats_of(const lux::Volume& volume) {
    const auto voxels = volume.voxels<float>();
    return {voxels.begin(), voxels.end()};
}

void push_volume(lux::Live& live, const std::vector<std::uint16_t>& spectra, const Size& size) {
    for (std::int64_t b = 0; b < size.b_scans; ++b) ASSERT_TRUE(live.push(block_of(spectra, size, b, 1), soon));
}

class LibraryLive : public FringesTest {
  protected:
    lux::Live started(std::int32_t delivery = ECHOLUX_EVERY) {
        lux::Live live = lux::Live::create(described(size_), options(delivery));
        live.start();
        return live;
    }
};

TEST_F(LibraryLive, PushedBlocksBecomeVolumesOfReconstructor) {
    const lux::Scan scan = described(size_);
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY), 1);
    live.start();
    for (int volume = 0; volume < 3; ++volume) {
        push_volume(live, spectra_, size_);
        const auto made = live.next(soon);
        ASSERT_TRUE(made);
        EXPECT_EQ(made->structure.number(), volume);
        EXPECT_EQ(floats_of(made->structure), reconstructed(scan, spectra_, size_, 1));
        EXPECT_NE(made->structure.provenance().find("recipe.levels"), std::string::npos);
    }
    EXPECT_FALSE(live.next(0));
    EXPECT_FALSE(live.ended());
    live.end();
    AWAIT(live.ended() || live.next(100));
    EXPECT_TRUE(live.ended());
    EXPECT_EQ(live.stats()["reconstructed.volumes"], 3);
    EXPECT_EQ(live.stats()["ended"], 1);
}

TEST_F(LibraryLive, EveryStatisticIsDescribedAndReadByKey) {
    const lux::Live live = lux::Live::create(described());
    const lux::Stats stats = live.stats();
    std::set<std::string> keys;
    for (const echolux_stat& one : lux::Stats::described()) {
        double value = -1;
        EXPECT_EQ(echolux_live_stat(live.get(), one.key, &value, nullptr), ECHOLUX_OK);
        const bool is_time = std::string_view(one.key) == "seconds";
        EXPECT_TRUE(is_time || value == stats[one.key]) << one.key;
        EXPECT_STRNE(one.help, "") << one.key;
        EXPECT_TRUE(keys.insert(one.key).second) << one.key;
    }
    EXPECT_TRUE(keys.contains("arrived.lost_blocks"));
    EXPECT_THROW(stats["lost"], std::out_of_range);
    double value = -1;
    auto error = lux::make<echolux_error>();
    EXPECT_EQ(echolux_live_stat(live.get(), "lost", &value, &error), ECHOLUX_BAD_SETTING);
    EXPECT_STREQ(error.where, "lost");
    EXPECT_EQ(echolux_live_stat_describe(keys.size(), nullptr, nullptr), ECHOLUX_BAD_ARGUMENT);
    std::size_t count = 0;
    EXPECT_EQ(echolux_live_stats(live.get(), nullptr, 0, &count, nullptr), ECHOLUX_OK);
    EXPECT_EQ(count, keys.size());
}

TEST_F(LibraryLive, PushNeverWaitsIfNewestCounts) {
    lux::Live live = started(ECHOLUX_NEWEST);
    for (int volume = 0; volume < 10; ++volume) ASSERT_TRUE(live.push(whole_, soon));
    live.end();
    int taken = 0;
    std::int64_t last = -1;
    for (TestTimeout timeout; !live.ended() && timeout.lasts();) {
        if (const auto made = live.next(1000)) {
            ++taken;
            last = made->structure.number();
        }
    }
    EXPECT_EQ(last, 9);
    const lux::Stats stats = live.stats();
    EXPECT_EQ(stats["arrived.volumes"], 10);
    EXPECT_EQ(taken + stats["reconstructed.left_out_volumes"] + stats["overwritten_volumes"], 10);
}

TEST_F(LibraryLive, CallbackReceivesVolumes) {
    struct Heard {
        std::atomic<int> volumes = 0;
        std::atomic<std::int64_t> depth = 0;
    } heard;
    auto wanted = options(ECHOLUX_EVERY);
    wanted.user = &heard;
    wanted.finished = [](void* user, echolux_volume* structure, echolux_volume* flow) {
        auto& to = *static_cast<Heard*>(user);
        const lux::Volume volume(structure);
        to.depth = volume.grid().depth;
        if (flow != nullptr) to.depth = -1;
        ++to.volumes;
    };
    lux::Live live = lux::Live::create(described(size_), wanted);
    live.start();
    for (int volume = 0; volume < 4; ++volume) ASSERT_TRUE(live.push(whole_, soon));
    AWAIT(heard.volumes >= 4);
    EXPECT_EQ(heard.depth, 128);
    EXPECT_EQ(status_of([&] { live.next(0); }), ECHOLUX_BAD_ARGUMENT);
}

TEST_F(LibraryLive, CallbackCannotFreeOrAwaitItsSession) {
    struct Heard {
        std::atomic<echolux_live*> live = nullptr;
        std::atomic<int> freed = -1, awaited = -1;
    } heard;
    auto wanted = options(ECHOLUX_EVERY);
    wanted.user = &heard;
    wanted.finished = [](void* user, echolux_volume* structure, echolux_volume*) {
        const lux::Volume volume(structure);
        auto& to = *static_cast<Heard*>(user);
        to.freed = echolux_live_free(to.live);
        to.awaited = echolux_live_wait(to.live, soon, nullptr);
    };
    lux::Live live = lux::Live::create(described(size_), wanted);
    heard.live = live.get();
    live.start();
    ASSERT_TRUE(live.push(whole_, soon));
    AWAIT(heard.awaited >= 0);
    EXPECT_EQ(heard.freed, ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(heard.awaited, ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(live.stats()["running"], 1);
}

// Calibration files must not be read for each volume during acquisition.
TEST_F(LibraryLive, CalibrationFilesAreReadOnceForProvenance) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "dark.csv";
    std::ofstream dark(file);
    for (int i = 0; i < 256; ++i) dark << "7\n";
    dark.close();
    lux::Scan scan = described(size_);
    scan.settings().set("calibration.dark", file.string());
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY));
    live.start();
    std::vector<std::string> provenance;
    for (int volume = 0; volume < 2; ++volume) {
        ASSERT_TRUE(live.push(whole_, soon));
        const auto made = live.next(soon);
        ASSERT_TRUE(made);
        provenance.push_back(made->structure.provenance());
        std::filesystem::remove(file);
    }
    EXPECT_NE(provenance[0].find("calibration.dark_fnv1a64"), std::string::npos);
    EXPECT_EQ(provenance[1], provenance[0]);
}

TEST_F(LibraryLive, SettingsChangeBetweenVolumes) {
    lux::Scan scan = described(size_);
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY));
    live.start();
    ASSERT_TRUE(live.push(whole_, soon));
    const auto before = live.next(soon);
    ASSERT_TRUE(before);
    live.set("recipe.window", "rect");
    scan.settings().set("recipe.window", "rect");
    const auto after = live.next(soon);  // the last volume is processed again
    ASSERT_TRUE(after);
    EXPECT_EQ(floats_of(after->structure), reconstructed(scan, spectra_, size_, 6));
    EXPECT_NE(floats_of(after->structure), floats_of(before->structure));
    EXPECT_EQ(status_of([&] { live.set("recipe.window", "hannn"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { live.set("scan.samples", "512"); }), ECHOLUX_BAD_SETTING);
}

// A session can be freed while it or a caller waits for room.
TEST_F(LibraryLive, CanBeFreedAtAnyTime) {
    for (const bool starts : {false, true}) {
        lux::Live live = lux::Live::create(described(size_), options(ECHOLUX_EVERY));
        if (starts) live.start();
        int pushed = 0;
        while (pushed < 100 && live.push(whole_, 100)) ++pushed;
        EXPECT_LT(pushed, 100);
        if (starts) live.stop();
    }
}

TEST_F(LibraryLive, WrongCallsAreRefused) {
    const lux::Scan scan = described(size_);
    EXPECT_EQ(status_of([] { lux::Live::open("simm"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { lux::Live::open("replay:/nowhere.toml"); }), ECHOLUX_BAD_FILE);
    EXPECT_EQ(status_of([&] { lux::Live::create(scan, options(2)); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { lux::Live::create(scan, options(0), -1); }), ECHOLUX_BAD_ARGUMENT);
    lux::Live live = lux::Live::create(scan);
    EXPECT_EQ(status_of([&] { live.next(0); }), ECHOLUX_BAD_ARGUMENT) << "not started";
    EXPECT_EQ(status_of([&] { live.start(-1); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { live.push(whole_, -1); }), ECHOLUX_BAD_ARGUMENT);
    echolux_block short_one = whole_;
    short_one.bytes -= 1;
    EXPECT_EQ(status_of([&] { live.push(short_one, 0); }), ECHOLUX_BAD_SETTING);
    echolux_block early = whole_;
    early.sync = ECHOLUX_SYNC_STREAM;
    EXPECT_EQ(status_of([&] { live.push(early, 0); }), ECHOLUX_BAD_SETTING) << "copied before it is there";
    EXPECT_EQ(status_of([&] { scan.noise_floor_db(early); }), ECHOLUX_BAD_ARGUMENT);
    live.end();
    EXPECT_EQ(status_of([&] { live.push(whole_, 0); }), ECHOLUX_BAD_SETTING);
    lux::Live other =
        lux::Live::open("sim", {"scan.samples=256", "scan.a_scans=8", "scan.b_scans=2", "source.line_rate_hz=20000"});
    EXPECT_EQ(status_of([&] { other.push(whole_, 0); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { other.end(); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(other.events(), "");
}

TEST_F(LibraryLive, ReportsCurrentScan) {
    lux::Live live = lux::Live::open(
        "sim:mirror", {"simulation.samples=256", "simulation.mirror_um=[50]", "simulation.mirror_amplitude=[0.2]",
                       "simulation.a_scans=8", "simulation.b_scans=3", "recipe.window=hann"});
    EXPECT_EQ(live.scan().shape().b_scans, 3);
    EXPECT_EQ(live.scan().settings().text("recipe.window"), "hann");
    live.set("recipe.window", "rect");
    lux::Scan now = live.scan();
    EXPECT_EQ(now.settings().text("recipe.window"), "rect");
    EXPECT_EQ(now.shape().has_spectra, 0);
}

// A stage that takes as long as the test wants, and counts its calls.
struct Slow {
    std::atomic<int> begun = 0, ended = 0;
    std::atomic<bool> may_end = false;

    static int stage(void* user, const echolux_staged*) {
        auto& counts = *static_cast<Slow*>(user);
        ++counts.begun;
        becomes_true([&] { return counts.may_end.load(); });
        ++counts.ended;
        return 0;
    }
    echolux_stages stages() {
        auto stages = lux::make<echolux_stages>();
        stages.voxels = stage;
        stages.user = this;
        return stages;
    }
};

TEST_F(LibraryLive, WaitsForWorkInProgress) {
    Slow slow;
    const echolux_stages stages = slow.stages();
    echolux_live_options wanted = options(ECHOLUX_NEWEST);
    wanted.stages = &stages;
    lux::Live live = lux::Live::create(described(size_), wanted);
    EXPECT_TRUE(live.wait(0)) << "nothing was acquired";
    live.start();
    ASSERT_TRUE(live.push(whole_, soon));
    AWAIT(slow.begun > 0);
    EXPECT_FALSE(live.wait(1));
    live.stop();
    EXPECT_FALSE(live.wait(1));
    slow.may_end = true;
    EXPECT_TRUE(live.wait(soon));
    EXPECT_EQ(slow.ended, slow.begun);
    EXPECT_TRUE(live.next(0)) << "and can be taken";
    EXPECT_EQ(status_of([&] { live.wait(-1); }), ECHOLUX_BAD_ARGUMENT);
}

TEST_F(LibraryLive, DoesNotWaitForBlocksWithoutRoom) {
    echolux_live_options wanted = options(ECHOLUX_EVERY);
    wanted.queue = 1;
    lux::Live live = lux::Live::create(described(size_), wanted);
    live.start();
    int pushed = 0;
    while (pushed < 100 && live.push(whole_, 300)) ++pushed;
    live.stop();
    EXPECT_TRUE(live.wait(soon));
    int taken = 0;
    while (live.next(1000)) ++taken;
    EXPECT_GE(taken, 2);
}

// The memory limit allows two and a half volumes.
TEST_F(LibraryLive, KeepsLastVolumes) {
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
TEST_F(LibraryLive, KeepsPushedVolumesAndCountsTheirChanges) {
    const TemporaryFolder folder;
    const std::string file = (folder / "last.nrrd").string();
    echolux_live_options wanted = options(ECHOLUX_EVERY);
    wanted.keep_gb = 1e-9 * 8.5 * static_cast<double>(size_.samples / 2 * size_.a_scans * size_.b_scans * 4);
    lux::Live live = lux::Live::create(described(size_), wanted);
    const auto make = [&] {
        ASSERT_TRUE(live.push(whole_, soon));
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
    EXPECT_EQ(status_of([&] { lux::Live::create(described(size_), wanted); }), ECHOLUX_BAD_SETTING);
}

TEST_F(LibraryLive, KeepsNoVolumesWithoutMemory) {
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
