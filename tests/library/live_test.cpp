// Live volumes in host memory: pushed blocks and sources, delivered by callback or taken, all of them or only the
// newest.
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "sessions.h"
#include "temporary_folder.h"
#include "tests/unit/await.h"

namespace echolux::test {
namespace {

void push_volume(lux::Live& live, const std::vector<std::uint16_t>& spectra, const Size& size) {
    for (std::int64_t b = 0; b < size.b_scans; ++b) ASSERT_TRUE(live.push(block_of(spectra, size, b, 1), soon));
}

TEST(LibraryLive, PushedBlocksBecomeVolumesOfReconstructor) {
    const Size size;
    const auto spectra = fringes(size);
    const lux::Scan scan = described(size);
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY), 1);
    live.start();
    for (int volume = 0; volume < 3; ++volume) {
        push_volume(live, spectra, size);
        const auto made = live.next(soon);
        ASSERT_TRUE(made);
        EXPECT_EQ(made->structure.number(), volume);
        EXPECT_EQ(floats_of(made->structure), reconstructed(scan, spectra, size, 1));
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

TEST(LibraryLive, EveryStatisticIsDescribedAndReadByKey) {
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

TEST(LibraryLive, MeasuresNoiseFloorFromFirstBlock) {
    const Size size;
    const auto spectra = fringes(size);
    lux::Scan scan = described(size, {plain_recipe});
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY));
    live.start();
    ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
    const auto made = live.next(soon);
    ASSERT_TRUE(made);
    scan.settings().set("recipe.noise_floor_db", scan.noise_floor_db(block_of(spectra, size, 0, 6)));
    EXPECT_EQ(floats_of(made->structure), reconstructed(scan, spectra, size, 6));
}

TEST(LibraryLive, PushWaitsIfEveryVolumeCounts) {
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), options(ECHOLUX_EVERY));
    live.start();
    int pushed = 0;
    while (pushed < 100 && live.push(block_of(spectra, size, 0, 6), 300)) ++pushed;
    EXPECT_GE(pushed, 3) << "two wait to be taken, others on their way";
    EXPECT_LT(pushed, 20);
    live.end();
    int taken = 0;
    for (TestTimeout timeout; !live.ended() && timeout.lasts();) {
        if (live.next(1000)) ++taken;
    }
    EXPECT_EQ(taken, pushed);
    EXPECT_EQ(live.stats()["overwritten_volumes"], 0);
    EXPECT_EQ(live.stats()["reconstructed.left_out_volumes"], 0);
}

TEST(LibraryLive, PushNeverWaitsIfNewestCounts) {
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), options(ECHOLUX_NEWEST));
    live.start();
    for (int volume = 0; volume < 10; ++volume) ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
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

TEST(LibraryLive, CallbackReceivesVolumes) {
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
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), wanted);
    live.start();
    for (int volume = 0; volume < 4; ++volume) ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
    AWAIT(heard.volumes >= 4);
    EXPECT_EQ(heard.depth, 128);
    EXPECT_EQ(status_of([&] { live.next(0); }), ECHOLUX_BAD_ARGUMENT);
}

TEST(LibraryLive, CallbackCannotFreeItsSession) {
    struct Heard {
        std::atomic<echolux_live*> live = nullptr;
        std::atomic<int> status = -1;
    } heard;
    auto wanted = options(ECHOLUX_EVERY);
    wanted.user = &heard;
    wanted.finished = [](void* user, echolux_volume* structure, echolux_volume*) {
        const lux::Volume volume(structure);
        auto& to = *static_cast<Heard*>(user);
        to.status = echolux_live_free(to.live);
    };
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), wanted);
    heard.live = live.get();
    live.start();
    ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
    AWAIT(heard.status >= 0);
    EXPECT_EQ(heard.status, ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(live.stats()["running"], 1);
}

// Calibration files must not be read for each volume during acquisition.
TEST(LibraryLive, CalibrationFilesAreReadOnceForProvenance) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "dark.csv";
    std::ofstream dark(file);
    for (int i = 0; i < 256; ++i) dark << "7\n";
    dark.close();
    const Size size;
    const auto spectra = fringes(size);
    lux::Scan scan = described(size);
    scan.settings().set("calibration.dark", file.string());
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY));
    live.start();
    std::vector<std::string> provenance;
    for (int volume = 0; volume < 2; ++volume) {
        ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
        const auto made = live.next(soon);
        ASSERT_TRUE(made);
        provenance.push_back(made->structure.provenance());
        std::filesystem::remove(file);
    }
    EXPECT_NE(provenance[0].find("calibration.dark_fnv1a64"), std::string::npos);
    EXPECT_EQ(provenance[1], provenance[0]);
}

// A restart drops pushed blocks that were not acquired, clears the end, and numbers volumes from 0.
TEST(LibraryLive, StartsAgain) {
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), options(ECHOLUX_EVERY));
    for (int run = 0; run < 2; ++run) {
        live.start();
        for (int volume = 0; volume < 2; ++volume) {
            ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
            const auto made = live.next(soon);
            ASSERT_TRUE(made);
            EXPECT_EQ(made->structure.number(), volume);
        }
        live.end();
        AWAIT(live.ended() || live.next(100));
        EXPECT_TRUE(live.ended());
        live.stop();
    }
}

