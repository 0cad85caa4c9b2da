// Live sessions: a source, a session, and finished volumes in host memory that are passed to a callback or taken.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "app/live/session_run.h"
#include "app/settings/settings_book.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe_stats.h"
#include "compute/plan/params.h"
#include "compute/plural.h"
#include "engine/acquire/pushed_source.h"
#include "engine/io/volume_file.h"
#include "engine/live/host_volumes.h"
#include "engine/live/session.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"
#include "library/call.h"

namespace echolux::library {

// ---- A finished volume of a session in host memory. Its voxels are shared by the caller and the list of kept volumes.

struct FinishedVolume {
    std::shared_ptr<const Volume> structure;
    std::shared_ptr<const Volume> flow;  // may be null
    double time_s = 0;
    std::int64_t number = 0;
    std::shared_ptr<const ReconstructionSpec> spec;  // the spec that reconstructed it
    std::uint64_t plan = 0;                          // number of the settings with which it was started

    std::int64_t bytes() const {
        return std::ssize(structure->voxels) + (flow ? std::ssize(flow->voxels) : std::int64_t{0});
    }
};

// ---- The most recent volumes of a session that fit into a memory limit, to step back through and to save after an
// event. While paused, new volumes are not kept.

// All functions except keep() may be called from any thread.
class KeptVolumes {
  public:
    void keep(std::int64_t bytes) { max_bytes_ = bytes; }  // call before the first volume; with 0 nothing is kept

    // Removes the oldest volumes if there is no room, and all if the new one has a different shape.
    void add(const FinishedVolume& volume) {
        const std::scoped_lock lock(mutex_);
        if (is_paused_ || volume.bytes() > max_bytes_) return;
        if (!volumes_.empty() && volumes_.back().structure->grid != volume.structure->grid) {
            volumes_.clear();
            bytes_ = 0;
        }
        volumes_.push_back(volume);
        // Drop the oldest until the rest fits.
        for (bytes_ += volume.bytes(); bytes_ > max_bytes_; volumes_.pop_front()) bytes_ -= volumes_.front().bytes();
    }

    std::int64_t count() const {
        const std::scoped_lock lock(mutex_);
        return std::ssize(volumes_);
    }

    // Pauses and returns a kept volume; 0 is the oldest. Throws Error{bad_setting} if `time_point` is out of range.
    FinishedVolume go_to(std::int64_t time_point) {
        const std::scoped_lock lock(mutex_);
        if (time_point < 0 || time_point >= std::ssize(volumes_)) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("is {}, and {} are kept", time_point, plural(std::ssize(volumes_), "volumes")),
                        "time_point", remedy());
        }
        is_paused_ = true;
        return volumes_[index(time_point)];
    }
    void play() {
        const std::scoped_lock lock(mutex_);
        is_paused_ = false;
    }

    // Writes the volumes of the last `seconds` (0: all) as one series and returns their number. New volumes may arrive
    // while it writes. Throws Error{output, bad_setting}; without any volume no file is written.
    std::int64_t save(const std::filesystem::path& path, double seconds) const {
        // Copy the list, whose voxels are shared, so that the session is not blocked while the file is written.
        const std::deque<FinishedVolume> volumes = [&] {
            const std::scoped_lock lock(mutex_);
            return volumes_;
        }();
        if (volumes.empty()) throw Error(ErrorCode::bad_setting, "no volumes are kept", path.string(), remedy());
        const FinishedVolume& newest = volumes.back();
        RecentSeries series{{}, newest.structure->grid, newest.structure->provenance, newest.plan};
        for (const FinishedVolume& one : volumes)
            series.volumes.push_back({series.volumes.size(), {one.number, one.time_s, one.plan}});
        series.volumes = last_of(series.volumes, seconds);
        std::size_t next = 0;
        SilentProgress no_progress;
        write_recent(
            path, series, [&] { return volumes[series.volumes[next++].serial].structure->voxels; }, no_progress);
        return std::ssize(series.volumes);
    }

  private:
    // Advice for errors about too few volumes.
    std::string remedy() const {
        return max_bytes_ > 0 ? "let the session run longer, or give it more memory with `source.keep_gb`"
                              : "set `source.keep_gb`, or keep_gb of its options, when the session is opened";
    }

    mutable std::mutex mutex_;
    std::int64_t max_bytes_ = 0;
    std::int64_t bytes_ = 0;
    bool is_paused_ = false;
    std::deque<FinishedVolume> volumes_;
};

