// Records and displays at full rate for a long time under faults. `./dev soak HOURS` starts it and shows its report.
// The source disappears and returns, disks fill and are freed, the program is stopped and continued, settings change in
// bursts, and the graphics device is lost. Every byte of the recordings is checked (check_part.py). Memory, files and
// threads must not grow.
//
// usage: echolux_soak SECONDS FOLDER REPORT.md [SEED]
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <random>
#include <thread>

#include "app/live/live_job.h"
#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "compute/plan/describe.h"
#include "engine/live/session.h"
#include "tests/unit/await.h"
#include "troubled_source.h"
#include "usage.h"

namespace echolux::soak {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Path = std::filesystem::path;

constexpr double line_rate_hz = 50000;

SourceRequest simulator() {
    SourceRequest wanted{.name = "sim:layers", .settings = {.line_rate_hz = line_rate_hz, .block_b_scans = 8}};
    wanted.assignments = {"simulation.samples=256", "simulation.a_scans=128", "simulation.b_scans=64",
                          "simulation.volumes=4", "recipe.noise_floor_db=20"};
    return wanted;
}

// ---- resource usage, which must not grow

std::int64_t entries(const char* folder) {
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

Usage usage_now(double time_s) {
    Usage usage{.time_s = time_s, .files = entries("/proc/self/fd"), .threads = entries("/proc/self/task")};
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;
    usage.resident_mb = 1e-6 * static_cast<double>(pages * sysconf(_SC_PAGESIZE));
    std::ifstream("/proc/loadavg") >> usage.load;
    return usage;
}

// ---- recordings, in sequence

struct Recorded {
    std::int64_t parts = 0, blocks = 0, missing = 0, frames = 0, bytes = 0, interruptions = 0;
    std::vector<std::string> wrong;
};

// Checks the files and removes them. Returns the error, or "".
std::string checked(const Path& toml, const RecorderStats& stats, Recorded& all) {
    const std::string command = fmt::format("python3 -B {}/check_part.py {} {} {} {} 2>&1", ECHOLUX_TEST_DIR,
                                            toml.string(), stats.blocks, stats.missing_blocks, stats.lost_blocks);
    std::FILE* said = popen(command.c_str(), "r");
    std::string text;
    for (int c = 0; (c = std::fgetc(said)) != EOF;) text += static_cast<char>(c);
    if (pclose(said) != 0) return text;
    std::int64_t frames = 0, bytes = 0, interruptions = 0;
    std::sscanf(text.c_str(), "%ld %ld %ld", &frames, &bytes, &interruptions);
    all.frames += frames;
    all.bytes += bytes;
    all.interruptions += interruptions;
    const std::string stem = toml.stem().string();
    for (const auto& entry : std::filesystem::directory_iterator(toml.parent_path())) {
        if (entry.path().filename().string().starts_with(stem + ".")) std::filesystem::remove_all(entry.path());
    }
    return "";
}

class Soak {
  public:
    Soak(Path folder, std::uint64_t seed)
        : folder_(std::move(folder)), random_(seed), source_(open_source(simulator()), seed + 1),
          spec_(source_.scan().spec(source_.block_b_scans())), session_(source_) {
        device_.loses = [this] { return is_lost_.load(); };
    }

    void run(double seconds) {
        show();
        start_session();
        begun_ = Clock::now();
        double looked_at = 0;
        const auto is_over = [&] {
            make_trouble();
            hear();
            if (now_s() - looked_at >= 5) {
                looked_at = now_s();
                usages_.push_back(usage_now(looked_at));
            }
            return now_s() >= seconds;
        };
        becomes_true(is_over, std::chrono::hours(10000), 10ms);
        allow_files(RLIM_INFINITY);
        end_recording();
        session_.stop();
        drained_ = session_.drain(60s);
        pictures_ += loop_->stats().pictures;
        if (checking_.valid()) note_checked();
        volumes_ += session_.stats().finished_volumes;
        hide();
    }

    bool write_report(const Path& path, double seconds, std::uint64_t seed);

  private:
    double now_s() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }
    bool happens_every(double period_s) { return std::uniform_real_distribution<double>(0, period_s)(random_) < 0.01; }
    double any(double max) { return std::uniform_real_distribution<double>(0, max)(random_); }

    template <class Work>
    bool tries(const Work& work) {
        try {
            work();
            return true;
        } catch (const Error& error) {
            note(error.line());
            return false;
        }
    }

    void make_trouble() {
        if (happens_every(0.5)) change();
        if (happens_every(1)) session_.look_at(static_cast<std::int64_t>(any(64)));
        if (recording_.empty() && !checking_.valid()) begin_recording();
        if (!recording_.empty() && happens_every(25)) end_recording();
        if (checking_.valid() && checking_.wait_for(0s) == std::future_status::ready) note_checked();
        if (happens_every(45)) fill_disk();
        if (has_full_disk_ && now_s() > room_at_s_) allow_files(RLIM_INFINITY);
        if (happens_every(60)) stop_the_world();
        if (happens_every(90)) restart_source();
        if (happens_every(75)) is_lost_ = true;
        if (loop_->problem()) revive();
    }

    // A burst of changes: mostly quick ones, occasionally one that needs a new ring.
    void change() {
        for (int i = 0; i < 20; ++i) {
            spec_.recipe.high = spec_.recipe.low + 20 + any(60);
            spec_.recipe.a2_rad = any(40) - 20;
            if (any(1) < 0.02) spec_.recipe.depth_end = 48 + static_cast<std::int64_t>(any(80));
            tries([this] { session_.change(spec_); });
            ++changes_;
        }
    }

    void begin_recording() {
        RecordingRequest wanted = recording_of(source_, folder_ / fmt::format("part{}.toml", recorded_.parts));
        if (tries([&] { session_.record(wanted); })) {
            recording_ = wanted.scan_toml;
            ++recorded_.parts;
        }
    }

    void end_recording() {
        if (recording_.empty()) return;
        allow_files(RLIM_INFINITY);
        const RecorderStats stats = session_.stop_recording();
        recorded_.blocks += stats.blocks;
        recorded_.missing += stats.missing_blocks;
        if (stats.refused_blocks > 0)
            recorded_.wrong.push_back(fmt::format("{} blocks were refused", stats.refused_blocks));
        if (checking_.valid()) note_checked();
        if (stats.blocks > 0)
            checking_ = std::async(std::launch::async,
                                   [this, toml = recording_, stats] { return checked(toml, stats, recorded_); });
        recording_.clear();
    }

    void note_checked() {
        const std::string problem = checking_.get();
        if (problem.empty()) return;
        note("CHECK: " + problem);
        recorded_.wrong.push_back(problem);
    }

    // Simulates a full disk by a limit on file sizes.
    void fill_disk() {
        if (recording_.empty()) return;
        std::error_code unknown;
        Path raw = recording_;
        const auto size = std::filesystem::file_size(raw.replace_extension(".raw"), unknown);
        if (unknown) return;
        allow_files(size + (1 << 20));
        room_at_s_ = now_s() + 1 + any(4);
        ++full_disks_;
    }

    void allow_files(rlim_t bytes) {
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        limit.rlim_cur = std::min(bytes, limit.rlim_max);
        setrlimit(RLIMIT_FSIZE, &limit);
        has_full_disk_ = bytes != RLIM_INFINITY;
    }

    void stop_the_world() {
        ++stops_;
        const std::string command =
            fmt::format("(kill -STOP {0}; sleep {1:.1f}; kill -CONT {0}) &", getpid(), 0.3 + any(2));
        if (std::system(command.c_str()) != 0) note("the program could not be stopped");
    }

    void restart_source() {
        end_recording();
        volumes_ += session_.stats().finished_volumes;
        session_.stop();
        ++restarts_;
        start_session();
    }

    void start_session() {
        AWAIT(tries([this] { session_.start(); }));
    }

    void show() {
        path_ = std::make_unique<LivePipeline>(spec_, BackendChoice{}, device_);
        way_ = path_->feeder.describe();
        View view;
        view.width = view.height = 128;
        loop_ = std::make_unique<PictureLoop>(path_->display, view, 20,
                                              [this](std::int64_t volume) { session_.shown(volume); });
        session_.attach(path_->feeder);
    }
    void hide() {
        session_.detach();
        loop_.reset();
        path_.reset();
    }

    void revive() {
        ++losses_;
        pictures_ += loop_->stats().pictures;
        hide();
        is_lost_ = false;
        show();
    }

    void hear() {
        for (const LiveEvent& event : session_.take_events()) note(event.line);
    }
    void note(const std::string& line) {
        std::fprintf(stderr, "%8.2f s  %s\n", now_s(), line.c_str());
        ++events_;
    }

    Path folder_;
    std::mt19937_64 random_;
    TroubledSource source_;
    ReconstructionSpec spec_;
    GpuDevice device_;
    std::atomic<bool> is_lost_ = false;
    std::unique_ptr<LivePipeline> path_;
    Session session_;
    std::unique_ptr<PictureLoop> loop_;  // destroyed before the session

    Clock::time_point begun_ = Clock::now();
    Path recording_;  // the current recording; empty: none
    std::future<std::string> checking_;
    Recorded recorded_;
    bool has_full_disk_ = false, drained_ = false;
    double room_at_s_ = 0;
    std::int64_t changes_ = 0, full_disks_ = 0, stops_ = 0, restarts_ = 0, losses_ = 0, pictures_ = 0, volumes_ = 0,
                 events_ = 0;
    std::string way_;
    std::vector<Usage> usages_;
};

bool Soak::write_report(const Path& path, double seconds, std::uint64_t seed) {
    const UsageInThirds thirds(usages_);
    const Growth growth = thirds.growth();
    const bool is_flat = growth == Growth::none;
    const bool is_right = recorded_.wrong.empty() && recorded_.blocks > 0 && drained_;
    std::string text = fmt::format("# Soak\n\n{}: {:.0f} s at {:.0f} lines/s, seed {}, {:%Y-%m-%d}.\n\n{}\n\n",
                                   is_flat && is_right ? "Passed" : "FAILED", seconds, line_rate_hz, seed,
                                   fmt::gmtime(std::time(nullptr)), way_);
    const auto row = [&](const char* what, const auto& value) { text += fmt::format("| {} | {} |\n", what, value); };
    text += "| what | how often, how much |\n|---|---|\n";
    row("recordings", recorded_.parts);
    row("blocks recorded", recorded_.blocks);
    row("bytes checked against the simulator's stamps", recorded_.bytes);
    row("recordings with something wrong", recorded_.wrong.size());
    row("blocks missing in the files, all counted (full disks, a disk too slow)", recorded_.missing);
    row("interruptions within recordings", recorded_.interruptions);
    row("the source was disconnected", source_.disconnects.load());
    row("the source stalled", source_.stalls.load());
    row("blocks that the source lost", source_.lost.load());
    row("the session was stopped and started", restarts_);
    row("full disks", full_disks_);
    row("SIGSTOP", stops_);
    row("graphics devices lost", losses_);
    row("settings changed", changes_);
    row("volumes reconstructed", volumes_);
    row("pictures", pictures_);
    text += "\n| | second third | last third |\n|---|---|---|\n";
    const auto medians = [&](const char* what, auto field, int digits) {
        text += fmt::format("| {} | {:.{}f} | {:.{}f} |\n", what, thirds.median(field, 1), digits,
                            thirds.median(field, 2), digits);
    };
    medians("memory, MB (median)", &Usage::resident_mb, 0);
    medians("open files", &Usage::files, 0);
    medians("threads", &Usage::threads, 0);
    medians("load of the machine", &Usage::load, 1);
    text += "\n| minute | memory, MB | open files | threads | load |\n|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < usages_.size(); i += 12) {
        const Usage& u = usages_[i];
        text += fmt::format("| {:.0f} | {:.0f} | {} | {} | {:.1f} |\n", u.time_s / 60, u.resident_mb, u.files,
                            u.threads, u.load);
    }
    if (growth == Growth::too_few_samples) {
        text +=
            fmt::format("\nToo few samples to tell whether memory grows: {}, at least {} are needed. Run it longer.\n",
                        usages_.size(), UsageInThirds::min_samples);
    }
    if (growth == Growth::some) text += "\nMemory, open files or threads grew.\n";
    for (const std::string& wrong : recorded_.wrong) text += "\nWrong: " + wrong;
    std::ofstream(path) << text;
    std::fputs(text.c_str(), stdout);
    return is_flat && is_right;
}

int run(int count, char** arguments) {
    if (count < 4) {
        std::fputs("usage: echolux_soak SECONDS FOLDER REPORT.md [SEED]\n", stderr);
        return 2;
    }
    std::signal(SIGXFSZ, SIG_IGN);  // makes writes on a full disk fail instead of killing the process
    const double seconds = std::atof(arguments[1]);
    const std::uint64_t seed = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : std::random_device{}();
    const Path folder = Path(arguments[2]) / fmt::format("soak-{}", getpid());
    std::filesystem::create_directories(folder);
    Soak soak(folder, seed);
    soak.run(seconds);
    const bool passed = soak.write_report(arguments[3], seconds, seed);
    if (passed) std::filesystem::remove_all(folder);
    return passed ? 0 : 1;
}

}  // namespace
}  // namespace echolux::soak

int main(int count, char** arguments) try {
    return echolux::soak::run(count, arguments);
} catch (const std::exception& error) {
    std::fprintf(stderr, "soak: %s\n", error.what());
    return 1;
}
