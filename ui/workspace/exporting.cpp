#include "ui/workspace/exporting.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/jobs/render_job.h"
#include "app/live/session_run.h"
#include "app/movie/movie_job.h"
#include "app/open/open_volume.h"
#include "app/settings/key_frame_file.h"
#include "app/viewer/live_source.h"
#include "compute/error.h"
#include "engine/io/picture_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::size_t picture_pane = 8;             // index among the panes of the renderer, after those of the window
constexpr std::int64_t max_followed = 4096 * 4096;  // in pixels; limits the memory of that pane

// Not fewer rays per pixel than a pane at rest.
std::int64_t rays_of(const View& view) {
    return std::max(view.samples, view.rest_samples);
}

// Returns the voxel at a distance from the centre of the volume along one axis.
std::int64_t voxel_at(double centre_um, double spacing_um, std::int64_t count) {
    const double at = centre_um / (spacing_um > 0 ? spacing_um : 1) + 0.5 * static_cast<double>(count - 1);
    return std::clamp<std::int64_t>(std::llround(at), 0, count - 1);
}

}  // namespace

void Exporting::save_picture(const std::filesystem::path& path, PictureBits bits) {
    state_.attempt("export", [&] {
        ViewSource& shown = shown_for(path);
        state_.check_recent_name(path);
        check_picture_output(path);
        const View& view = state_.book.view();
        if (bits != PictureBits::eight && filtering_.is_running()) {
            throw Error(ErrorCode::bad_setting, "the volume for these settings is not ready yet", path.string(),
                        "wait for its job to finish, then save again");
        }
        const std::string text = state_.picture_text(filtering_.as_shown(work_));
        if (bits != PictureBits::eight || view.width * view.height > max_followed) {
            return draw_picture_beside(path, bits, text);
        }
        state_.notices.note("export", "rendering the image for " + short_path(path));
        PendingScreenshot kept{path, view, text, {}, file_shown(), std::nullopt, 0};
        kept.view.rest_samples = rays_of(view);
        if (const auto scale = shown.flow_scale(view)) fill_open_values(kept.view, *scale);
        note_flow(kept.record, view, kept.view);
        note_channels(kept.record, view);
        kept.record.samples = passes_at_rest(kept.view);
        kept.record.device = state_.viewer.renderer().device_name();
        kept.record.backend = shown.backend_description();
        note_range(kept.record, shown.chosen_range());
        kept.request = state_.jobs.request();
        pending_screenshots_.push_back(std::move(kept));
    });
}

void Exporting::draw_picture(const View& view, std::function<void(Image)> receive) {
    state_.attempt("export", [&] {
        shown_for("snapshot");
        if (view.width * view.height > max_followed) {
            throw Error(ErrorCode::bad_setting, "is larger than 4096 x 4096 pixels", "view.width, view.height",
                        "save it to a file, or choose a smaller size");
        }
        PendingScreenshot kept{{}, view, {}, {}, {}, std::nullopt, 0, std::move(receive), state_.jobs.request()};
        kept.view.rest_samples = rays_of(view);
        pending_screenshots_.push_back(std::move(kept));
    });
}

std::optional<double> Exporting::share_of_picture() const {
    if (pending_screenshots_.empty()) return {};
    const PendingScreenshot& kept = pending_screenshots_.front();
    return static_cast<double>(kept.passes) / static_cast<double>(passes_at_rest(kept.view));
}

ViewSource& Exporting::shown_for(const std::filesystem::path& path) {
    if (state_.viewer.view_source() != nullptr) return *state_.viewer.view_source();
    throw Error(ErrorCode::bad_setting, "there is nothing to save", path.string());
}

VolumeSource Exporting::file_shown() const {
    VolumeSource source{
        .input = state_.open.file, .shown = {}, .settings = lines_of(state_.open.assignments), .part = {}};
    for (const std::string& assignment : state_.book.assignments()) source.settings.push_back(assignment);
    source.part.volume = state_.open_document().step;
    if (state_.viewer.view_source() != nullptr) source.chosen = state_.viewer.view_source()->chosen_range();
    return source;
}

// Returns the displayed volume for a job. Pictures with flow or planes need more than its voxels, so the file is opened
// again.
VolumeSource Exporting::volume_shown(const std::filesystem::path& path, bool voxels_suffice) {
    ViewSource& view_source = shown_for(path);
    VolumeSource source = file_shown();
    if (!voxels_suffice && (view_source.flow_grid() || view_source.has_planes())) {
        if (!source.input.empty()) return source;
        throw Error(ErrorCode::bad_setting, "images of this kind cannot show flow or planes of a running source",
                    path.string(), "save with 8 bits and at most 4096 x 4096 pixels, or record first");
    }
    source.shown = view_source.begin_reading();
    if (source.shown) return source;
    throw Error(ErrorCode::output, "there is no volume yet", path.string(), "wait for the first");
}