// ---- Queue of finished volumes that the caller takes: only the newest, or several without loss.

class VolumeQueue {
  public:
    // If `waits` is set, the producer waits for room. Otherwise the oldest volume is discarded.
    void keep(std::int32_t volumes, bool waits) {
        const std::scoped_lock lock(mutex_);
        capacity_ = index(volumes);
        waits_ = waits;
    }

    // Returns false if the queue was closed.
    bool wait_for_room() {
        std::unique_lock lock(mutex_);
        is_waited_for_ = true;
        changed_.wait(lock, [this] { return closed_ || !waits_ || volumes_.size() < capacity_; });
        is_waited_for_ = false;
        return !closed_;
    }

    // Returns true if the producer is waiting for room.
    bool is_waited_for() const {
        const std::scoped_lock lock(mutex_);
        return is_waited_for_ && waits_ && volumes_.size() >= capacity_;
    }

    // Discards the oldest volumes if the queue is full, and counts them.
    void add(FinishedVolume volume) {
        const std::scoped_lock lock(mutex_);
        while (!volumes_.empty() && volumes_.size() >= capacity_) {
            volumes_.pop_front();
            ++overwritten_;
        }
        volumes_.push_back(std::move(volume));
        changed_.notify_all();
    }

    // Returns the oldest volume, or std::nullopt if none arrived within `timeout`.
    std::optional<FinishedVolume> take(std::chrono::milliseconds timeout) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, timeout, [this] { return !volumes_.empty(); });
        if (volumes_.empty()) return std::nullopt;
        FinishedVolume oldest = std::move(volumes_.front());
        volumes_.pop_front();
        changed_.notify_all();
        return oldest;
    }

    // Ends all waits: no more volumes will be taken.
    void close() {
        const std::scoped_lock lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

    std::int64_t overwritten() const {
        const std::scoped_lock lock(mutex_);
        return overwritten_;
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<FinishedVolume> volumes_;
    std::size_t capacity_ = 1;
    std::int64_t overwritten_ = 0;
    bool waits_ = false;
    bool closed_ = false;
    bool is_waited_for_ = false;
};

}  // namespace echolux::library

using namespace echolux;
using namespace echolux::library;

// ---- Session

// Members are destroyed in reverse order: the session, which writes to the sink, then the sink, which writes to the
// queue.
struct echolux_live : Handle<Kind::live> {
    // Cached provenance. Computing it reads files, and it is the same for all volumes of a spec.
    struct Description {
        std::shared_ptr<const ReconstructionSpec> spec;
        std::string backend;
        std::map<std::string, std::string> lines;
    };

    ~echolux_live() { queue.close(); }  // ends a wait for room in the queue

    std::unique_ptr<Source> source;
    PushedSource* pushed = nullptr;               // the same source, if the caller pushes blocks
    std::mutex changing;                          // guards scan, tissue and events
    Scan scan;                                    // with the current settings
    TissueSettings tissue;                        // settings of filter and registration
    std::string events;                           // not yet taken by the caller
    std::shared_ptr<const PipelineHooks> stages;  // may be null
    VolumeQueue queue;
    KeptVolumes kept;
    echolux_volume_callback finished = nullptr;
    void* user = nullptr;
    std::atomic<std::thread::id> delivers;  // the thread that runs the callback
    std::atomic<bool> was_started = false;
    std::string recording;   // latest requested recording
    std::mutex noting;       // guards `recorded`
    RecorderStats recorded;  // result of the last recording
    std::mutex describing;   // guards `description`
    Description description;
    std::optional<HostVolumes> sink;
    std::optional<Session> session;
};

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto session_check_interval = 5ms;  // of waiting calls, which the end of a session does not wake
constexpr std::int32_t default_queue = 2;     // finished volumes, for ECHOLUX_EVERY

// Returns null for a null volume.
std::unique_ptr<echolux_volume> handle_of(const FinishedVolume& made, const std::shared_ptr<const Volume>& volume) {
    if (!volume) return nullptr;
    auto one = std::make_unique<echolux_volume>(volume);
    one->time_s = made.time_s;
    one->number = made.number;
    one->geometry = made.spec->geometry;
    return one;
}

// Creates new handles that the caller owns. `flow` may be null.
void set_handles(const FinishedVolume& made, echolux_volume** structure, echolux_volume** flow) {
    auto of_structure = handle_of(made, made.structure), of_flow = handle_of(made, made.flow);
    *structure = of_structure.release();
    if (flow != nullptr) *flow = of_flow.release();
}

