#include "app/live/live_job.h"

#include <memory>
#include <utility>

#include "app/live/live_source.h"
#include "app/live/picture_loop.h"
#include "app/live/volume_path.h"
#include "app/open/files_read.h"
#include "app/picture_of.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/lower_case.h"
#include "engine/io/own_files.h"
#include "engine/io/png_file.h"

namespace echolux {
namespace {

// Everything that shows what a session reconstructs.
class Display {
  public:
    Display(const LiveJob& job, const ReconstructionSpec& plan)
        : path_(plan, job.backend, job.device, {.publishing = job.publishing}), view_(job.view),
          max_per_s_(job.pictures_per_s) {
        load_transfer(view_);
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
        report.display->ring = path_.statistics();
        if (processed_) report.processed = processed_->finish();
        if (!picture.empty()) write_last(picture);
        report.display->bytes_read_back = path_.bytes_read_back();
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
            throw Error(ErrorCode::output, "no volume was completed, so there is no picture", file.string(),
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

void check_names(const LiveJob& job) {
    if (job.publishing == Publishing::rolling && !job.processed.empty()) {
        throw Error(ErrorCode::bad_setting, "needs whole volumes", "processed", "leave out `rolling`");
    }
    FileNames inputs = job.made_from;
    add_files_of_view(job.view, inputs);
    check_session_outputs(job, {{job.picture, is_own_picture}}, inputs);
    if (job.picture.empty()) return;
    if (lower_ending(job.picture) != ".png") {
        throw Error(ErrorCode::bad_setting, "pictures are written as PNG", job.picture.string(), "name it *.png");
    }
    check_can_be_written(job.picture);
}

}  // namespace

LiveReport run(const LiveJob& job, Progress& progress, const HearEvent& heard) {
    check_names(job);
    LiveReport report;
    const std::unique_ptr<Source> source = opened_source(job, progress);
    report.source = source->name();
    Display display(job, live_plan(*source, progress));
    Session session(*source, display.path());
    const std::unique_ptr<PictureLoop> pictures = display.pictures_of(session);
    run_session(job, *source, session, report, progress, heard, [&] { return pictures->problem(); });
    pictures->stop();  // with one of the newest volume
    report.display = DisplayReport{{}, pictures->stats(), 0};
    display.report_to(report, job.picture);
    report.session = session.stats();
    return report;
}

}  // namespace echolux
