#include "ui/app/live_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "compute/error.h"
#include "compute/plan_tables.h"
#include "compute/validate.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"
#include "engine/noise_floor.h"
#include "ui/app/picture_name.h"
#include "ui/app/picture_of.h"
#include "ui/app/transfer_file.h"
#include "ui/app/volume_path.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto look_around = 50ms;
constexpr auto most_to_drain = 60s;  // a CPU may have two volumes before it when the source stops

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Where blocks are only recorded.
class NoDisplay : public BlockSink {
  public:
    bool feed(const Block&) override { return true; }
    bool rework(const Block&) override { return true; }
    void collect() override {}
    void finish() override {}
    void change(const ReconstructionPlan&) override {}
    bool take_change(Moment) override { return false; }
};

// Everything that shows what a session reconstructs.
class Display {
  public:
    Display(const LiveJob& job, const ReconstructionPlan& plan)
        : path_(plan, job.backend, job.device, {.publishing = job.publishing}), view_(job.view),
          most_per_s_(job.pictures_per_s) {
        if (!job.processed.empty()) processed_.emplace(job.processed);
    }

    VolumePath& path() { return path_; }

    // Of what `session` reconstructs; lives shorter than both.
    std::unique_ptr<PictureLoop> pictures_of(Session& session) {
        return std::make_unique<PictureLoop>(path_, view_, most_per_s_, [this, &session](std::int64_t volume) {
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
    void keep(std::int64_t number) {
        if (std::exchange(kept_, number) == number) return;
        if (!processed_->has_room()) return processed_->leave_out();
        const auto start = Clock::now();
        std::optional<ReadVolume> read = path_.read_volume();
        if (!read || read->stamp.volume != number || read->filled_to < read->grid.b_scans)
            return processed_->leave_out();
        processed_->add(number, {read->grid, std::move(read->voxels), {}}, seconds_since(start));
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

    VolumePath path_;
    View view_;
    double most_per_s_;
    std::optional<ProcessedVolumes> processed_;
    std::int64_t kept_ = -1;
};

bool is_usable(const Block& block, const ReconstructionPlan& plan) {
    try {
        check_block(block, plan);
        return block.memory != MemoryKind::device;
    } catch (const Error&) {
        return false;
    }
}

// What the source says, with the noise floor measured from its first block where the recipe leaves it open.
ReconstructionPlan plan_of(Source& source) {
    constexpr double most_s = 10;  // to wait for a first block
    ReconstructionPlan plan = source.scan().plan(source.block_b_scans());
    if (!needs_noise_floor(plan.recipe, plan.flow)) return plan;
    source.start();
    const auto start = Clock::now();
    for (Arrival arrival = source.next(look_around);
         arrival.kind != Arrival::Kind::ended && seconds_since(start) < most_s; arrival = source.next(look_around)) {
        if (arrival.kind != Arrival::Kind::block || !is_usable(arrival.block, plan)) continue;
        plan.recipe.noise_floor_db = noise_floor_for_recipe(plan, arrival.block);
        break;
    }
    source.stop();
    return plan;
}

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
    bool advance(const SessionFigures& figures, std::int64_t volumes) {
        const std::int64_t now = counts_volumes() ? volumes : std::llround(10 * figures.seconds);
        progress_.advance(now - std::exchange(done_, now));
        return figures.ended || (job_.seconds > 0 && figures.seconds >= job_.seconds);
    }

  private:
    bool counts_volumes() const { return job_.volumes > 0; }

    const LiveJob& job_;
    Progress& progress_;
    std::int64_t done_ = 0;
};

RecordingWanted recording_of(const LiveJob& job, const Source& source) {
    RecordingWanted wanted;
    wanted.scan_toml = job.record;
    wanted.scan = source.scan();
    wanted.replace = job.overwrites;
    if (source.pool_blocks() > 0) wanted.most_blocks_held = std::max<std::int64_t>(1, source.pool_blocks() / 2);
    const Scan& scan = wanted.scan;
    const std::int64_t volume =
        spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string()).volume_bytes();
    wanted.expected_bytes = job.volumes * volume;
    return wanted;
}

// Until the job says that it is enough.
void watch(const LiveJob& job, Session& session, const PictureLoop* pictures, Progress& progress, LiveReport& report,
           const std::function<void(const SessionEvent&)>& heard) {
    LiveProgress how_far(job, progress);
    constexpr std::size_t most_events = 1000;
    const auto note = [&](const SessionEvent& event) {
        if (heard) heard(event);
        report.events.push_back(event);
        if (report.events.size() > most_events) report.events.erase(report.events.begin());
    };
    const auto hear = [&] {
        for (const SessionEvent& event : session.take_events()) note(event);
    };
    try {
        for (;;) {
            hear();
            const SessionFigures figures = session.figures();
            if (how_far.advance(figures, figures.arrived.volumes)) break;
            if (const auto problem = pictures == nullptr ? std::nullopt : pictures->problem()) {
                note({figures.seconds, true, *problem});
                break;
            }
            std::this_thread::sleep_for(look_around);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::cancelled) throw;
    }
    session.stop();
    if (!session.drain(most_to_drain))
        note({session.figures().seconds, true, "what was acquired last is not reconstructed"});
    hear();
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
    if (job.displays) display.emplace(job, plan_of(*source));
    BlockSink& sink = display ? static_cast<BlockSink&>(display->path()) : nothing;
    Session session(*source, sink);
    if (!job.record.empty()) session.record(recording_of(job, *source));
    const std::unique_ptr<PictureLoop> pictures = display ? display->pictures_of(session) : nullptr;
    session.start(job.volumes);
    watch(job, session, pictures.get(), progress, report, heard);
    if (!job.record.empty()) {
        report.recorder = session.stop_recording();
        if (source->capabilities().has_truth) source->write_truth(job.record.parent_path() / "truth");
    }
    if (pictures) {
        pictures->stop();  // with one of the newest volume
        report.pictures = pictures->figures();
        display->report_to(report, job.picture);
    }
    report.session = session.figures();
    return report;
}

}  // namespace echolux
