#include "app/live/session_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "app/open/open_volume.h"
#include "app/seconds_since.h"
#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe_stats.h"
#include "compute/plan/tables.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/live/recording_files.h"
#include "engine/progress.h"
#include "engine/scan/recording.h"

namespace echolux {

// ---- Source

namespace {

using namespace std::chrono_literals;

constexpr auto session_check_interval = 50ms;  // also the delay after which Ctrl-C takes effect
constexpr auto max_wait = 10s;                 // for the first block

bool is_usable(const Block& block, const ReconstructionSpec& plan) {
    try {
        check_block(block, plan);
        return block.memory != MemoryKind::device;
    } catch (const Error&) {
        return false;
    }
}

// Starts a source, and stops it on destruction.
class Started {
  public:
    explicit Started(Source& source) : source_(source) { source_.start(); }
    ~Started() { source_.stop(); }
    Started(const Started&) = delete;
    Started& operator=(const Started&) = delete;

  private:
    Source& source_;
};

}  // namespace

ReconstructionSpec live_plan(Source& source, Progress& progress) {
    ReconstructionSpec plan = source.scan().spec(source.block_b_scans());
    if (!needs_noise_floor(plan.recipe, plan.flow)) return plan;
    progress.begin("wait for the first block", 0, "");
    const Started started(source);
    const auto until = std::chrono::steady_clock::now() + max_wait;
    while (std::chrono::steady_clock::now() < until) {
        progress.advance(0);
        const Arrival arrival = source.next(session_check_interval);
        if (arrival.kind == Arrival::Kind::ended) break;
        if (arrival.kind != Arrival::Kind::block || !is_usable(arrival.block, plan)) continue;
        plan.recipe.noise_floor_db = noise_floor_for_recipe(plan, arrival.block);
        break;
    }
    progress.end();
    return plan;
}

RecordingRequest recording_of(const Source& source, const std::filesystem::path& scan_toml) {
    RecordingRequest wanted;
    wanted.scan_toml = scan_toml;
    wanted.scan = source.scan();
    wanted.line_rate_hz = source.line_rate_hz();
    wanted.played_files = source.played_files();
    if (source.pool_blocks() > 0) wanted.max_blocks_held = std::max<std::int64_t>(1, source.pool_blocks() / 2);
    const std::int64_t b_scans = std::min(source.block_b_scans(), wanted.scan.geometry.b_scans);
    if (const auto block = RecordingLayout(wanted.scan).place_of(0, 0, b_scans))
        wanted.held_bytes = wanted.max_blocks_held * block->bytes;
    return wanted;
}

// ---- Files of all volumes

static std::string volume_name(std::int64_t number) {
    return fmt::format("volume_{:06}.nrrd", number);
}

// Call before a source starts. Throws Error{output, bad_setting} if the folder already contains volumes, which would be
// mixed with the new ones, if its parent is missing, or if it has the name of a volume file.
static void check_processed_folder(const std::filesystem::path& folder) {
    if (folder.empty()) return;
    if (is_volume_name(folder)) {
        throw Error(ErrorCode::bad_setting,
                    "is the name of a volume: processed volumes are written to a folder, one file each",
                    folder.string(), "name a folder");
    }
    std::error_code problem;
    if (std::filesystem::exists(folder, problem) && !std::filesystem::is_directory(folder, problem))
        throw Error(ErrorCode::output, "is not a folder", folder.string(), "name a folder");
    for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        if (!is_volume_name(at->path())) continue;
        throw Error(ErrorCode::output, "already contains volumes, which would be mixed with the new ones",
                    folder.string(), "name a new folder");
    }
}

ProcessedVolumes::ProcessedVolumes(std::filesystem::path folder) : folder_(std::move(folder)) {
    make_folder_for(folder_ / volume_name(0));
    thread_ = std::thread([this] { work(); });
}

ProcessedVolumes::~ProcessedVolumes() {
    finish();
}

bool ProcessedVolumes::has_room() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size() < max_waiting && !stats_.problem;
}