// "source.…" assignments apply to the source, all others to the scan it delivers.
SourceRequest source_from(const char* name, const char* scan_toml, const std::vector<std::string>& assignments) {
    SourceRequest wanted;
    wanted.name = text_argument(name, "source");
    if (scan_toml != nullptr) wanted.scan = scan_toml;
    Settings settings;
    settings.bind("source", wanted.settings);
    for (const std::string& assignment : assignments) {
        if (section_of(assignment) == "source")
            settings.set_assignment(assignment);
        else
            wanted.assignments.push_back(assignment);
    }
    return wanted;
}

// Returns no provenance if a calibration file has disappeared. The volume is still delivered.
std::map<std::string, std::string> provenance_or_none(Scan scan, const HostVolume& made) {
    take_recipe(*made.spec, scan);
    try {
        return provenance_of(scan, made.backend);
    } catch (const Error&) {
        return {};
    }
}

// Provenance is cached because it requires reading files and rarely changes.
std::map<std::string, std::string> provenance(echolux_live& live, const HostVolume& made) {
    const std::scoped_lock lock(live.describing);
    echolux_live::Description& last = live.description;
    // Compared by address: changed settings have a new spec.
    if (last.spec != made.spec || last.backend != made.backend) {
        last = {made.spec, made.backend, provenance_or_none(live.source->scan(), made)};
        if (live.stages) last.lines["stages"] = names_of(*live.stages);
    }
    return last.lines;
}

// Adds provenance to a volume and keeps it. Voxels are moved and then shared, never copied.
FinishedVolume finished(echolux_live& live, HostVolume made) {
    const auto lines = provenance(live, made);
    const auto shared = [&](Volume volume) {
        volume.provenance.insert(lines.begin(), lines.end());
        return std::make_shared<const Volume>(std::move(volume));
    };
    FinishedVolume done{.structure = shared(std::move(made.structure)),
                        .flow = {},
                        .time_s = made.time_s,
                        .number = made.number,
                        .spec = made.spec,
                        .plan = made.plan};
    if (made.flow) done.flow = shared(std::move(*made.flow));
    // Kept even if it is never taken.
    live.kept.add(done);
    return done;
}

// Runs on the thread that finishes volumes, which continues when the callback returns. The callback owns the handles.
void call_back(echolux_live& live, HostVolume made) {
    echolux_volume *structure = nullptr, *flow = nullptr;
    set_handles(finished(live, std::move(made)), &structure, &flow);
    // echolux_live_free() and echolux_live_wait() check it, because they would wait for themselves.
    live.delivers = std::this_thread::get_id();
    live.finished(live.user, structure, flow);
}

// Connects the session to the callback or, without one, to the queue.
VolumeReceiver receiver_of(echolux_live& live) {
    if (live.finished != nullptr) {
        return {[] { return true; }, [&live](HostVolume made) { call_back(live, std::move(made)); }};
    }
    return {[&live] { return live.queue.wait_for_room(); },
            [&live](HostVolume made) { live.queue.add(finished(live, std::move(made))); }};
}

// Completes a session whose `source` is set.
std::unique_ptr<echolux_live> completed_session(std::unique_ptr<echolux_live> live,
                                                const echolux_live_options* options) {
    const echolux_live_options wanted = copy_in_or_default(options, "options");
    if (wanted.delivery != ECHOLUX_NEWEST && wanted.delivery != ECHOLUX_EVERY) {
        throw BadArgument("is neither ECHOLUX_NEWEST nor ECHOLUX_EVERY", "delivery");
    }
    if (wanted.queue < 0) throw BadArgument("cannot be negative", "queue");
    SourceSettings settings;  // only to check the memory limit
    settings.keep_gb = wanted.keep_gb;
    check(settings, "options");
    if (wanted.keep_gb > 0) live->kept.keep(settings.keep_bytes());
    const bool every = wanted.delivery == ECHOLUX_EVERY;
    live->finished = wanted.finished;
    live->user = wanted.user;
    // NEWEST is a queue of one volume that never makes the session wait.
    live->queue.keep(every ? std::max(wanted.queue, wanted.queue == 0 ? default_queue : 1) : 1, every);
    live->scan = live->source->scan();
    const ReconstructionSpec spec = live->scan.spec(live->source->block_b_scans());
    std::shared_ptr<CallerHooks> hooks;
    if (wanted.stages != nullptr) live->stages = hooks = stages_of(wanted.stages, spec.geometry);
    BackendChoice choice = backend_of(wanted.device);
    choice.stages = live->stages;
    live->sink.emplace(spec, choice, receiver_of(*live));
    live->session.emplace(*live->source, *live->sink, every ? Overload::source_waits : Overload::newest_wins);
    // From here on `release` will be called. If anything before throws, the caller keeps `user`.
    if (hooks) hooks->are_kept = true;
    return live;
}

