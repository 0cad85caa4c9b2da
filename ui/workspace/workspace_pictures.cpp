// Pictures, figures, tables and movies. Small pictures are drawn like a pane until they are final; large ones and those
// with 16 bits use a separate renderer on the thread of a job.
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/figure/figure_format.h"
#include "app/jobs/render_job.h"
#include "app/movie/movie_job.h"
#include "app/open/files_read.h"
#include "app/session/key_frame_file.h"
#include "compute/error.h"
#include "engine/io/picture_file.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/workspace_parts.h"

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

// ---- pictures

void Workspace::take_screenshot(const std::filesystem::path& path) {
    take_picture(path, PictureBits::eight);
}

void Workspace::take_picture(const std::filesystem::path& path, PictureBits bits) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        Exhibit& shown = parts.shown_for(path);
        parts.check_kept_name(path);
        check_picture_output(path);
        const View& view = parts.book.view();
        if (bits != PictureBits::eight && parts.filtering.is_under_way()) {
            throw Error(ErrorCode::bad_setting, "the volume that settings ask for is not there yet", path.string(),
                        "wait for its job, then save again");
        }
        const std::string text = parts.picture_text(parts.filtering.as_shown(*this));
        if (bits != PictureBits::eight || view.width * view.height > max_followed) {
            return parts.draw_picture_beside(path, bits, text);
        }
        parts.notices.note("export", "drawing the picture for " + short_path(path));
        PictureToKeep kept{path, view, text, {}, parts.file_shown(), std::nullopt, 0};
        kept.view.rest_samples = rays_of(view);
        if (const auto scale = shown.flow_scale(view)) leave_nothing_open(kept.view, *scale);
        note_flow(kept.record, view, kept.view);
        note_channels(kept.record, view);
        kept.record.samples = passes_at_rest(kept.view);
        kept.record.device = parts.stage.renderer().device_name();
        kept.record.backend = shown.way();
        note_range(kept.record, shown.chosen_range());
        kept.operation = parts.jobs.operation();
        parts.to_keep.push_back(std::move(kept));
    });
}

void Workspace::draw_picture(const View& view, std::function<void(Image)> receive) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        parts.shown_for("snapshot");
        if (view.width * view.height > max_followed) {
            throw Error(ErrorCode::bad_setting, "is larger than 4096 x 4096 pixels", "view.width, view.height",
                        "keep it as a file, or take a smaller one");
        }
        PictureToKeep kept{{}, view, {}, {}, {}, std::nullopt, 0, std::move(receive), parts.jobs.operation()};
        kept.view.rest_samples = rays_of(view);
        parts.to_keep.push_back(std::move(kept));
    });
}

// Existing files may be replaced, because the dialog has asked; displayed files may not.
void Workspace::Parts::check_kept_name(const std::filesystem::path& path) const {
    require_allowed(path);
    FileNames inputs = files_read(open.file, lines_of(open.assignments));
    add_files_of_view(book.view(), inputs);
    check_outputs({{path}}, inputs, true);
}

void Workspace::check_kept_name(const std::filesystem::path& path) const {
    parts_->check_kept_name(path);
}

std::optional<double> Workspace::share_of_picture() const {
    if (parts_->to_keep.empty()) return {};
    const PictureToKeep& kept = parts_->to_keep.front();
    return static_cast<double>(kept.passes) / static_cast<double>(passes_at_rest(kept.view));
}

Exhibit& Workspace::Parts::shown_for(const std::filesystem::path& path) {
    if (stage.exhibit() != nullptr) return *stage.exhibit();
    throw Error(ErrorCode::bad_setting, "there is nothing to take a picture of", path.string());
}

VolumeSource Workspace::Parts::file_shown() const {
    VolumeSource source{.input = open.file, .shown = {}, .settings = lines_of(open.assignments), .part = {}};
    for (const std::string& assignment : book.assignments()) source.settings.push_back(assignment);
    source.part.volume = what_is_open().step;
    if (stage.exhibit() != nullptr) source.chosen = stage.exhibit()->chosen_range();
    return source;
}