void ProcessedVolumes::add(std::int64_t number, const VolumeGrid& grid, std::function<std::vector<std::byte>()> voxels,
                           std::map<std::string, std::string> provenance) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back({number, grid, std::move(voxels), std::move(provenance)});
    comes_.notify_one();
}

void ProcessedVolumes::leave_out() {
    const std::scoped_lock lock(mutex_);
    ++stats_.left_out;
}

ProcessedStats ProcessedVolumes::finish() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        comes_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    const std::scoped_lock lock(mutex_);
    return stats_;
}

void ProcessedVolumes::work() {
    std::unique_lock lock(mutex_);
    while (comes_.wait(lock, [this] { return ends_ || !waiting_.empty(); }), !waiting_.empty()) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        std::optional<Error> problem;
        try {
            write(std::move(next));
        } catch (const Error& error) {
            problem = error;
        } catch (const std::exception& error) {
            problem = Error(ErrorCode::output, error.what(), folder_.string());
        }
        lock.lock();
        if (!problem) continue;
        ++stats_.left_out;
        if (!stats_.problem) stats_.problem = problem;
    }
}

void ProcessedVolumes::write(Waiting waiting) {
    const auto start = std::chrono::steady_clock::now();
    const Volume volume{waiting.grid, waiting.voxels(), std::move(waiting.provenance)};
    waiting.voxels = {};  // its memory is reused for the next volume
    const double read_back_s = seconds_since(start);
    write_volume(folder_ / volume_name(waiting.number), volume);
    const std::scoped_lock lock(mutex_);
    ++stats_.volumes;
    stats_.bytes += volume.grid.bytes();
    stats_.read_back_s += read_back_s;
    stats_.write_s += seconds_since(start) - read_back_s;
}

// ---- File of the recent volumes

constexpr double jitter = 0.01;  // relative to the time step: tolerance for regular time stamps

static bool is_regular(const std::vector<double>& times_s, double step_s) {
    for (std::size_t i = 0; i < times_s.size(); ++i) {
        if (std::abs(times_s[i] - static_cast<double>(i) * step_s) > jitter * step_s) return false;
    }
    return true;
}

// The recipe in the provenance contains the settings in use when the volumes were saved. Notes how many volumes were
// started with other settings.
static void note_other_settings(const RecentSeries& series, std::map<std::string, std::string>& provenance) {
    const auto is_other = [&](const RecentVolume& volume) { return volume.stamp.plan != series.plan; };
    const auto others = std::ranges::count_if(series.volumes, is_other);
    if (others == 0) return;
    const auto last = std::find_if(series.volumes.rbegin(), series.volumes.rend(), is_other);
    provenance["recipe_changed"] = fmt::format("begun with other settings: {} of {}, up to volume {}",
                                               plural(others, "volumes"), series.volumes.size(), last->stamp.volume);
}

static SeriesHeader header_of(const RecentSeries& series) {
    const std::vector<RecentVolume>& volumes = series.volumes;
    SeriesHeader header{.grid = series.grid, .time_points = std::ssize(volumes), .provenance = series.provenance};
    const VolumeStamp& first = volumes.front().stamp;
    for (const RecentVolume& volume : volumes) header.times_s.push_back(volume.stamp.time_s - first.time_s);
    if (volumes.size() > 1) header.step_s = header.times_s.back() / static_cast<double>(volumes.size() - 1);
    if (is_regular(header.times_s, header.step_s)) header.times_s.clear();
    header.provenance["volumes"] = fmt::format("{} to {}", first.volume, volumes.back().stamp.volume);
    header.provenance["first_time_s"] = fmt::format("{:.6f}", first.time_s);
    note_other_settings(series, header.provenance);
    return header;
}

std::vector<RecentVolume> last_of(const std::vector<RecentVolume>& volumes, double seconds) {
    if (volumes.empty() || seconds <= 0) return volumes;
    const double from_s = volumes.back().stamp.time_s - seconds;
    const auto is_of_them = [from_s](const RecentVolume& volume) { return volume.stamp.time_s >= from_s; };
    return {std::ranges::find_if(volumes, is_of_them), volumes.end()};
}

