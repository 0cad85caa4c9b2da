#include "app/live/session_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "app/live/live_source.h"
#include "compute/error.h"
#include "engine/progress_words.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr auto look_around = 50ms;
constexpr auto max_to_drain = 60s;  // a CPU may have two volumes before it when the source stops

// How far a job is: in volumes, or in time.
class LiveProgress {
  public:
    LiveProgress(const SessionJob& job, Progress& progress) : job_(job), progress_(progress) {
        if (counts_volumes())
            progress_.begin("live", job.volumes, "volumes");
        else
            progress_.begin("live", std::max<std::int64_t>(0, std::llround(1000 * job.seconds)), unit_of_time);
    }
    ~LiveProgress() { progress_.end(); }

    // Whether that is all. Throws Error{cancelled}.
    bool advance(const SessionStats& stats, std::int64_t volumes) {
        const std::int64_t now = counts_volumes() ? volumes : std::llround(1000 * stats.seconds);
        progress_.advance(now - std::exchange(done_, now));
        return stats.ended || (job_.seconds > 0 && stats.seconds >= job_.seconds);
    }

  private:
    bool counts_volumes() const { return job_.volumes > 0; }

    const SessionJob& job_;
    Progress& progress_;
    std::int64_t done_ = 0;
};

RecordingWanted recording_of(const SessionJob& job, const Source& source) {
    RecordingWanted wanted = recording_of(source, job.record);
    wanted.replace = job.overwrites;
    const Scan& scan = wanted.scan;
    const std::int64_t volume =
        spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string()).volume_bytes();
    wanted.expected_bytes = job.volumes * volume;
    return wanted;
}

// What happens, told to whoever listens and kept for the report.
class Events {
  public:
    Events(Session& session, std::vector<SessionEvent>& kept, const HearEvent& heard)
        : session_(session), kept_(kept), heard_(heard) {}

    void hear() {
        for (const SessionEvent& event : session_.take_events()) note(event);
    }
    void note(const SessionEvent& event) {
        constexpr std::size_t max_events = 1000;
        if (heard_) heard_(event);
        kept_.push_back(event);
        if (kept_.size() > max_events) kept_.erase(kept_.begin());
    }

  private:
    Session& session_;
    std::vector<SessionEvent>& kept_;
    const HearEvent& heard_;
};

// Until the job says that it is enough.
void watch(const SessionJob& job, Session& session, Progress& progress, Events& events,
           const std::function<std::optional<std::string>()>& trouble) {
    LiveProgress how_far(job, progress);
    try {
        for (;;) {
            events.hear();
            const SessionStats stats = session.stats();
            if (how_far.advance(stats, stats.arrived.volumes)) break;
            if (const auto problem = trouble ? trouble() : std::nullopt) {
                events.note({stats.seconds, true, *problem});
                break;
            }
            std::this_thread::sleep_for(look_around);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::cancelled) throw;
    }
    session.stop();
    if (!session.drain(max_to_drain))
        events.note({session.stats().seconds, true, "what was acquired last is not reconstructed"});
}

}  // namespace

std::unique_ptr<Source> opened_source(const SessionJob& job, Progress& progress) {
    SourceWanted wanted = job.source;
    wanted.progress = &progress;
    return open_source(wanted);
}

void run_session(const SessionJob& job, Source& source, Session& session, LiveReport& report, Progress& progress,
                 const HearEvent& heard, const std::function<std::optional<std::string>()>& trouble) {
    if (!job.record.empty()) session.record(recording_of(job, source));
    session.start(job.volumes);
    Events events(session, report.events, heard);
    watch(job, session, progress, events, trouble);
    if (!job.record.empty()) {
        report.recorder = session.stop_recording();
        if (report.recorder->blocks > 0 && source.capabilities().has_truth)
            source.write_truth(job.record.parent_path() / "truth");
    }
    events.hear();
}

}  // namespace echolux
