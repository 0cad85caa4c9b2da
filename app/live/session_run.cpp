#include "app/live/session_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <thread>
#include <utility>

#include "app/live/live_source.h"
#include "app/open/files_read.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/live/recording_files.h"
#include "engine/progress.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto look_around = 50ms;
constexpr auto max_to_drain = 60s;            // a CPU may still have two volumes to do when the source stops
constexpr auto max_to_drain_stopped = 500ms;  // after the user asked to stop

// Progress of a job, in volumes or in time.
class LiveProgress {
  public:
    LiveProgress(const SessionJob& job, Progress& progress) : job_(job), progress_(progress) {
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
    bool advance(const SessionStats& stats, std::int64_t volumes) {
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

    const SessionJob& job_;
    Progress& progress_;
    std::int64_t done_ = 0;
    bool is_interrupted_ = false;
};

RecordingWanted recording_of(const SessionJob& job, const Source& source) {
    RecordingWanted wanted = recording_of(source, job.record);
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
    Events(Session& session, std::vector<SessionEvent>& kept, const HearEvent& heard)
        : session_(session), kept_(kept), heard_(heard) {}

    void hear() {
        for (const SessionEvent& event : session_.take_events()) note(event);
    }
    void note(const SessionEvent& event) {
        constexpr std::size_t max_events = 1000;
        kept_.push_back(event);
        if (kept_.size() > max_events) kept_.erase(kept_.begin());
        if (heard_) heard_(event);
    }

  private:
    Session& session_;
    std::vector<SessionEvent>& kept_;
    const HearEvent& heard_;
};

// Returns false if it takes too long. Throws Error{cancelled} if the user does not want to wait.
bool drained(Session& session, LiveProgress& how_far) {
    const auto until = std::chrono::steady_clock::now() + max_to_drain;
    while (!session.drain(look_around)) {
        if (std::chrono::steady_clock::now() > until) return false;
        how_far.wait();
    }
    return true;
}

// Runs until the job is complete and everything is reconstructed. Throws what `progress` throws.
void watch(const SessionJob& job, Session& session, Progress& progress, Events& events,
           const std::function<std::optional<std::string>()>& trouble, LiveReport& report) {
    LiveProgress how_far(job, progress);
    for (;;) {
        events.hear();
        const SessionStats stats = session.stats();
        if (how_far.advance(stats, stats.arrived.volumes)) break;
        if (const auto problem = trouble ? trouble() : std::nullopt) {
            report.failure = *problem;
            events.note({stats.seconds, true, *problem});
            break;
        }
        std::this_thread::sleep_for(look_around);
    }
    session.stop();
    if (!drained(session, how_far))
        events.note({session.stats().seconds, true, "what was acquired last is not reconstructed"});
}

// Like watch(), but always ends the session properly. Returns the exception to rethrow afterwards, or nullptr.
std::exception_ptr watch_to_the_end(const SessionJob& job, Session& session, Progress& progress, Events& events,
                                    const std::function<std::optional<std::string>()>& trouble, LiveReport& report) {
    std::exception_ptr problem;
    try {
        watch(job, session, progress, events, trouble, report);
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
FileNames files_of_source(const SourceWanted& source) {
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

void check_session_outputs(const SessionJob& job, std::vector<Output> more, FileNames made_from) {
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

std::unique_ptr<Source> opened_source(const SessionJob& job, Progress& progress) {
    SourceWanted wanted = job.source;
    wanted.progress = &progress;
    return open_source(wanted);
}

void run_session(const SessionJob& job, Source& source, Session& session, LiveReport& report, Progress& progress,
                 const HearEvent& heard, const std::function<std::optional<std::string>()>& trouble) {
    if (!job.record.empty()) session.record(recording_of(job, source));
    session.start(job.volumes);
    report.asked_volumes = job.volumes;
    report.asked_seconds = job.seconds;
    Events events(session, report.events, heard);
    const std::exception_ptr problem = watch_to_the_end(job, session, progress, events, trouble, report);
    if (!job.record.empty()) {
        report.recorder = session.stop_recording();
        if (report.recorder->blocks > 0 && source.capabilities().has_truth)
            source.write_truth(truth_of_recording(job.record));
    }
    if (problem) std::rethrow_exception(problem);
    events.hear();
}

}  // namespace echolux