// Volumes are filtered and stabilised before delivery. Layers are segmented in the window, not here.
bool is_live_tissue(const std::string& key) {
    return section_of(key) == "filter" || section_of(key) == "registration";
}

// A rejected value leaves `live.tissue` unchanged.
void set_tissue(echolux_live& live, const std::string& key, const std::string& value) {
    TissueSettings changed = live.tissue;
    Settings settings;
    bind(settings, changed);
    settings.set(key, value, "settings");
    live.sink->set_tissue(live_tissue(changed));
    live.tissue = changed;
}

// Converts and checks a timeout.
std::chrono::milliseconds timeout_of(std::int32_t timeout_ms) {
    if (timeout_ms < 0) throw BadArgument("cannot be negative", "timeout_ms");
    return std::chrono::milliseconds(timeout_ms);
}

// Returns true if no more volumes will be finished. Check this before the queue: a volume may be queued in between.
bool is_over(echolux_live& live) {
    const LiveStats stats = live.session->stats();
    return (stats.ended || !stats.running) && live.session->drain(0ms);
}

}  // namespace

echolux_status echolux_live_open(const char* source, const char* scan_toml, const char* const* assignments,
                                 size_t count, const echolux_live_options* options, echolux_live** live,
                                 echolux_error* error) {
    return guarded(error, [&] {
        required(live, "live") = nullptr;
        auto one = std::make_unique<echolux_live>();
        std::vector<std::string> of_source = texts_argument(assignments, count, "assignments"), of_tissue;
        for (const std::string& text : of_source) {
            if (is_live_tissue(text)) of_tissue.push_back(text);
        }
        // Settings of tissue apply to the session, not to the source, and need the sink that completed_session()
        // creates.
        std::erase_if(of_source, is_live_tissue);
        const SourceRequest wanted = source_from(source, scan_toml, of_source);
        one->source = open_source(wanted);
        one->kept.keep(wanted.settings.keep_bytes());
        one = completed_session(std::move(one), options);
        for (const std::string& text : of_tissue) {
            const std::size_t end = std::min(text.find('='), text.size());
            set_tissue(*one, text.substr(0, end), text.substr(std::min(end + 1, text.size())));
        }
        *live = one.release();
    });
}

echolux_status echolux_live_create(const echolux_scan* scan, int64_t block_b_scans, const echolux_live_options* options,
                                   echolux_live** live, echolux_error* error) {
    return guarded(error, [&] {
        required(live, "live") = nullptr;
        if (block_b_scans < 0) throw BadArgument("cannot be negative", "block_b_scans");
        auto one = std::make_unique<echolux_live>();
        const echolux_scan& from = checked_handle(scan, "scan");
        one->stages = from.stages;
        auto pushed = std::make_unique<PushedSource>(from.scan, block_b_scans);
        one->pushed = pushed.get();
        one->source = std::move(pushed);
        *live = completed_session(std::move(one), options).release();
    });
}

echolux_status echolux_live_free(echolux_live* live) {
    return guarded(nullptr, [&] {
        if (live == nullptr) return;
        // A thread cannot wait for its own end.
        if (checked_handle(live, "live").delivers.load() == std::this_thread::get_id()) {
            throw BadArgument("cannot be freed by its own callback", "live", "free it from another thread");
        }
        delete live;
    });
}

echolux_status echolux_live_start(echolux_live* live, int64_t volumes, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        if (volumes < 0) throw BadArgument("cannot be negative", "volumes");
        one.session->start(volumes);
        one.was_started = true;
    });
}

echolux_status echolux_live_stop(echolux_live* live, echolux_error* error) {
    return guarded(error, [&] { checked_handle(live, "live").session->stop(); });
}