// Returns the displayed volume for a job. Pictures with flow or planes need more than its voxels, so the file is opened
// again.
VolumeSource Workspace::Parts::volume_shown(const std::filesystem::path& path, bool voxels_suffice) {
    Exhibit& exhibit = shown_for(path);
    VolumeSource source = file_shown();
    if (!voxels_suffice && (exhibit.flow_grid() || exhibit.has_planes())) {
        if (!source.input.empty()) return source;
        throw Error(ErrorCode::bad_setting, "such pictures cannot show flow or planes of a running source",
                    path.string(), "save with 8 bits and at most 4096 x 4096 pixels, or record first");
    }
    source.shown = exhibit.begin_reading();
    if (source.shown) return source;
    throw Error(ErrorCode::output, "there is no volume yet", path.string(), "wait for the first");
}

void Workspace::Parts::draw_picture_beside(const std::filesystem::path& path, PictureBits bits,
                                           const std::string& session) {
    RenderJob job;
    static_cast<VolumeSource&>(job) = volume_shown(path, false);
    job.output = path;
    job.bits = bits;
    job.view = book.view();
    job.view.samples = rays_of(job.view);
    job.session = session;
    job.backend = stage.exhibit()->way();
    job.device = options.device;
    job.overwrites = true;
    start_export(path, [job](Progress& progress) { run(job, progress); });
}

void Workspace::write_beside(const std::filesystem::path& path, const std::function<void(Progress&)>& work) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        parts.check_kept_name(path);
        parts.start_export(path, work);
    });
}

std::optional<VolumeSource> Workspace::time_point(std::int64_t step) const {
    VolumeSource source = parts_->file_shown();
    if (source.input.empty()) return {};
    source.part.volume = step;
    source.chosen.reset();
    return source;
}

// Starts a job in which `work` writes the file.
void Workspace::Parts::start_export(const std::filesystem::path& path, const std::function<void(Progress&)>& work) {
    require_allowed(path);
    jobs.start(
        "saving " + path.filename().string(),
        [this, path, work](Progress& progress) {
            work(progress);
            return [this, path] { note_saved(path); };
        },
        to("export"));
}

void Workspace::Parts::note_saved(const std::filesystem::path& path, KeptFile::ShownBy by) {
    std::error_code problem;
    const std::filesystem::path whole = std::filesystem::absolute(path, problem);
    const bool is_one = std::filesystem::exists(whole, problem);  // a series of pictures has no file of this name
    notices.note("export", "saved " + short_path(whole), is_one ? KeptFile{whole, by} : KeptFile{});
}

// ---- small ones, pass by pass

void Workspace::Parts::draw_picture_to_keep() {
    if (to_keep.empty() || stage.exhibit() == nullptr) return;
    const std::shared_ptr<Operation> operation = to_keep.front().operation;
    jobs.belong(operation, [&] {
        try {
            follow_picture_to_keep();
        } catch (const Error& error) {
            if (operation) operation->fail(error);
            throw;
        }
    });
}

// Draws passes until the picture is final, or at most 60 s. A changing volume is saved as soon as it is sharp.
void Workspace::Parts::follow_picture_to_keep() {
    constexpr double max_s = 60;
    PictureToKeep& kept = to_keep.front();
    if (!kept.begun_s) kept.begun_s = now_s;
    Exhibit& exhibit = *stage.exhibit();
    const bool is_late = now_s - *kept.begun_s > max_s;
    std::optional<FollowedPicture> followed;
    try {
        followed = exhibit.follow(kept.view, now_s, picture_pane);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::device) to_keep.pop_front();  // the next ones may be possible
        throw;
    }
    if (followed) kept.passes = followed->passes;
    if (!followed && !is_late) return;
    if (!followed) {
        const std::string path = std::exchange(to_keep.front().path, {}).string();
        to_keep.pop_front();
        throw Error(ErrorCode::output, "there was no volume to take a picture of", path);
    }
    const bool is_sharp = followed->pitch <= 1 && followed->passes > 0;
    if (!followed->is_final && !(is_sharp && is_changing(exhibit)) && !is_late) return;
    const PictureToKeep done = std::move(kept);
    to_keep.pop_front();
    Image image = stage.renderer().read(followed->drawing);
    if (done.receive) return done.receive(std::move(image));
    write_picture(done, std::move(image));
}