void write_recent(const std::filesystem::path& path, const RecentSeries& series,
                  const std::function<std::vector<std::byte>()>& voxels, Progress& progress) {
    SeriesWriter writer(path, header_of(series));
    progress.begin("write", std::ssize(series.volumes), "volumes");
    for (std::size_t i = 0; i < series.volumes.size(); ++i) {
        writer.write(voxels());
        progress.advance(1);
    }
    writer.finish();
    progress.end();
}

// ---- Report

template <>
const std::vector<Stat<ProcessedStats>>& describe_stats<ProcessedStats>() {
    using S = ProcessedStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("volumes", &S::volumes, "volumes", "written"),
        statistic<S>("left_out", &S::left_out, "volumes", "skipped because the disk was too slow"),
        statistic<S>("bytes", &S::bytes, "bytes", "written"),
        statistic<S>("read_back_s", &S::read_back_s, "s", "waiting for voxels"),
        statistic<S>("write_s", &S::write_s, "s", "writing"),
        statistic<S>(
            "problem", [](const S& s) { return s.problem ? StatValue(s.problem->line()) : StatValue(); }, "",
            "error that ended writing; only then"),
    });
    return all;
}

template <>
const std::vector<Stat<PictureStats>>& describe_stats<PictureStats>() {
    using S = PictureStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("pictures", &S::pictures, "pictures", "finished"),
        statistic<S>("volumes", &S::volumes, "volumes", "displayed completely"),
        statistic<S>("out_of_order", &S::out_of_order, "pictures",
                     "that showed an older volume than the previous image"),
        statistic<S>("pictures_per_s", &S::pictures_per_s, "1/s", "mean rate while the view or volume changed"),
        part("drawing", &S::drawing),
    });
    return all;
}

template <>
const std::vector<Stat<DisplayReport>>& describe_stats<DisplayReport>() {
    using S = DisplayReport;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        part("ring", &S::ring),
        part("pictures", &S::pictures),
        statistic<S>("bytes_read_back", &S::bytes_read_back, "bytes",
                     "of images and voxels read back from the graphics device"),
    });
    return all;
}

template <>
const std::vector<Stat<RecentVolumesReport>>& describe_stats<RecentVolumesReport>() {
    using S = RecentVolumesReport;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("volumes", &S::volumes, "volumes", "written"),
        statistic<S>("bytes_read_back", &S::bytes_read_back, "bytes",
                     "read back from the graphics device for the file"),
    });
    return all;
}

template <>
const std::vector<Stat<LiveReport>>& describe_stats<LiveReport>() {
    using S = LiveReport;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>(
            "program", [](const S&) { return fmt::format("echolux {}", version); }, "",
            "name and version of the program"),
        statistic<S>("source", &S::source, "", "name of the source"),
        statistic<S>("way", &S::backend_description, "", "device that reconstructs, and transfer path of its voxels"),
        part("", &S::session),
        part("", &S::display),
        part("tissue", &S::tissue),
        part("recorder", &S::recorder),
        part("processed", &S::processed),
        part("kept", &S::kept),
        part("igtl", &S::linked),
    });
    return all;
}

static void add_row(std::string& table, const std::string& prefix, const StatText& stat) {
    table += fmt::format("| `{}{}` | {} | {} |\n", prefix, stat.key, stat.unit, stat.help);
}

std::string statistics_table() {
    std::string table = "| key | unit | meaning |\n|---|---|---|\n";
    for (const StatText& stat : describe_stats<LiveReport>()) add_row(table, "", stat);
    for (const StatText& stat : describe_stats<DeviceWork>()) add_row(table, "devices[].", stat);
    return table;
}

using Json = nlohmann::ordered_json;