echolux_status echolux_live_wait(echolux_live* live, int32_t timeout_ms, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        if (one.delivers.load() == std::this_thread::get_id())
            throw BadArgument("cannot be waited for by its own callback", "live", "wait on another thread");
        const auto until = Clock::now() + timeout_of(timeout_ms);
        // A session that waits for room in the queue is also idle.
        while (!one.session->drain(0ms) && !one.queue.is_waited_for()) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
            if (left <= 0ms) return set_status(error, ECHOLUX_NOTHING_YET, "a block was still being processed");
            one.session->drain(std::min<std::chrono::milliseconds>(left, session_check_interval));
        }
        return set_status(error, ECHOLUX_OK, "");
    });
}

echolux_status echolux_live_push(echolux_live* live, const echolux_block* block, int32_t timeout_ms,
                                 echolux_error* error) {
    return guarded(error, [&] {
        const echolux_live& one = checked_handle(live, "live");
        if (one.pushed == nullptr) throw BadArgument("has a source of its own", "live", "use echolux_live_create");
        const auto timeout = timeout_of(timeout_ms);
        const Block given = block_of(block, "block");
        if (one.pushed->push(given, timeout)) return set_status(error, ECHOLUX_OK, "");
        return set_status(error, ECHOLUX_NOTHING_YET, "no buffer was free in time");
    });
}

echolux_status echolux_live_end(echolux_live* live, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_live& one = checked_handle(live, "live");
        if (one.pushed == nullptr) throw BadArgument("has a source of its own", "live", "use echolux_live_stop");
        one.pushed->end();
    });
}

echolux_status echolux_live_next(echolux_live* live, int32_t timeout_ms, echolux_volume** structure,
                                 echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        if (one.finished != nullptr) throw BadArgument("delivers its volumes to a callback", "live");
        if (!one.was_started) throw BadArgument("was not started", "live", "call echolux_live_start first");
        const auto until = Clock::now() + timeout_of(timeout_ms);
        for (;;) {
            const bool over = is_over(one);
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
            const std::optional<FinishedVolume> made =
                one.queue.take(std::clamp<std::chrono::milliseconds>(left, 0ms, session_check_interval));
            if (made) {
                set_handles(*made, structure, flow);
                return set_status(error, ECHOLUX_OK, "");
            }
            if (over) return set_status(error, ECHOLUX_ENDED, "there are no more volumes");
            if (left <= 0ms) return set_status(error, ECHOLUX_NOTHING_YET, "no volume was finished in time");
        }
    });
}

echolux_status echolux_live_scan(echolux_live* live, echolux_scan** scan, echolux_error* error) {
    return guarded(error, [&] {
        required(scan, "scan") = nullptr;
        echolux_live& one = checked_handle(live, "live");
        const std::scoped_lock lock(one.changing);
        Scan now = one.scan;
        // The result has no file: spectra of a live source cannot be read again.
        now.path.clear();
        now.spectra.clear();
        *scan = new echolux_scan(std::move(now));
    });
}

echolux_status echolux_live_set(echolux_live* live, const char* key, const char* value, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        const std::scoped_lock lock(one.changing);
        const std::string name = text_argument(key, "key"), text = text_argument(value, "value");
        if (is_live_tissue(name)) return set_tissue(one, name, text);
        Scan changed = one.scan;
        Settings settings;
        bind_recipe(settings, changed);
        settings.set(name, text, "settings");
        // The session validates the change, so the settings in use are replaced only if it succeeds.
        one.session->change(changed.spec(one.source->block_b_scans()));
        one.scan = std::move(changed);
    });
}

// ---- Statistics

namespace {

struct AllStats {
    LiveStats session;
    RecorderStats recorder;
    std::int64_t overwritten_volumes = 0;
};

AllStats stats_of(echolux_live& live) {
    AllStats now{live.session->stats(), {}, live.queue.overwritten()};
    const std::scoped_lock lock(live.noting);
    now.recorder = now.session.recorder.value_or(live.recorded);
    return now;
}

// All statistics but texts, because the interface returns statistics as numbers.
const std::vector<Stat<AllStats>>& numbers_described() {
    using S = AllStats;
    static const std::vector<Stat<S>> all = [] {
        std::vector<Stat<S>> stats = joined_stats<S>({
            part("", &S::session),
            part("recorder", &S::recorder),
            statistic<S>("overwritten_volumes", &S::overwritten_volumes, "volumes",
                         "finished, but replaced before they were taken"),
        });
        std::erase_if(stats, [](const StatText& stat) { return stat.kind == StatKind::text; });
        return stats;
    }();
    return all;
}

double number_of(const StatValue& value) {
    return std::visit(
        [](const auto& known) {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(known)>>)
                return static_cast<double>(known);
            else
                return 0.0;
        },
        value);
}

}  // namespace