// Called when the displayed document is closed.
void Workspace::Parts::drop_pictures_to_keep() {
    for (const PictureToKeep& kept : to_keep) {
        const Error error(ErrorCode::output, "not finished, not saved: " + kept.path.string());
        if (kept.operation) kept.operation->fail(error);
        if (!kept.receive) notices.trouble("export", error);
    }
    to_keep.clear();
}

void Workspace::Parts::write_picture(const PictureToKeep& kept, Image image) {
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

void Workspace::save_figure(const std::filesystem::path& path, FigureContent content, const FigureStyle& style) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        FigureJob job;
        static_cast<VolumeSource&>(job) = parts.volume_shown(path, true);
        check_figure_name(path);
        if (!content.b_scan) content.b_scan = parts.cross_voxel()[2];
        job.output = path;
        job.content = std::move(content);
        job.style = style;
        job.view = parts.book.view();
        job.view.samples = rays_of(job.view);
        job.device = parts.options.device;
        job.overwrites = true;
        parts.start_export(path, [job](Progress& progress) { run(job, progress); });
    });
}

void Workspace::save_table(const std::filesystem::path& path, TableKind kind) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        TableJob job;
        static_cast<VolumeSource&>(job) = parts.volume_shown(path, true);
        const std::array<std::int64_t, 3> voxel = parts.cross_voxel();
        job.output = path;
        job.overwrites = true;
        if (kind == TableKind::a_scan)
            job.a_scan = {voxel[1], voxel[2]};
        else
            job.b_scan = voxel[2];
        parts.start_export(path, [job](Progress& progress) { run(job, progress); });
    });
}

// Depth row, A-scan and B-scan at the cross-hair.
std::array<std::int64_t, 3> Workspace::Parts::cross_voxel() const {
    const std::optional<VolumeGrid> grid = stage.exhibit() == nullptr ? std::nullopt : stage.exhibit()->grid();
    if (!grid) return {};
    return {voxel_at(cross_um[0], grid->spacing_um[0], grid->depth),
            voxel_at(cross_um[1], grid->spacing_um[1], grid->a_scans),
            voxel_at(cross_um[2], grid->spacing_um[2], grid->b_scans)};
}

void Workspace::make_movie(const std::filesystem::path& path, const MovieSpec& spec) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        parts.shown_for(path);
        movie_codec(path, MovieCodec::automatic);  // reports an invalid name immediately
        const bool through_time = movie_path(spec.path, spec.key_frames).goes_through_time;
        if (!spec.key_frames.empty()) {
            for (const KeyFrame& frame : key_frames_of(spec.key_frames, "the time line")) {
                Values values;
                for (const auto& [name, value] : frame.values) values.emplace("view." + name, value);
                parts.require_allowed_files(values);
            }
        }
        MovieJob job;
        static_cast<VolumeSource&>(job) = through_time ? parts.file_shown() : parts.volume_shown(path, false);
        job.spec = spec;
        job.tissue = through_time ? tissue() : parts.filtering.as_shown(*this);
        job.view = parts.book.view();
        job.view.samples = std::max(job.view.samples, job.view.rest_samples);  // at least as a pane at rest
        job.output = path;
        job.device = parts.options.device;
        job.overwrites = true;
        parts.start_export(path, [&parts, job](Progress& progress) {
            try {
                run(job, progress);
            } catch (const Error& error) {  // cancelled jobs report nothing, but here a part of the movie is kept
                const std::scoped_lock lock(parts.told_by_jobs_mutex);
                if (error.code() == ErrorCode::cancelled) parts.told_by_jobs.push_back("movie " + error.problem());
                throw;
            }
        });
    });
}

}  // namespace echolux