// For each device, its share of the blocks and the slowest stage of a block.
static std::string text_of(const std::vector<DeviceWork>& devices) {
    std::int64_t all = 0;
    for (const DeviceWork& one : devices) all += one.blocks;
    std::string text;
    for (const DeviceWork& one : devices) {
        // Seconds over thousands of blocks are milliseconds per block.
        const double thousands = 1e-3 * static_cast<double>(std::max<std::int64_t>(1, one.blocks));
        text += fmt::format(
            "{:13}{} {:.0f} % of the blocks; of each {:.2f} ms link, {:.2f} waiting, {:.2f} kernels, "
            "{:.2f} copy{}{}{}\n",
            &one == &devices.front() ? "devices" : "", one.name,
            100.0 * static_cast<double>(one.blocks) / static_cast<double>(std::max<std::int64_t>(1, all)),
            one.link_s / thousands, one.waiting_s / thousands, one.kernels_s / thousands, one.copy_s / thousands,
            one.transfer_path.empty() ? "" : ", ", one.transfer_path,
            one.failure.empty() ? "" : "; not used: " + one.failure);
    }
    return text;
}

static std::string latency_text(const Latency& latency) {
    return fmt::format("median {:.1f} ms, 99 % {:.1f} ms, max {:.1f} ms", 1e3 * latency.percentile_s(0.5),
                       1e3 * latency.percentile_s(0.99), 1e3 * latency.max_s());
}

static std::string singular_or_plural(std::int64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

// "after 85 of 400 volumes", "after 2.5 of 60 s".
static std::string where_interrupted(const LiveReport& report) {
    if (report.asked_volumes > 0) {
        return fmt::format("after {} of {}", report.session.arrived.volumes,
                           ::echolux::plural(report.asked_volumes, "volumes"));
    }
    return fmt::format("after {:.1f} of {:.4g} s", report.session.seconds, report.asked_seconds);
}

// Returns the reason of a failure, or nothing. Interrupts are not failures.
static std::optional<Error> run_error_of(const LiveReport& report) {
    const auto because = [&](ErrorCode code, const std::string& what, const std::string& remedy = {}) {
        return Error(code, what, report.source, remedy);
    };
    const LiveStats& s = report.session;
    const std::optional<RecorderStats>& recorder = report.recorder;
    if (recorder && recorder->problem) return recorder->problem;
    if (report.processed && report.processed->problem) return report.processed->problem;
    if (report.kept && report.kept->problem) return report.kept->problem;
    if (!report.failure.empty()) return because(ErrorCode::device, report.failure);
    const bool is_empty = s.arrived.blocks == 0 || (recorder && recorder->blocks == 0);
    if (is_empty && !report.was_cut_short) {
        return because(ErrorCode::output, recorder ? "nothing was recorded" : "no spectra arrived",
                       "check the trigger and the cable, or let it run longer");
    }
    const std::int64_t missing = recorder ? recorder->missing_blocks + recorder->refused_blocks : 0;
    if (missing > 0)
        return because(ErrorCode::output,
                       singular_or_plural(missing, "block is", "blocks are") + " missing in the recording");
    if (recorder && recorder->lost_b_scans > 0) {
        return because(ErrorCode::output,
                       singular_or_plural(recorder->lost_b_scans, "B-scan", "B-scans") + " never arrived",
                       "check the line rate, the cable and the source's buffers");
    }
    if (recorder && recorder->interruptions > 0) {
        return because(
            ErrorCode::device,
            "failed " + singular_or_plural(recorder->interruptions, "time", "times") + " during the recording",
            "check the cable and the power");
    }
    const std::int64_t lost = s.arrived.lost_blocks + s.arrived.misshapen_blocks;
    if (lost > 0) {
        return because(ErrorCode::output, singular_or_plural(lost, "block was", "blocks were") + " lost by the source",
                       "check the line rate, the cable and the source's buffers");
    }
    if (s.failed_volumes > 0) {
        return because(ErrorCode::output, singular_or_plural(s.failed_volumes, "volume is", "volumes are") +
                                              " missing: reconstruction failed");
    }
    return {};
}

std::optional<Error> problem_of(const LiveReport& report) {
    const std::optional<Error> run_error = run_error_of(report);
    if (!report.was_cut_short) return run_error;
    std::string what = "interrupted " + where_interrupted(report);
    if (report.recorder)
        what += "; " + singular_or_plural(report.recorder->blocks, "block is", "blocks are") + " recorded";
    if (run_error) what += "; " + run_error->line();
    return Error(ErrorCode::cancelled, what, report.source);
}

void set_value(Json& object, std::string_view key, const StatValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return;
    Json* at = &object;
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
        at = &(*at)[std::string(key.substr(0, dot))];
        key.remove_prefix(dot + 1);
    }
    std::visit(
        [&](const auto& known) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(known)>, std::monostate>)
                (*at)[std::string(key)] = known;
        },
        value);
}