echolux_status echolux_live_stat_count(size_t* count, echolux_error* error) {
    return guarded(error, [&] { required(count, "count") = numbers_described().size(); });
}

echolux_status echolux_live_stat_describe(size_t index, echolux_stat* stat, echolux_error* error) {
    return guarded(error, [&] {
        if (index >= numbers_described().size()) throw BadArgument("there are fewer statistics", "index");
        const StatText& text = numbers_described()[index];
        // Views of literals, which end with 0. Kinds have the same order as ECHOLUX_FLAG ...
        copy_out(stat, {0, text.key.c_str(), text.unit.data(), text.help.data(), static_cast<int32_t>(text.kind)},
                 "stat");
    });
}

echolux_status echolux_live_stat(echolux_live* live, const char* key, double* value, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        const std::string_view wanted = &required(key, "key");
        const auto& all = numbers_described();
        const auto found = std::ranges::find(all, wanted, &StatText::key);
        if (found == all.end()) {
            throw Error(ErrorCode::bad_setting, "there is no such statistic", std::string(wanted),
                        "echolux_live_stat_describe lists all keys");
        }
        required(value, "value") = number_of(found->get(stats_of(one)));
    });
}

echolux_status echolux_live_stats(echolux_live* live, double* values, size_t capacity, size_t* count,
                                  echolux_error* error) {
    return guarded(error, [&] {
        const AllStats now = stats_of(checked_handle(live, "live"));
        const auto& all = numbers_described();
        if (count != nullptr) *count = all.size();
        if (capacity > 0) required(values, "values");
        for (std::size_t i = 0; i < std::min(capacity, all.size()); ++i) values[i] = number_of(all[i].get(now));
    });
}

// ---- Recordings and events

echolux_status echolux_live_record(echolux_live* live, const char* scan_toml, const char* const* folders, size_t count,
                                   int32_t overwrite, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        RecordingRequest wanted = recording_of(*one.source, text_argument(scan_toml, "scan_toml"));
        wanted.replace = overwrite != 0;
        for (const std::string& folder : texts_argument(folders, count, "folders")) {
            wanted.stripe_folders.emplace_back(folder);
        }
        check_recording_name(wanted.scan_toml, wanted.replace, wanted.stripe_folders);
        const std::string name = wanted.scan_toml.string();
        one.session->record(std::move(wanted));
        one.recording = name;
    });
}

echolux_status echolux_live_stop_recording(echolux_live* live, echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        const RecorderStats made = one.session->stop_recording();
        if (made.blocks > 0 && one.source->capabilities().has_truth) {
            one.source->write_truth(truth_of_recording(one.recording));
        }
        {
            const std::scoped_lock lock(one.noting);
            one.recorded = made;
        }
        if (made.problem) throw Error(*made.problem);
    });
}

echolux_status echolux_live_events(echolux_live* live, char* buffer, size_t size, size_t* needed,
                                   echolux_error* error) {
    return guarded(error, [&] {
        echolux_live& one = checked_handle(live, "live");
        const std::scoped_lock lock(one.changing);
        for (const LiveEvent& event : one.session->take_events()) one.events += event.line + "\n";
        copy_text_out(one.events, buffer, size, needed);
        // A query for the length must not lose events.
        if (size > 0) one.events.clear();
    });
}

// ---- Recent volumes

echolux_status echolux_live_kept(echolux_live* live, int64_t* time_points, echolux_error* error) {
    return guarded(error, [&] { required(time_points, "time_points") = checked_handle(live, "live").kept.count(); });
}

echolux_status echolux_live_go_to(echolux_live* live, int64_t time_point, echolux_volume** structure,
                                  echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        set_handles(checked_handle(live, "live").kept.go_to(time_point), structure, flow);
    });
}

echolux_status echolux_live_play(echolux_live* live, echolux_error* error) {
    return guarded(error, [&] { checked_handle(live, "live").kept.play(); });
}

echolux_status echolux_live_save_kept(echolux_live* live, const char* path, double seconds, int64_t* volumes,
                                      echolux_error* error) {
    return guarded(error, [&] {
        if (!(seconds >= 0)) throw BadArgument("cannot be negative", "seconds");
        const std::int64_t saved = checked_handle(live, "live").kept.save(text_argument(path, "path"), seconds);
        if (volumes != nullptr) *volumes = saved;
    });
}
