// A live system in simulated time: the real session, queue, ring and recorder between an instrument, a disk, two GPUs
// and a user who keeps changing settings, all scheduled and disturbed by a seed (docs/decisions.md). Invariants are
// checked after each step. ECHOLUX_SIMULATED_SEED=N repeats a seed, and ECHOLUX_SIMULATED_SECONDS=S sets the duration
// of the slow case.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <sstream>

#include "compute/indexing.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/recording.h"
#include "simulated_display.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace test;

class Simulation {
  public:
    explicit Simulation(std::uint64_t seed)
        : world_(seed), instrument_(world_), disk_(world_),
          display_(world_, seed % 2 == 0 ? Publishing::whole : Publishing::rolling),
          session_(std::make_unique<Session>(instrument_, display_, Overload::newest_wins,
                                             SessionTools{&world_.threads, disk_.tools()})) {
        world_.threads.after_each_step = [this] { look(); };
        display_.shown = [this](std::int64_t volume) { session_->shown(volume); };
    }

    // Runs with faults, then without, when everything must complete.
    void run(double seconds) {
        start();
        while (world_.threads.seconds() < seconds) {
            world_.threads.sleep(std::chrono::microseconds(static_cast<int>(40000 * world_.threads.any())));
            do_something();
        }
        world_.is_calm = true;
        expect_recovery();
        end_recording();
        session_->stop();
        world_.expect(session_->drain(60s), "what was acquired is never reconstructed");
        world_.expect(!session_->stats().running, "a session that was stopped runs");
        world_.threads.after_each_step = {};
        display_.shown = [](std::int64_t) {};
        session_.reset();
        world_.expect(instrument_.alive() == 0, "blocks are held that nobody needs");
    }

    World& world() { return world_; }
    SimulatedDisplay& display() { return display_; }
    std::int64_t recordings() const { return recordings_; }
    std::int64_t blocks() const { return instrument_.sent_blocks(); }

  private:
    void start() {
        while (!try_to_start()) world_.threads.sleep(100ms);
        display_.restart();
    }

    bool try_to_start() {
        try {
            session_->start();
            return true;
        } catch (const Error&) {  // not available yet
            return false;
        }
    }

    void do_something() {
        const double what = world_.threads.any();
        if (what < 0.20) session_->take_events();
        if (what > 0.20 && what < 0.30) session_->look_at(static_cast<std::int64_t>(4 * world_.threads.any()));
        if (what > 0.30 && what < 0.50) change();
        if (what > 0.50 && what < 0.56) recording_.empty() ? begin_recording() : end_recording();
        if (what > 0.56 && what < 0.57) {
            session_->stop();
            world_.threads.sleep(std::chrono::microseconds(static_cast<int>(300000 * world_.threads.any())));
            end_recording();
            start();
        }
    }

    void change() {
        ReconstructionSpec spec = instrument_.scan().spec(1);
        spec.recipe.high = spec.recipe.low + 1 + 100 * world_.threads.any();
        session_->change(spec);
    }

    void begin_recording() {
        RecordingRequest wanted{.scan_toml = folder_ / fmt::format("r{}.toml", recordings_),
                                .scan = instrument_.scan(),
                                .max_blocks_held = pool_of_the_instrument / 2};
        try {
            session_->record(wanted);
            recording_ = wanted.scan_toml;
        } catch (const Error&) {  // the disk failed
        }
        ++recordings_;
    }

    void end_recording() {
        if (recording_.empty()) return;
        const RecorderStats stats = session_->stop_recording();
        check_recording(stats);
        recording_.clear();
    }

    // A recording according to the indexes of its files.
    struct Recorded {
        std::int64_t present = 0, missing = 0, lost = 0, interruptions = 0, files = 0, removed = 0;
        std::int64_t interruptions_since = 0;  // since the last present block
        bool is_complete = false;
        std::uint64_t next = 0;          // number of the next block
        std::optional<IndexRow> last{};  // last present block
        Stamp stamp{};                   // stamp of that block
    };