Json object_of(const LiveReport& report) {
    Json json = stats_object(report);
    for (const DeviceWork& device : report.devices) json["devices"].push_back(stats_object(device));
    json["cut_short"] = report.was_cut_short;
    if (report.was_cut_short) json["asked"] = {{"volumes", report.asked_volumes}, {"seconds", report.asked_seconds}};
    json["events"] = Json::array();
    for (const LiveEvent& event : report.events) {
        json["events"].push_back({{"time_s", event.time_s}, {"trouble", event.is_problem}, {"line", event.line}});
    }
    return json;
}

std::string json_of(const LiveReport& report) {
    return object_of(report).dump(2);
}

std::string text_of(const LiveReport& report) {
    const LiveStats& s = report.session;
    const double seconds = std::max(s.seconds, 1e-9);
    std::string text = fmt::format("{}, {:.1f} s{}\n", report.source, s.seconds,
                                   report.was_cut_short ? ", interrupted " + where_interrupted(report) : "");
    text += fmt::format("acquired     {}, {} ({:.0f} per second), {}; {} lost by the source\n",
                        plural(s.arrived.volumes, "volumes"), plural(s.arrived.a_scans, "A-scans"),
                        static_cast<double>(s.arrived.a_scans) / seconds, plural(s.arrived.blocks, "blocks"),
                        s.arrived.lost_blocks);
    if (report.recorder) {
        text += fmt::format("recorded     {}, {:.1f} MB; {} missing\n", plural(report.recorder->blocks, "blocks"),
                            1e-6 * static_cast<double>(report.recorder->bytes), report.recorder->missing_blocks);
    }
    if (report.backend_description.empty()) return text;
    text += fmt::format("processed    {}, {} ({:.0f} per second), load {:.0f} %: {}\n",
                        plural(s.finished_volumes, "volumes"), plural(s.fed_lines, "A-scans"),
                        static_cast<double>(s.fed_lines) / seconds, 100 * s.load, report.backend_description);
    text += text_of(report.devices);
    text += fmt::format("skipped      {} (display too slow), {} (incomplete), {} (no free buffer), {} (failed)\n",
                        plural(s.queue.overtaken_volumes, "volumes"), s.queue.incomplete_volumes, s.dropped_volumes,
                        s.failed_volumes);
    if (report.display) {
        const PictureStats& shown = report.display->pictures;
        text +=
            fmt::format("displayed    {}, {} ({:.1f} frames/s), {} out of order\n", plural(shown.volumes, "volumes"),
                        plural(shown.pictures, "frames"), shown.pictures_per_s, shown.out_of_order);
        text += fmt::format("latency      last block to displayed frame: {}\n", latency_text(s.shown));
    }
    if (report.display && report.display->ring.max_kept > 0) {
        const RingStatistics& ring = report.display->ring;
        text += fmt::format("kept         the last {} of at most {}", plural(ring.kept, "volumes"), ring.max_kept);
        const bool is_written = report.kept && !report.kept->problem;
        text += is_written ? fmt::format("; written, {:.1f} MB read back\n",
                                         1e-6 * static_cast<double>(report.kept->bytes_read_back))
                           : "\n";
    }
    if (report.tissue) {
        const TissueStats& done = *report.tissue;
        const auto volumes = static_cast<double>(std::max<std::int64_t>(1, done.volumes));
        text += fmt::format("tissue       {} stabilised, {} filtered, {} unprocessed, {} skipped; {:.1f} ms each\n",
                            plural(done.stabilised, "volumes"), done.filtered, done.as_it_was, done.skipped,
                            1e3 * done.work_s / volumes);
        if (done.b_scans > 0)
            text += fmt::format("             {} of {} registered, {} in saccades\n", done.b_scans_used,
                                ::echolux::plural(done.b_scans, "B-scans"), done.saccades);
    }
    if (report.processed) {
        text += fmt::format("written      {}, {:.1f} MB; {} skipped; read back in {:.2f} s, written in {:.2f} s\n",
                            plural(report.processed->volumes, "volumes"),
                            1e-6 * static_cast<double>(report.processed->bytes), report.processed->left_out,
                            report.processed->read_back_s, report.processed->write_s);
    }
    if (report.linked) {
        text += fmt::format("sent         {}, {:.1f} MB in all, by OpenIGTLink; {} replaced by newer ones\n",
                            plural(report.linked->volumes, "volumes"), 1e-6 * static_cast<double>(report.linked->bytes),
                            report.linked->left_out);
    }
    return text;
}

