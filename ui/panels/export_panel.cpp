// Panel that saves pictures, figures, tables, movies, volumes, sessions and user presets.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>

#include "app/movie/movie_plan.h"
#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/exporting.h"

namespace echolux {

namespace {

// Draws rows for settings of this panel, which undo and sessions do not include. Those of one volume are automatic.
void own_rows(const PanelContext& context, Settings& settings, std::string_view section, std::string_view group) {
    for (const BoundField* field : settings.effective(section, group)) {
        if (field->is_of_volume) continue;
        setting_row(context, *field, [&](const Value& value, Edit) {
            return attempt(context, "export", [&] { settings.take({{field->key(), value, std::string(section)}}); });
        });
    }
}

}  // namespace

// ---- Part of the export panel that makes movies.

class ExportMovie {
  public:
    ExportMovie();
    ~ExportMovie();

    // Draws the settings and the button. The movie is made by a job.
    void draw(const PanelContext& context);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

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
    static const std::vector<std::string_view> sweeps{"sweep", "sweep+time"};
    static const std::vector<Field<C>> fields{
        choice("path", &C::path,
               {"turntable", "time", "sweep", "turntable+time", "sweep+time", "key frames", "time line"}, view,
               "turntable: once around the volume; time: through all time points; sweep: a plane or the current "
               "section moves through the volume; key frames: from a file; time line: the key frames below the panes"),
        text("key_frames", &C::key_frames, view, "file of key frames (.toml) that move the view")
            .only_while("movie.path", {"key frames"}),
        number("seconds", &C::seconds, 0, 1e5, "s", view,
               "length; 0: 10 s for a turntable, each time point or layer once, key frames at their own times"),
        number("fps", &C::fps, 0.01, 1000, "", view, "frames per second"),
        choice("along", &C::along, {"depth", "a-scans", "b-scans"}, view, "axis along which a sweep moves its plane")
            .only_while("movie.path", sweeps),
        choice("plane", &C::plane, {"slice", "clip"}, view,
               "slice: the plane shows the values on it; clip: removes what is beyond it")
            .only_while("movie.path", sweeps),
        flag("resumes", &C::resumes, view,
             "continue an interrupted movie; frames are kept in a folder next to it until all are rendered")
            .called("resume"),
    };
    return fields;
}

struct ExportMovie::Parts {
    Parts() { settings.bind("movie", choice); }