    // Checks that the blocks in the indexes are in the files as sent, and that missing ones are counted.
    void check_recording(const RecorderStats& stats) {
        Recorded all;
        constexpr int most_files = 20;
        for (int number = 1; number <= most_files; ++number) look_into(number, all);
        world_.expect(all.present == stats.blocks, "there are not as many blocks in the files as are counted");
        const bool has_each_row = has_all_rows(all);
        if (all.missing > stats.missing_blocks || (has_each_row && all.missing != stats.missing_blocks))
            world_.fail(fmt::format("{} blocks are missing, {} counted", all.missing, stats.missing_blocks));
        if (has_each_row && all.lost != stats.lost_blocks)
            world_.fail(fmt::format("{} blocks are lost, {} counted", all.lost, stats.lost_blocks));
        world_.expect(all.files == (stats.blocks > 0 ? stats.files : 0), "there are not as many files as are counted");
        const bool lacks = all.missing + all.lost + all.interruptions > 0 || all.files != 1 || all.present == 0;
        world_.expect(!all.is_complete || !lacks, "a recording that lacks something is complete");
        world_.expect(stats.blocks_held == 0, "a recorder that has ended holds blocks");
        disk_.files.clear();
        disk_.failed_rows = 0;
    }

    // False if the disk has lost rows.
    bool has_all_rows(const Recorded& all) const { return disk_.failed_rows == 0 && all.removed == 0; }

