#include "ui/panels/export_movie.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "app/movie/movie_plan.h"
#include "compute/plan/describe.h"
#include "ui/panels/widgets.h"

namespace echolux {

// Settings that only this part of the panel has.
struct MovieChoice {
    enum class Path { turntable, time, sweep, turntable_and_time, sweep_and_time, key_frames, time_line };
    Path path = Path::turntable;
    std::string key_frames;
    double seconds = 0, fps = 30;
    SweepAxis along = SweepAxis::b_scans;
    SweptPlane plane = SweptPlane::slice;
    bool resumes = false;
};

template <>
const std::vector<Field<MovieChoice>>& describe<MovieChoice>() {
    using C = MovieChoice;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<C>> fields{
        choice("path", &C::path,
               {"turntable", "time", "sweep", "turntable+time", "sweep+time", "key frames", "time line"}, view,
               "turntable: once round the volume; time: through all time points; sweep: a plane moves through the "
               "volume, or the section that is shown; key frames: of a file; time line: those below the panes"),
        text("key_frames", &C::key_frames, view, "file of key frames (.toml) that move the view"),
        number("seconds", &C::seconds, 0, 1e5, "s", view,
               "length; 0: 10 s for a turntable, each time point or layer once, key frames at their own times"),
        number("fps", &C::fps, 0.01, 1000, "", view, "pictures per second"),
        choice("along", &C::along, {"depth", "a-scans", "b-scans"}, view, "direction in which a sweep moves its plane"),
        flag("resumes", &C::resumes, view,
             "go on where the same movie was interrupted; until all of its pictures are there, they wait in a folder "
             "beside it"),
        choice("plane", &C::plane, {"slice", "clip"}, view,
               "slice: the plane shows the values on it; clip: removes what is beyond it"),
    };
    return fields;
}

struct ExportMovie::Parts {
    Parts() { settings.bind("movie", choice); }

    // Row for a setting of this part, which undo and sessions do not include.
    void row(const PanelContext& context, std::string_view key) {
        for (const BoundField& field : settings.fields()) {
            if (field.key() != key) continue;
            setting_row(context, field, [&](const Value& value, Edit) {
                return attempt(context, "export", [&] { settings.take({{field.key(), value, "movie"}}); });
            });
        }
    }

    // Key frames come from a file, or from the time line of the window.
    MovieSpec spec(const Workspace& work) const {
        constexpr std::array paths{"turntable", "time", "sweep", "turntable+time", "sweep+time", "", "keys"};
        const bool is_time_line = choice.path == MovieChoice::Path::time_line;
        const bool is_file = choice.path == MovieChoice::Path::key_frames;
        return {.path = is_file ? choice.key_frames : paths.at(static_cast<std::size_t>(choice.path)),
                .key_frames = is_time_line ? work.window().key_frames : "",
                .seconds = choice.seconds,
                .fps = fmt::format("{:.6g}", choice.fps),
                .along = choice.along,
                .plane = choice.plane,
                .resumes = choice.resumes};
    }

    MovieChoice choice;
    Settings settings;
};

ExportMovie::ExportMovie() : parts_(std::make_unique<Parts>()) {}

ExportMovie::~ExportMovie() = default;

void ExportMovie::draw(const PanelContext& context) {
    using Path = MovieChoice::Path;
    const Path path = parts_->choice.path;
    parts_->row(context, "movie.path");
    if (path == Path::key_frames) parts_->row(context, "movie.key_frames");
    parts_->row(context, "movie.seconds");
    parts_->row(context, "movie.fps");
    if (path == Path::sweep || path == Path::sweep_and_time) {
        parts_->row(context, "movie.along");
        parts_->row(context, "movie.plane");
    }
    parts_->row(context, "movie.resumes");
    setting_row(context, "view.shutter");
    if (context.work.view().shutter > 0) setting_row(context, "view.shutter_pictures");
    if (!plain_button(
            context, "export.movie", "Make movie...",
            "make a movie of the view at the size above while the window stays usable: H.264 (.mp4, .mkv), VP9 "
            "(.webm), ProRes (.mov), GIF, WebP, or frame_%04d.png. When cancelled, the part made so far is kept")) {
        return;
    }
    context.state.file_wish = FileWish{.kind = FileWish::Kind::save,
                                       .title = "Make a movie",
                                       .suggested = "movie.mp4",
                                       .endings = {".mp4", ".mkv", ".webm", ".mov", ".gif", ".webp", ".png"},
                                       .chosen = [&work = context.work, spec = parts_->spec(context.work)](
                                                     const auto& file) { work.make_movie(file, spec); }};
}

}  // namespace echolux