    // Key frames come from a file, or from the time line of the window.
    MovieSpec spec(const Workspace& work) const {
        constexpr std::array paths{"turntable", "time", "sweep", "turntable+time", "sweep+time", "", "keys"};
        const bool is_time_line = choice.path == MovieChoice::Path::time_line;
        const bool is_file = choice.path == MovieChoice::Path::key_frames;
        return {.path = is_file ? choice.key_frames : paths.at(static_cast<std::size_t>(choice.path)),
                .key_frames = is_time_line ? work.settings().window().key_frames : "",
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
    own_rows(context, parts_->settings, "movie", "");
    draw_group(context, {"view"}, "Movie");
    if (!plain_button(
            context, "export.movie", "Save movie...",
            "render a movie of the view at the size above in the background: H.264 (.mp4, .mkv), VP9 "
            "(.webm), ProRes (.mov), GIF, WebP, or frame_%04d.png. If cancelled, the finished part is kept")) {
        return;
    }
    context.state.file_request =
        FileRequest{.kind = FileRequest::Kind::save,
                    .title = "Save movie",
                    .suggested = "movie.mp4",
                    .endings = {".mp4", ".mkv", ".webm", ".mov", ".gif", ".webp", ".png"},
                    .chosen = [&work = context.work, spec = parts_->spec(context.work)](const auto& file) {
                        work.exporting().make_movie(file, spec);
                    }};
}

// ---- The panel

// Settings that only this panel has, in addition to [view] and [figure].
struct ExportChoice {
    enum class Bits { eight, sixteen };
    Bits bits = Bits::eight;
    std::string layout = "bscan+enface";
    std::int64_t en_face_begin = 0, en_face_end = 0;
    bool from_surface = false;
};

template <>
const std::vector<Field<ExportChoice>>& describe<ExportChoice>() {
    using C = ExportChoice;
    constexpr Effect view = Effect::view;
    constexpr std::int64_t max_rows = 1 << 20;
    static const std::vector<Field<C>> fields{
        choice("bits", &C::bits, {"8", "16"}, view, "bits per channel: 8, or 16 for more than 256 levels")
            .in("Picture"),
        text("layout", &C::layout, view,
             "content of the figure: volume, bscan and enface; + places side by side, / below each other; the B-scan "
             "is at the cross-hair")
            .in("Figure"),
        integer("en_face_begin", &C::en_face_begin, -max_rows, max_rows, "rows", view,
                "first depth row of the projection")
            .in("Figure"),
        integer("en_face_end", &C::en_face_end, 0, max_rows, "rows", view, "end depth row (exclusive); 0: to the end")
            .in("Figure"),
        flag("from_surface", &C::from_surface, view, "count these rows from the tissue surface").in("Figure"),
    };
    return fields;
}

namespace {

// Asks the window for a save dialog; `save` is called with the chosen file.
void request_save(const PanelContext& context, const char* title, const std::vector<std::string>& endings,
                  std::function<void(const std::filesystem::path&)> save) {
    context.state.file_request =
        FileRequest{.kind = FileRequest::Kind::save,
                    .title = title,
                    .suggested = suggested_name(*context.work.viewer().view_source(), endings.front()),
                    .endings = endings,
                    .chosen = std::move(save)};
}

void draw_volume(const PanelContext& context) {
    Workspace& work = context.work;
    if (plain_button(context, "export.volume", "Save volume...",
                     ("the ending decides the format: " + endings_written()).c_str())) {
        request_save(context, "Save volume", written_endings(),
                     [&work](const auto& path) { work.exporting().save_volume(path); });
    }
}

void draw_session(const PanelContext& context) {
    Workspace& work = context.work;
    if (plain_button(context, "export.session", "Save session...",
                     "all settings and the open data, as one TOML file")) {
        request_save(context, "Save session", {".toml"}, [&work](const auto& path) {
            try {
                work.save_session(path);
            } catch (const Error& error) {
                work.notices().report_problem("export", error);
            }
        });
    }
}

class ExportPanel : public NamedPanel {
  public:
    ExportPanel()
        : NamedPanel("export", "Export and presets", PanelSide::right, "save movie figure picture video preset") {
        settings_.bind("export", choice_);
        settings_.bind("figure", style_);
    }
    bool is_available(Workspace& work) const override { return work.viewer().is_open(); }

    void draw(const PanelContext& context) override {
        if (section(context, "Picture", true)) draw_picture(context);
        if (section(context, "Figure and tables", false)) draw_figure(context);
        if (section(context, "Movie", false)) movie_.draw(context);
        draw_volume(context);
        ImGui::SameLine();
        draw_session(context);
        if (section(context, "User presets", true)) draw_presets(context);
    }

  private:
    void draw_picture(const PanelContext& context) {
        setting_rows(context, {"view.width", "view.height", "view.samples", "view.transparent", "view.stereo",
                               "view.eyes_apart"});
        own_rows(context, settings_, "export", "Picture");
        const std::string help =
            "PNG or TIFF at this size, with at least the anti-aliasing of a pane at rest. The file stores all "
            "settings: opening it restores them, echolux reproduce renders it again. F12 saves immediately to " +
            short_path(context.work.keeping_folder(UserFolder::pictures));
        if (plain_button(context, "export.picture", "Save image...", help.c_str())) {
            const PictureBits bits =
                choice_.bits == ExportChoice::Bits::sixteen ? PictureBits::sixteen : PictureBits::eight;
            request_save(context, "Save image", {".png", ".tif", ".tiff"},
                         [&work = context.work, bits](const auto& path) { work.exporting().save_picture(path, bits); });
        }
    }

    // Throws Error for an invalid layout.
    FigureContent content() const {
        return {.layout = parsed_layout(choice_.layout),
                .b_scan = {},
                .en_face = {choice_.en_face_begin, choice_.en_face_end},
                .from_surface = choice_.from_surface};
    }

    void draw_figure(const PanelContext& context) {
        own_rows(context, settings_, "export", "Figure");
        own_rows(context, settings_, "figure", "");
        if (plain_button(context, "export.figure", "Save figure...",
                         "B-scan and projection with axes, as PDF, SVG or PNG")) {
            attempt(context, "export", [&] {
                request_save(context, "Save figure", {".pdf", ".svg", ".png"},
                             [&work = context.work, what = content(), style = style_](const auto& path) {
                                 work.exporting().save_figure(path, what, style);
                             });
            });
        }
        draw_tables(context);
    }

    void draw_tables(const PanelContext& context) {
        const auto button = [&](const char* name, const char* label, const char* help, Exporting::TableKind kind) {
            if (!plain_button(context, name, label, help)) return;
            request_save(context, "Save table", {".csv"},
                         [&work = context.work, kind](const auto& path) { work.exporting().save_table(path, kind); });
        };
        button("export.a_scan", "Save A-scan table...", "values along depth at the cross-hair, as CSV",
               Exporting::TableKind::a_scan);
        button("export.echoes", "Save peak table...",
               "depth, height, width and side lobe of the strongest peak of each A-scan in the B-scan at the "
               "cross-hair, as CSV",
               Exporting::TableKind::echoes);
    }

    void draw_presets(const PanelContext& context) {
        const float button = ImGui::CalcTextSize("Keep").x + 2 * ImGui::GetStyle().FramePadding.x;
        const float width = ImGui::GetContentRegionAvail().x - button - context.style.px(6);
        if (const auto typed = text_box(context, "##name", preset_, width, "name of the new preset")) preset_ = *typed;
        note_place(context, "export.preset_name");
        ImGui::SameLine(0, context.style.px(6));
        if (plain_button(context, "export.keep", "Keep", "save view, recipe and flow under this name",
                         !preset_.empty()) &&
            attempt(context, "export", [&] { context.work.save_preset(preset_); })) {
            preset_.clear();
        }
        for (const std::string& name : context.work.presets()) {
            if (ImGui::Selectable(name.c_str())) attempt(context, "export", [&] { context.work.use_preset(name); });
            note_place(context, "preset:" + name);
            tooltip(context, "restores the saved view, recipe and flow; can be undone");
        }
    }

    ExportMovie movie_;
    std::string preset_;  // name being typed
    ExportChoice choice_;
    FigureStyle style_;
    Settings settings_;  // binds both
};

}  // namespace

std::unique_ptr<Panel> make_export_panel() {
    return std::make_unique<ExportPanel>();
}

}  // namespace echolux