void Exporting::draw_picture_beside(const std::filesystem::path& path, PictureBits bits, const std::string& session) {
    RenderJob job;
    static_cast<VolumeSource&>(job) = volume_shown(path, false);
    job.output = path;
    job.bits = bits;
    job.view = state_.book.view();
    job.view.samples = rays_of(job.view);
    job.session = session;
    job.backend = state_.viewer.view_source()->backend_description();
    job.device = state_.options.device;
    job.overwrites = true;
    start_export(path, [job](Progress& progress) { run(job, progress); });
}

void Exporting::write_beside(const std::filesystem::path& path, const std::function<void(Progress&)>& work) {
    state_.attempt("export", [&] {
        state_.check_recent_name(path);
        start_export(path, work);
    });
}

std::optional<VolumeSource> Exporting::time_point(std::int64_t step) const {
    VolumeSource source = file_shown();
    if (source.input.empty()) return {};
    source.part.volume = step;
    source.chosen.reset();
    return source;
}

// Starts a job in which `work` writes the file.
void Exporting::start_export(const std::filesystem::path& path, const std::function<void(Progress&)>& work) {
    state_.require_allowed(path);
    state_.jobs.start(
        "saving " + path.filename().string(),
        [this, path, work](Progress& progress) {
            work(progress);
            return [this, path] { note_saved(path); };
        },
        state_.to("export"), LateCancel::keeps_result);
}

void Exporting::note_saved(const std::filesystem::path& path, NoticeFile::Opener by) {
    std::error_code problem;
    const std::filesystem::path whole = std::filesystem::absolute(path, problem);
    const bool is_one = std::filesystem::exists(whole, problem);  // a series of pictures has no file of this name
    state_.notices.note("export", "saved " + short_path(whole), is_one ? NoticeFile{whole, by} : NoticeFile{});
}

void Exporting::collect() {
    const std::scoped_lock lock(job_messages_mutex_);
    for (const std::string& line : std::exchange(job_messages_, {})) state_.notices.note("export", line);
}

// ---- screenshots, pass by pass

void Exporting::draw_pending_screenshot() {
    if (pending_screenshots_.empty() || state_.viewer.view_source() == nullptr) return;
    const std::shared_ptr<UserRequest> request = pending_screenshots_.front().request;
    state_.jobs.belong(request, [&] {
        try {
            follow_pending_screenshot();
        } catch (const Error& error) {
            if (request) request->fail(error);
            throw;
        }
    });
}

// Draws passes until the picture is final, or at most 60 s. A changing volume is saved as soon as it is sharp.
void Exporting::follow_pending_screenshot() {
    constexpr double max_s = 60;
    PendingScreenshot& kept = pending_screenshots_.front();
    if (!kept.begun_s) kept.begun_s = state_.now_s;
    ViewSource& view_source = *state_.viewer.view_source();
    const bool is_late = state_.now_s - *kept.begun_s > max_s;
    std::optional<PanePicture> followed;
    try {
        followed = view_source.follow(kept.view, state_.now_s, picture_pane);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::device) pending_screenshots_.pop_front();  // the next ones may be possible
        throw;
    }
    if (followed) kept.passes = followed->passes;
    if (!followed && !is_late) return;
    if (!followed) {
        const std::string path = std::exchange(pending_screenshots_.front().path, {}).string();
        pending_screenshots_.pop_front();
        throw Error(ErrorCode::output, "there was no volume to save", path);
    }
    const bool is_sharp = followed->pitch <= 1 && followed->passes > 0;
    if (!followed->is_final && !(is_sharp && is_changing(view_source)) && !is_late) return;
    const PendingScreenshot done = std::move(kept);
    pending_screenshots_.pop_front();
    Image image = state_.viewer.renderer().read(followed->drawing);
    if (done.receive) return done.receive(std::move(image));
    write_picture(done, std::move(image));
}

// Called when the displayed document is closed.
void Exporting::drop_pending_screenshots() {
    for (const PendingScreenshot& kept : pending_screenshots_) {
        const Error error(ErrorCode::output, "not finished, not saved: " + kept.path.string());
        if (kept.request) kept.request->fail(error);
        if (!kept.receive) state_.notices.report_problem("export", error);
    }
    pending_screenshots_.clear();
}

void Exporting::write_picture(const PendingScreenshot& kept, Image image) {
    start_export(kept.path, [kept, picture = std::make_shared<const Image>(std::move(image))](Progress& progress) {
        progress.begin("write", picture->height, "rows");
        PictureRecord record = kept.record;
        note_input(record, kept.source);
        const auto writer = create_picture(kept.path, {picture->width, picture->height},
                                           texts_of_picture(with_record(kept.session, record)));
        writer->write(std::as_bytes(std::span(picture->pixels)));
        writer->finish();
    });
}

// ---- figures and tables