// ---- Running a session

namespace {

constexpr auto max_to_drain = 60s;            // a CPU may still have two volumes to do when the source stops
constexpr auto max_to_drain_stopped = 500ms;  // after the user asked to stop

// Progress of a job, in volumes or in time.
class LiveProgress {
  public:
    LiveProgress(const AcquisitionJob& job, Progress& progress) : job_(job), progress_(progress) {
        if (counts_volumes())
            progress_.begin(job.task, job.volumes, "volumes");
        else
            progress_.begin(job.task, std::max<std::int64_t>(0, std::llround(1000 * job.seconds)), unit_of_time);
    }
    ~LiveProgress() {
        if (is_interrupted_) return;
        try {
            progress_.end();
        } catch (const std::exception&) {  // a destructor must not throw
        }
    }

    // Returns true at the end of the job. Throws Error{cancelled}.
    bool advance(const LiveStats& stats, std::int64_t volumes) {
        const std::int64_t now = counts_volumes() ? volumes : std::llround(1000 * stats.seconds);
        advance(now - std::exchange(done_, now));
        return stats.ended || (job_.seconds > 0 && stats.seconds >= job_.seconds);
    }

    // Checks for cancellation while the remaining blocks are reconstructed.
    void wait() { advance(std::int64_t{0}); }

  private:
    // Does not report interrupted work as done.
    void advance(std::int64_t count) {
        try {
            progress_.advance(count);
        } catch (const std::exception&) {
            is_interrupted_ = job_.volumes > 0 || job_.seconds > 0;
            throw;
        }
    }
    bool counts_volumes() const { return job_.volumes > 0; }

    const AcquisitionJob& job_;
    Progress& progress_;
    std::int64_t done_ = 0;
    bool is_interrupted_ = false;
};

RecordingRequest recording_of(const AcquisitionJob& job, const Source& source) {
    RecordingRequest wanted = recording_of(source, job.record);
    wanted.replace = job.overwrites;
    wanted.stripe_folders = job.stripes;
    const Scan& scan = wanted.scan;
    const std::int64_t volume =
        spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string()).volume_bytes();
    wanted.expected_bytes = job.volumes * volume;
    return wanted;
}

// Forwards events to the listener and keeps them for the report.
class Events {
  public:
    Events(Session& session, std::vector<LiveEvent>& kept, const EventCallback& on_event)
        : session_(session), kept_(kept), on_event_(on_event) {}

    void report_new() {
        for (const LiveEvent& event : session_.take_events()) note(event);
    }
    void note(const LiveEvent& event) {
        constexpr std::size_t max_events = 1000;  // bounds the report of a session of days
        kept_.push_back(event);
        if (kept_.size() > max_events) kept_.erase(kept_.begin());
        if (on_event_) on_event_(event);
    }

  private:
    Session& session_;
    std::vector<LiveEvent>& kept_;
    const EventCallback& on_event_;
};

// Returns false if it takes too long. Throws Error{cancelled} if the user cancels the wait.
bool drained(Session& session, LiveProgress& how_far) {
    const auto until = std::chrono::steady_clock::now() + max_to_drain;
    while (!session.drain(session_check_interval)) {
        if (std::chrono::steady_clock::now() > until) return false;
        how_far.wait();
    }
    return true;
}

