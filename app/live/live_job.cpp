#include "app/live/live_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "app/live/live_source.h"
#include "app/live/lone_volume_path.h"
#include "app/picture_name.h"
#include "app/picture_of.h"
#include "app/seconds_since.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto look_around = 50ms;
constexpr auto max_to_drain = 60s;  // a CPU may have two volumes before it when the source stops

// Where blocks are only recorded.
class NoDisplay : public BlockSink {
  public:
    bool feed(const Block&) override { return true; }
    bool rework(const Block&) override { return true; }
    void collect() override {}
    void finish() override {}
    void change(const ReconstructionSpec&) override {}
    bool take_change(Moment) override { return false; }
};

// Everything that shows what a session reconstructs.
class Display {
  public:
    Display(const LiveJob& job, const ReconstructionSpec& plan)
        : path_(plan, job.backend, job.device, {.publishing = job.publishing}), view_(job.view),
          max_per_s_(job.pictures_per_s) {
        if (!job.processed.empty()) processed_.emplace(job.processed);
    }

    VolumePath& path() { return path_; }

    // Of what `session` reconstructs; lives shorter than both.
    std::unique_ptr<PictureLoop> pictures_of(Session& session) {
        return std::make_unique<PictureLoop>(path_, view_, max_per_s_, [this, &session](std::int64_t volume) {
            session.shown(volume);
            if (processed_) keep(volume);
        });
    }

    void report_to(LiveReport& report, const std::filesystem::path& picture) {
        report.way = path_.describe();
        report.ring = path_.statistics();
        if (processed_) report.processed = processed_->finish();
        if (!picture.empty()) write_last(picture);
        report.bytes_read_back = path_.bytes_read_back();
    }

  private:
    // Of the volume that is seen, or of a newer one that is there already.
    void keep(std::int64_t number) {
        if (number <= kept_) return;
        kept_ = number;
        if (!processed_->has_room()) return processed_->leave_out();
        std::optional<ComingVolume> coming = path_.begin_reading_volume();
        if (!coming) return processed_->leave_out();
        const ReadVolume& volume = coming->volume;
        if (volume.stamp.volume != number) processed_->leave_out();
        kept_ = volume.stamp.volume;
        processed_->add(kept_, volume.grid, std::move(coming->voxels));
    }

    void write_last(const std::filesystem::path& file) {
        const std::optional<VolumePicture> picture = path_.picture(view_);
        if (!picture) {
            throw Error(ErrorCode::output, "no volume was finished, so there is no picture", file.string(),
                        "let it run longer");
        }
        path_.wait(*picture);
        write_png(file, picture_of(path_.read(*picture)));
    }

    LoneVolumePath path_;
    View view_;
    double max_per_s_;
    std::optional<ProcessedVolumes> processed_;
    std::int64_t kept_ = -1;
};

void check_outputs(const LiveJob& job) {
    if (job.publishing == Publishing::rolling && !job.processed.empty()) {
        throw Error(ErrorCode::bad_setting, "processed volumes are whole", "--processed", "leave out --rolling");
    }
    if (job.picture.empty()) return;
    if (!is_png_name(job.picture)) {
        throw Error(ErrorCode::bad_setting, "pictures are written as PNG", job.picture.string(), "name it *.png");
    }
    check_can_be_written(job.picture);
}

// How far a job is: in volumes, or in tenths of a second.
class LiveProgress {
  public:
    LiveProgress(const LiveJob& job, Progress& progress) : job_(job), progress_(progress) {
        if (counts_volumes())
            progress_.begin("live", job.volumes, "volumes");
        else
            progress_.begin("live", std::max<std::int64_t>(0, std::llround(10 * job.seconds)), "tenths of a second");
    }
    ~LiveProgress() { progress_.end(); }

    // Whether that is all. Throws Error{cancelled}.
    bool advance(const SessionStats& stats, std::int64_t volumes) {
        const std::int64_t now = counts_volumes() ? volumes : std::llround(10 * stats.seconds);
        progress_.advance(now - std::exchange(done_, now));
        return stats.ended || (job_.seconds > 0 && stats.seconds >= job_.seconds);
    }

  private:
    bool counts_volumes() const { return job_.volumes > 0; }

    const LiveJob& job_;
    Progress& progress_;
    std::int64_t done_ = 0;
};

RecordingWanted recording_of(const LiveJob& job, const Source& source) {
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
    Events(Session& session, std::vector<SessionEvent>& kept, const std::function<void(const SessionEvent&)>& heard)
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
    const std::function<void(const SessionEvent&)>& heard_;
};

// Until the job says that it is enough.
void watch(const LiveJob& job, Session& session, const PictureLoop* pictures, Progress& progress, Events& events) {
    LiveProgress how_far(job, progress);
    try {
        for (;;) {
            events.hear();
            const SessionStats stats = session.stats();
            if (how_far.advance(stats, stats.arrived.volumes)) break;
            if (const auto problem = pictures == nullptr ? std::nullopt : pictures->problem()) {
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

LiveReport run(const LiveJob& job, Progress& progress, const std::function<void(const SessionEvent&)>& heard) {
    check_outputs(job);
    LiveReport report;
    SourceWanted wanted = job.source;
    wanted.progress = &progress;
    const std::unique_ptr<Source> source = open_source(wanted);
    report.source = source->name();
    std::optional<Display> display;
    NoDisplay nothing;
    SilentProgress to_the_end;  // whoever stops the job stops its session
    if (job.displays) display.emplace(job, live_plan(*source, to_the_end));
    BlockSink& sink = display ? static_cast<BlockSink&>(display->path()) : nothing;
    Session session(*source, sink);
    if (!job.record.empty()) session.record(recording_of(job, *source));
    const std::unique_ptr<PictureLoop> pictures = display ? display->pictures_of(session) : nullptr;
    session.start(job.volumes);
    Events events(session, report.events, heard);
    watch(job, session, pictures.get(), progress, events);
    if (!job.record.empty()) {
        report.recorder = session.stop_recording();
        if (report.recorder->blocks > 0 && source->capabilities().has_truth)
            source->write_truth(job.record.parent_path() / "truth");
    }
    events.hear();
    if (pictures) {
        pictures->stop();  // with one of the newest volume
        report.pictures = pictures->stats();
        display->report_to(report, job.picture);
    }
    report.session = session.stats();
    return report;
}

}  // namespace echolux