TEST(LibraryLive, SettingsChangeBetweenVolumes) {
    const Size size;
    const auto spectra = fringes(size);
    lux::Scan scan = described(size);
    lux::Live live = lux::Live::create(scan, options(ECHOLUX_EVERY));
    live.start();
    ASSERT_TRUE(live.push(block_of(spectra, size, 0, 6), soon));
    const auto before = live.next(soon);
    ASSERT_TRUE(before);
    live.set("recipe.window", "rect");
    scan.settings().set("recipe.window", "rect");
    const auto after = live.next(soon);  // the last volume is processed again
    ASSERT_TRUE(after);
    EXPECT_EQ(floats_of(after->structure), reconstructed(scan, spectra, size, 6));
    EXPECT_NE(floats_of(after->structure), floats_of(before->structure));
    EXPECT_EQ(status_of([&] { live.set("recipe.window", "hannn"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([&] { live.set("scan.samples", "512"); }), ECHOLUX_BAD_SETTING);
}

// A session can be freed while it or a caller waits for room.
TEST(LibraryLive, CanBeFreedAtAnyTime) {
    const Size size;
    const auto spectra = fringes(size);
    for (const bool starts : {false, true}) {
        lux::Live live = lux::Live::create(described(size), options(ECHOLUX_EVERY));
        if (starts) live.start();
        int pushed = 0;
        while (pushed < 100 && live.push(block_of(spectra, size, 0, 6), 100)) ++pushed;
        EXPECT_LT(pushed, 100);
        if (starts) live.stop();
    }
}

TEST(LibraryLive, WrongCallsAreRefused) {
    const Size size;
    const auto spectra = fringes(size);
    const lux::Scan scan = described(size);
    EXPECT_EQ(status_of([] { lux::Live::open("simm"); }), ECHOLUX_BAD_SETTING);
    EXPECT_EQ(status_of([] { lux::Live::open("replay:/nowhere.toml"); }), ECHOLUX_BAD_FILE);
    EXPECT_EQ(status_of([&] { lux::Live::create(scan, options(2)); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { lux::Live::create(scan, options(0), -1); }), ECHOLUX_BAD_ARGUMENT);
    lux::Live live = lux::Live::create(scan);
    EXPECT_EQ(status_of([&] { live.next(0); }), ECHOLUX_BAD_ARGUMENT) << "not started";
    EXPECT_EQ(status_of([&] { live.start(-1); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { live.push(block_of(spectra, size, 0, 6), -1); }), ECHOLUX_BAD_ARGUMENT);
    echolux_block short_one = block_of(spectra, size, 0, 6);
    short_one.bytes -= 1;
    EXPECT_EQ(status_of([&] { live.push(short_one, 0); }), ECHOLUX_BAD_SETTING);
    echolux_block early = block_of(spectra, size, 0, 6);
    early.sync = ECHOLUX_SYNC_STREAM;
    EXPECT_EQ(status_of([&] { live.push(early, 0); }), ECHOLUX_BAD_SETTING) << "copied before it is there";
    EXPECT_EQ(status_of([&] { scan.noise_floor_db(early); }), ECHOLUX_BAD_ARGUMENT);
    live.end();
    EXPECT_EQ(status_of([&] { live.push(block_of(spectra, size, 0, 6), 0); }), ECHOLUX_BAD_SETTING);
    lux::Live other =
        lux::Live::open("sim", {"scan.samples=256", "scan.a_scans=8", "scan.b_scans=2", "source.line_rate_hz=20000"});
    EXPECT_EQ(status_of([&] { other.push(block_of(spectra, size, 0, 6), 0); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(status_of([&] { other.end(); }), ECHOLUX_BAD_ARGUMENT);
    EXPECT_EQ(other.events(), "");
}

TEST(LibraryLive, ReportsCurrentScan) {
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

TEST(LibraryLive, RecordsPushedBlocks) {
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "take.toml").string();
    const Size size;
    const auto spectra = fringes(size);
    lux::Live live = lux::Live::create(described(size), options(ECHOLUX_EVERY), 2);
    live.start();
    live.record(file);
    EXPECT_EQ(status_of([&] { live.record((folder.path() / "other.toml").string()); }), ECHOLUX_BAD_SETTING);
    for (std::int64_t b = 0; b < size.b_scans; b += 2) ASSERT_TRUE(live.push(block_of(spectra, size, b, 2), soon));
    ASSERT_TRUE(live.next(soon));
    AWAIT(live.stats()["recorder.blocks"] == 3);
    EXPECT_EQ(live.stats()["recording"], 1);
    live.stop_recording();
    const lux::Stats stats = live.stats();
    EXPECT_EQ(stats["recorder.blocks"], 3);
    EXPECT_EQ(stats["recorder.missing_blocks"], 0);
    EXPECT_EQ(stats["recording"], 0);
    const lux::Scan scan = lux::Scan::open(file);
    std::vector<std::byte> of_file(spectra.size() * 2);
    scan.read(0, 0, size.b_scans, of_file);
    EXPECT_EQ(0, std::memcmp(of_file.data(), spectra.data(), of_file.size()));
    EXPECT_EQ(status_of([&] { live.record(file); }), ECHOLUX_OUTPUT) << "it is there";
}

}  // namespace
}  // namespace echolux::test