// Runs until the job is complete and everything is reconstructed. Throws what `progress` throws.
void watch(const AcquisitionJob& job, Session& session, Progress& progress, Events& events,
           const std::function<std::optional<std::string>()>& run_error, LiveReport& report) {
    LiveProgress how_far(job, progress);
    for (;;) {
        events.report_new();
        const LiveStats stats = session.stats();
        if (how_far.advance(stats, stats.arrived.volumes)) break;
        if (const auto problem = run_error ? run_error() : std::nullopt) {
            report.failure = *problem;
            events.note({stats.seconds, true, *problem});
            break;
        }
        std::this_thread::sleep_for(session_check_interval);
    }
    session.stop();
    if (!drained(session, how_far))
        events.note({session.stats().seconds, true, "the last acquired blocks were not reconstructed"});
}

// Like watch(), but always ends the session properly. Returns the exception to rethrow afterwards, or nullptr.
std::exception_ptr watch_to_the_end(const AcquisitionJob& job, Session& session, Progress& progress, Events& events,
                                    const std::function<std::optional<std::string>()>& run_error, LiveReport& report) {
    std::exception_ptr problem;
    try {
        watch(job, session, progress, events, run_error, report);
        return problem;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::cancelled) problem = std::current_exception();
        report.was_cut_short = job.seconds > 0 || job.volumes > 0;
    } catch (...) {
        problem = std::current_exception();
    }
    session.stop();
    session.drain(max_to_drain_stopped);
    return problem;
}

// The scan files that a source replays or that describe it.
FileNames files_of_source(const SourceRequest& source) {
    FileNames files = files_read(source.scan, source.assignments);
    for (const std::string& name : sources_in(source.name)) {
        const std::size_t colon = name.find(':');
        const std::filesystem::path named = colon == std::string::npos ? "" : name.substr(colon + 1);
        std::error_code problem;
        if (!std::filesystem::exists(named, problem)) continue;
        const FileNames played = files_read(named, source.assignments);
        files.insert(files.end(), played.begin(), played.end());
    }
    return files;
}

bool is_own_report(const std::filesystem::path& path) {
    return begins_with(path, "{\n  \"program\": \"echolux ") && holds_near_an_end(path, "\"misshapen_blocks\"");
}

}  // namespace

void check_session_outputs(const AcquisitionJob& job, std::vector<Output> more, FileNames made_from) {
    check_processed_folder(job.processed);
    if (!job.record.empty()) {
        check_recording_name(job.record, job.overwrites, job.stripes);
        check_can_be_written(job.record);
        more.push_back({job.record, {}, {".toml"}});
        for (const std::filesystem::path& file : files_of_recording(job.record)) {
            if (file != job.record) more.push_back({file});
        }
        for (const std::filesystem::path& file : stripes_of_recording(job.record, job.stripes)) more.push_back({file});
    }
    more.push_back({job.report, is_own_report, {".json"}});
    if (!job.processed.empty()) more.push_back({job.processed, [](const auto&) { return true; }});  // checked above
    const FileNames played = files_of_source(job.source);
    made_from.insert(made_from.end(), played.begin(), played.end());
    check_outputs(more, made_from, job.overwrites);
    if (!job.report.empty()) check_can_be_written(job.report);
}

std::unique_ptr<Source> opened_source(const AcquisitionJob& job, Progress& progress) {
    SourceRequest wanted = job.source;
    wanted.progress = &progress;
    return open_source(wanted);
}

void run_session(const AcquisitionJob& job, Source& source, Session& session, LiveReport& report, Progress& progress,
                 const EventCallback& on_event, const std::function<std::optional<std::string>()>& run_error) {
    if (!job.record.empty()) session.record(recording_of(job, source));
    session.start(job.volumes);
    report.asked_volumes = job.volumes;
    report.asked_seconds = job.seconds;
    Events events(session, report.events, on_event);
    const std::exception_ptr problem = watch_to_the_end(job, session, progress, events, run_error, report);
    if (!job.record.empty()) {
        report.recorder = session.stop_recording();
        if (report.recorder->blocks > 0 && source.capabilities().has_truth)
            source.write_truth(truth_of_recording(job.record));
    }
    if (problem) std::rethrow_exception(problem);
    events.report_new();
}

}  // namespace echolux