void Exporting::save_figure(const std::filesystem::path& path, FigureContent content, const FigureStyle& style) {
    state_.attempt("export", [&] {
        FigureJob job;
        static_cast<VolumeSource&>(job) = volume_shown(path, true);
        check_figure_name(path);
        if (!content.b_scan) content.b_scan = cross_voxel()[2];
        job.output = path;
        job.content = std::move(content);
        job.style = style;
        job.view = state_.book.view();
        job.view.samples = rays_of(job.view);
        job.device = state_.options.device;
        job.overwrites = true;
        start_export(path, [job](Progress& progress) { run(job, progress); });
    });
}

void Exporting::save_table(const std::filesystem::path& path, TableKind kind) {
    state_.attempt("export", [&] {
        TableJob job;
        static_cast<VolumeSource&>(job) = volume_shown(path, true);
        const std::array<std::int64_t, 3> voxel = cross_voxel();
        job.output = path;
        job.overwrites = true;
        if (kind == TableKind::a_scan)
            job.a_scan = {voxel[1], voxel[2]};
        else
            job.b_scan = voxel[2];
        start_export(path, [job](Progress& progress) { run(job, progress); });
    });
}

// Depth row, A-scan and B-scan at the cross-hair.
std::array<std::int64_t, 3> Exporting::cross_voxel() const {
    const std::optional<VolumeGrid> grid =
        state_.viewer.view_source() == nullptr ? std::nullopt : state_.viewer.view_source()->grid();
    if (!grid) return {};
    return {voxel_at(state_.cross_um[0], grid->spacing_um[0], grid->depth),
            voxel_at(state_.cross_um[1], grid->spacing_um[1], grid->a_scans),
            voxel_at(state_.cross_um[2], grid->spacing_um[2], grid->b_scans)};
}

void Exporting::make_movie(const std::filesystem::path& path, const MovieSpec& spec) {
    state_.attempt("export", [&] {
        shown_for(path);
        movie_codec(path, MovieCodec::automatic);  // reports an invalid name immediately
        const bool through_time = movie_path(spec.path, spec.key_frames).goes_through_time;
        if (!spec.key_frames.empty()) {
            for (const KeyFrame& frame : key_frames_of(spec.key_frames, "the time line")) {
                Values values;
                for (const auto& [name, value] : frame.values) values.emplace("view." + name, value);
                state_.require_allowed_files(values);
            }
        }
        MovieJob job;
        static_cast<VolumeSource&>(job) = through_time ? file_shown() : volume_shown(path, false);
        job.spec = spec;
        job.tissue = through_time ? state_.book.tissue() : filtering_.as_shown(work_);
        job.view = state_.book.view();
        job.view.samples = std::max(job.view.samples, job.view.rest_samples);  // at least as a pane at rest
        job.output = path;
        job.device = state_.options.device;
        job.overwrites = true;
        start_export(path, [this, job](Progress& progress) {
            try {
                run(job, progress);
            } catch (const Error& error) {  // cancelled jobs report nothing, but here a part of the movie is kept
                const std::scoped_lock lock(job_messages_mutex_);
                if (error.code() == ErrorCode::cancelled) job_messages_.push_back("movie " + error.problem());
                throw;
            }
        });
    });
}

// ---- volumes

// The format follows from the name.
void Exporting::save_volume(const std::filesystem::path& path) {
    state_.attempt("export", [&] {
        ViewSource* view_source = state_.viewer.view_source();
        const PendingVolume coming = view_source == nullptr ? PendingVolume{} : view_source->begin_reading();
        if (!coming) throw Error(ErrorCode::output, "there is no volume to save yet", path.string());
        state_.check_recent_name(path);
        check_volume_name(path, view_source->grid()->type);
        state_.jobs.start(
            "saving " + path.filename().string(),
            [this, path, coming](Progress& progress) {
                progress.begin("read", 0, "");
                const std::shared_ptr<const Volume> volume = coming();
                progress.begin("write", 0, "");
                write_volume(path, *volume);
                return [this, path] { note_saved(path, NoticeFile::Opener::echolux); };
            },
            state_.to("export"));
    });
}

void Exporting::save_kept(const std::filesystem::path& path, double seconds) {
    state_.attempt("export", [&] {
        ViewSource* view_source = state_.viewer.view_source();
        const auto grid = view_source == nullptr ? std::nullopt : view_source->grid();
        const std::shared_ptr<RecentReader> reading = grid ? view_source->begin_reading_recent(seconds) : nullptr;
        if (!reading) {
            throw Error(ErrorCode::output, "no volumes were kept", path.string(),
                        "open a live source with `source.keep_gb` above 0");
        }
        state_.check_recent_name(path);
        check_series_name(path, grid->type);
        state_.jobs.start(
            "saving " + path.filename().string(),
            [this, path, reading](Progress& progress) {
                write_recent(
                    path, reading->series(), [&] { return reading->next(progress); }, progress);
                return [this, path] { note_saved(path, NoticeFile::Opener::echolux); };
            },
            state_.to("export"));
    });
}

}  // namespace echolux