    // NAME.toml is the first file, NAME-2.toml the second.
    void look_into(int number, Recorded& all) {
        const std::string stem = recording_.stem().string() + (number == 1 ? "" : fmt::format("-{}", number));
        const std::filesystem::path toml = folder_ / (stem + ".toml");
        const auto index = disk_.files.find((folder_ / (stem + ".index.csv")).string());
        if (!std::filesystem::exists(toml)) {
            all.removed += index != disk_.files.end() ? 1 : 0;
            return;
        }
        ++all.files;
        all.is_complete = all.is_complete || says_complete(toml);
        const std::vector<std::byte>& bytes = index->second.bytes;
        std::istringstream lines(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        std::int64_t end = 0;
        std::string line;
        std::getline(lines, line);
        while (std::getline(lines, line)) {
            const std::optional<IndexRow> row = index_row(line);
            if (!row) break;
            world_.expect(row->sequence >= all.next, "the index goes backwards");
            world_.expect(row->byte_offset >= end, "blocks lie over each other");
            all.next = row->sequence + static_cast<std::uint64_t>(std::max<std::int64_t>(row->missing, 1));
            all.missing += row->missing;
            all.lost += row->lost_before;
            all.interruptions += row->interruptions;
            all.interruptions_since += row->interruptions;
            if (row->missing > 0) continue;
            check_block(disk_.files[(folder_ / (stem + ".raw")).string()], *row, end > 0, all);
            end = row->end();
        }
    }

    // Checks that the block is the one in its row: its distance from the previous block equals that of their stamps, by
    // number and, within the same files, by position.
    void check_block(const FileOnDisk& raw, const IndexRow& row, bool is_in_same_files, Recorded& all) {
        const Stamp stamp = stamp_in(raw, row);
        if (all.last && stamp.run == all.stamp.run) {
            const std::int64_t ahead = stamp.number - all.stamp.number;
            if (static_cast<std::int64_t>(row.sequence - all.last->sequence) != ahead)
                world_.fail(fmt::format("block {} is {} after block {}", row.sequence, ahead, all.last->sequence));
            world_.expect(!is_in_same_files || position_of(row) - position_of(*all.last) == ahead,
                          "a block lies in the place of another one");
        } else if (all.last) {
            world_.expect(stamp.run > all.stamp.run, "a block is older than the one before");
            const bool is_told = all.interruptions_since > 0 || !has_all_rows(all);
            world_.expect(is_told || !instrument_.began_with_a_start(stamp.run), "an interruption is not in the index");
        }
        ++all.present;
        all.interruptions_since = 0;
        all.last = row;
        all.stamp = stamp;
    }

    static std::int64_t position_of(const IndexRow& row) { return row.volume * blocks_a_volume + row.first_b_scan; }

    // Returns the stamp, which all words of the block must have.
    Stamp stamp_in(const FileOnDisk& raw, const IndexRow& row) const {
        if (row.end() > std::ssize(raw.bytes)) world_.fail("the index says more than there is");
        const std::span bytes(raw.bytes.data() + row.byte_offset, index(row.bytes));
        std::uint64_t first = 0;
        std::memcpy(&first, bytes.data(), 8);
        for (std::size_t i = 0; i < bytes.size(); i += 8)
            world_.expect(std::memcmp(bytes.data() + i, &first, 8) == 0, "a block in the file is of two pieces");
        world_.expect(first != 0, "a block in the file is empty");
        world_.expect(crc32_of(bytes) == row.crc32, "a checksum of the index is wrong");
        return Stamp::of(first);
    }

    static bool says_complete(const std::filesystem::path& toml) {
        std::ifstream file(toml);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str().find("complete = true") != std::string::npos;
    }

    // Without faults, volumes are finished again and the newest is shown.
    void expect_recovery() {
        const std::int64_t before = session_->stats().finished_volumes;
        const std::int64_t drawn = display_.pictures;
        world_.threads.sleep(12s);  // longer than any stall
        world_.expect(session_->stats().finished_volumes > before + 100, "the session does not recover");
        world_.expect(display_.pictures > drawn + 100, "pictures do not go on");
    }

    // Checks the invariants after each step.
    void look() {
        const LiveStats stats = session_->stats();
        const QueueStats& queue = stats.queue;
        world_.expect(queue.pushed_blocks == queue.taken_blocks + queue.waiting_blocks + queue.overtaken_blocks +
                                                 queue.incomplete_blocks + queue.given_up_blocks,
                      "blocks of the queue do not add up");
        world_.expect(queue.waiting_blocks <= 2 * blocks_a_volume, "more than two volumes wait");
        if (stats.arrived.blocks != queue.pushed_blocks)
            world_.fail(fmt::format("{} blocks arrived, {} were pushed", stats.arrived.blocks, queue.pushed_blocks));
        world_.expect(stats.fed_blocks <= queue.taken_blocks, "more is reconstructed than was taken");
        world_.expect(instrument_.alive() <= pool_of_the_instrument, "the pool grows");
        world_.expect(stats.load <= 1.000001, "a load above one");
        if (stats.recorder) {
            world_.expect(stats.recorder->blocks_held <= pool_of_the_instrument / 2, "the recorder holds too much");
            world_.expect(stats.recorder->blocks_held >= 0, "the recorder holds less than nothing");
        }
        display_.expect_sense();
    }

    TemporaryFolder folder_;
    World world_;
    Instrument instrument_;
    Disk disk_;
    SimulatedDisplay display_;
    std::unique_ptr<Session> session_;
    std::filesystem::path recording_;  // the current recording; empty: none
    std::int64_t recordings_ = 0;
};

struct Tally {
    std::int64_t seeds = 0, steps = 0, blocks = 0, recordings = 0, pictures = 0, losses = 0;
    double simulated_s = 0;
};

void run_seed(std::uint64_t seed, double seconds, Tally& tally) {
    Simulation simulation(seed);
    simulation.run(seconds);
    ++tally.seeds;
    tally.steps += simulation.world().threads.steps();
    tally.blocks += simulation.blocks();
    tally.recordings += simulation.recordings();
    tally.pictures += simulation.display().pictures;
    tally.losses += simulation.display().losses;
    tally.simulated_s += simulation.world().threads.seconds();
}

double number_of(const char* variable, double otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atof(text);
}

// Runs consecutive seeds from `first` until `for_s` seconds of real time have passed.
Tally run_seeds(std::uint64_t first, double for_s) {
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begun).count(); };
    Tally tally;
    for (std::uint64_t seed = first; seconds() < for_s || tally.seeds == 0; ++seed) run_seed(seed, 10, tally);
    std::printf(
        "%lld seeds, %lld steps (%.2g a minute), %.0f s simulated: %lld blocks, %lld recordings, %lld pictures, "
        "%lld lost devices\n",
        static_cast<long long>(tally.seeds), static_cast<long long>(tally.steps),
        60 * static_cast<double>(tally.steps) / seconds(), tally.simulated_s, static_cast<long long>(tally.blocks),
        static_cast<long long>(tally.recordings), static_cast<long long>(tally.pictures),
        static_cast<long long>(tally.losses));
    return tally;
}

class SimulatedTime : public ::testing::Test {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    void SetUp() override {
        GTEST_SKIP() << "sanitizers do not follow coroutines";
    }
#endif
};

TEST_F(SimulatedTime, KeepsInvariants) {
    const auto first = static_cast<std::uint64_t>(number_of("ECHOLUX_SIMULATED_SEED", 1));
    const Tally tally = run_seeds(first, 3);
    EXPECT_GT(tally.recordings, 0);
    EXPECT_GT(tally.pictures, 100);
}

TEST_F(SimulatedTime, SlowKeepsInvariantsForLong) {
    const Tally tally = run_seeds(1000, number_of("ECHOLUX_SIMULATED_SECONDS", 60));
    EXPECT_GT(tally.losses, 0);
}

TEST_F(SimulatedTime, RepeatsRunOfSameSeed) {
    const auto steps = [] {
        Tally tally;
        run_seed(77, 2, tally);
        return std::array{tally.steps, tally.blocks, tally.pictures};
    };
    EXPECT_EQ(steps(), steps());
}

}  // namespace
}  // namespace echolux
