// Panel for the open document and its source. Starts, stops and records live sources, and opens other documents.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/recordings.h"

namespace echolux {

// ---- Recording controls: the button, its folder, size, missing blocks and free disk space. The layout is the same
// with and without a recording.

namespace {

// Free disk space, queried every 2 s on another thread, because network disks may be slow.
class FreeSpace {
  public:
    // Returns the bytes that can be written in equal parts to these folders, up to a few seconds old. Returns nullopt
    // if unknown.
    std::optional<std::int64_t> bytes(const std::vector<std::filesystem::path>& folders, double now_s);

  private:
    std::vector<std::filesystem::path> folders_;
    std::optional<std::int64_t> known_;
    std::future<std::optional<std::int64_t>> asked_;
    double asked_at_s_ = -1e9;
};

class RecordingRow {
  public:
    void draw(const PanelContext& context, const LiveController& live);

  private:
    void draw_written(const PanelContext& context, const std::optional<RecorderStats>& stats);
    void draw_room(const PanelContext& context, double bytes_per_s);
    static void draw_list(const PanelContext& context);

    FreeSpace free_space_;
};

constexpr double every_s = 2;  // interval of queries

// Data is distributed equally, so the fullest disk limits the total.
std::optional<std::int64_t> bytes_free(const std::vector<std::filesystem::path>& folders) {
    std::optional<std::uintmax_t> least;
    for (const std::filesystem::path& folder : folders) {
        std::error_code problem;
        const auto space = std::filesystem::space(folder, problem);
        if (problem) return std::nullopt;
        least = std::min(least.value_or(space.available), space.available);
    }
    return static_cast<std::int64_t>(least.value_or(0) * folders.size());
}

constexpr double scarce_s = 120;  // remaining recording time that is highlighted

// Button of the panel's width: a red circle to start, a white square on red to stop.
bool record_button(const PanelContext& context, bool is_recording, const std::string& label) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(34)};
    const bool is_pressed = ImGui::InvisibleButton("##record", size);
    note_place(context, "source.record");
    tooltip(context, is_recording ? "stop recording" : "record all blocks, starting with the next volume");
    ImDrawList* list = ImGui::GetWindowDrawList();
    const bool is_lit = ImGui::IsItemHovered();
    ImVec4 ground =
        is_recording ? style.recording : ImGui::GetStyleColorVec4(is_lit ? ImGuiCol_ButtonHovered : ImGuiCol_Button);
    if (is_recording && is_lit) ground = {0.88f * ground.x, 0.88f * ground.y, 0.88f * ground.z, 1};
    list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, ImGui::GetColorU32(ground),
                        ImGui::GetStyle().FrameRounding);
    const ImU32 white = IM_COL32(255, 255, 255, 255);
    const ImVec2 middle{at.x + style.px(19), at.y + 0.5f * size.y};
    draw_icon(list, is_recording ? Icon::stop : Icon::record, middle, style.px(13),
              is_recording ? white : ImGui::GetColorU32(style.recording));
    ImGui::PushFont(style.strong);
    const float height = ImGui::GetTextLineHeight();
    list->AddText({at.x + style.px(36), middle.y - 0.5f * height},
                  is_recording ? white : ImGui::GetColorU32(ImGuiCol_Text), label.c_str());
    ImGui::PopFont();
    return is_pressed;
}

// Starts a query if the last one is old, and returns the last result without waiting.
std::optional<std::int64_t> FreeSpace::bytes(const std::vector<std::filesystem::path>& folders, double now_s) {
    using std::chrono::seconds;
    if (asked_.valid() && asked_.wait_for(seconds(0)) == std::future_status::ready) known_ = asked_.get();
    const bool is_due = folders != folders_ || now_s >= asked_at_s_ + every_s;
    if (!asked_.valid() && is_due) {
        if (folders != folders_) known_.reset();
        folders_ = folders;
        asked_at_s_ = now_s;
        asked_ = std::async(std::launch::async, bytes_free, folders);
    }
    return known_;
}

// With a known data rate, also shows the remaining recording time.
void RecordingRow::draw_room(const PanelContext& context, double bytes_per_s) {
    const auto folders = context.work.recordings().folders();
    const char* name = folders.size() == 1 ? "disk free" : "disks free";
    const auto room = free_space_.bytes(folders, context.work.now_s());
    if (!room) return figure(context, name, "…");
    const auto bytes = static_cast<double>(*room);
    const bool is_known = bytes_per_s > 0;
    const double left_s = is_known ? bytes / bytes_per_s : 0;
    const bool is_scarce = is_known && left_s < scarce_s;
    if (is_scarce) ImGui::PushStyleColor(ImGuiCol_Text, context.style.alarm);
    figure(context, name,
           bytes_text(bytes) + (is_known && left_s < 1e6 ? fmt::format("  ({} left)", duration_text(left_s)) : ""));
    if (is_scarce) ImGui::PopStyleColor();
}

// Draws the figures also before the first recording, so that the layout does not change.
void RecordingRow::draw_written(const PanelContext& context, const std::optional<RecorderStats>& stats) {
    const auto bytes = stats ? static_cast<double>(stats->bytes) : 0;
    const double seconds = context.work.recordings().seconds();
    figure(context, "recorded", stats ? bytes_text(bytes) : "–");
    const std::int64_t blocks = stats ? stats->blocks_not_in_it() : 0;
    const std::int64_t missing = blocks > 0 ? blocks : stats ? stats->lost_b_scans : 0;
    const ImVec4& colour = missing > 0 ? context.style.alarm : context.style.good;
    ImGui::PushStyleColor(ImGuiCol_Text, stats ? colour : context.style.muted);
    figure(context, "missing",
           !stats        ? "–"
           : missing > 0 ? count_text(missing)
                         : "none",
           missing == 0 ? ""
           : blocks > 0 ? "blocks"
                        : "B-scans");
    ImGui::PopStyleColor();
    draw_room(context, seconds > 1 ? bytes / seconds : 0);
}

// Returns time or volumes, and the wanted length: "0:05 of 0:30", "3 of 10 volumes".
std::string length_text(const Recordings& recordings, const LiveController& live) {
    if (const std::int64_t wanted = recordings.wanted_volumes(); wanted > 0) {
        const std::int64_t each = live.plan().geometry.b_scans,
                           of_block = std::max<std::int64_t>(live.plan().block_b_scans, 1);
        const std::optional<RecorderStats> stats = live.stats().recorder;
        const std::int64_t done = stats ? stats->blocks / ((each + of_block - 1) / of_block) : 0;
        return fmt::format("{} of {}", std::min(done, wanted), plural(wanted, "volumes"));
    }
    const std::string now = duration_text(recordings.seconds());
    return recordings.wanted_s() > 0 ? now + " of " + duration_text(recordings.wanted_s()) : now;
}

void RecordingRow::draw(const PanelContext& context, const LiveController& live) {
    const bool is_recording = live.is_recording();
    const std::string label = is_recording ? "RECORDING   " + length_text(context.work.recordings(), live) : "Record";
    ImGui::BeginDisabled(!is_recording && !live.is_running());
    const bool is_pressed = record_button(context, is_recording, label);
    ImGui::EndDisabled();
    if (is_pressed) run_action(context, "source.record");
    ImGui::BeginDisabled(is_recording);
    draw_group(context, {"window"}, "Recording");
    ImGui::EndDisabled();
    figure(context, "saved to", short_path(context.work.keeping_folder(UserFolder::videos)));
    draw_written(context, live.stats().recorder);
    if (section(context, "Recordings", false)) draw_list(context);
}

// Space for the longest list is reserved, so that the layout does not change.
void RecordingRow::draw_list(const PanelContext& context) {
    Workspace& work = context.work;
    const std::vector<ListedRecording>& recent = work.recordings().recent();
    const float top = ImGui::GetCursorPosY();
    const float height = static_cast<float>(Recordings::max_listed) * 2 * ImGui::GetTextLineHeightWithSpacing();
    std::filesystem::path wanted;
    for (std::size_t i = 0; i < recent.size(); ++i) {
        const ListedRecording& one = recent[i];
        const std::string name = one.file.stem().string();
        const float room = ImGui::GetContentRegionAvail().x;
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::Selectable(shortened(name, room).c_str())) wanted = one.file;
        ImGui::PopID();
        note_place(context, fmt::format("recordings[{}]", i));
        tooltip(context, name + (one.lack.empty() ? "" : "\n" + one.lack));
        const ImVec4& colour = one.lack.empty() ? context.style.muted : context.style.alarm;
        ImGui::TextColored(colour, "%s", shortened(one.lack.empty() ? "complete" : one.lack, room).c_str());
    }
    if (recent.empty()) muted_text(context, "No recordings here yet. Press Record to make one.");
    ImGui::SetCursorPosY(top + height);
    ImGui::Dummy({0, 0});
    if (!wanted.empty()) attempt(context, "files", [&] { work.open(wanted); });
}

// ---- The panel

constexpr std::size_t most_recent = 6;

// Draws a coloured dot and a word.
void state_line(const ImVec4& colour, const char* word) {
    const float height = ImGui::GetTextLineHeight();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::AlignTextToFramePadding();
    ImGui::GetWindowDrawList()->AddCircleFilled({at.x + 0.35f * height, at.y + 0.5f * ImGui::GetFrameHeight()},
                                                0.3f * height, ImGui::GetColorU32(colour));
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + height);
    ImGui::TextUnformatted(word);
}

void draw_state(const PanelContext& context, const LiveController& live) {
    const Style& style = context.style;
    const SourceBadge badge = badge_of(style, live);
    state_line(badge.colour, badge.text);
}

std::string size_text(const VolumeGrid& grid) {
    return fmt::format("{} × {} × {}", grid.depth, grid.a_scans, grid.b_scans);
}

std::string spacing_text(const VolumeGrid& grid) {
    std::string text;
    for (const double spacing : grid.spacing_um) {
        text += (text.empty() ? "" : " × ") + (spacing > 0 ? short_number(spacing) : std::string("?"));
    }
    return text;
}

// Draws placeholders before the first volume, so that the layout does not change.
void draw_volume(const PanelContext& context, const ViewSource& view_source, bool is_live) {
    const std::string backend = view_source.backend_description();
    if (!backend.empty() || is_live) state_text(context, "processing on " + (backend.empty() ? "…" : backend), 2);
    const auto grid = view_source.grid();
    if (!grid) {
        for (const char* name : {"voxels", "voxel", "values"}) figure(context, name, "no volume yet");
        return;
    }
    figure(context, "voxels", size_text(*grid), bytes_text(static_cast<double>(grid->bytes())).c_str());
    const bool has_spacing = std::ranges::any_of(grid->spacing_um, [](double spacing) { return spacing > 0; });
    figure(context, "voxel", has_spacing ? spacing_text(*grid) : "uncalibrated", has_spacing ? "µm" : "");
    figure(context, "values", grid->unit.empty() ? "a.u." : grid->unit);
}

void draw_scan(const PanelContext& context, const Scan& scan) {
    const ScanGeometry& geometry = scan.geometry;
    const std::string repeats = geometry.a_repeats * geometry.b_repeats > 1
                                    ? fmt::format(", repeats {} × {}", geometry.a_repeats, geometry.b_repeats)
                                    : "";
    figure(context, "protocol", std::get<std::string>(value_of(geometry, "protocol")) + repeats);
    figure(context, "spectra",
           fmt::format("{}, {} × {}", plural(geometry.samples, "samples"), geometry.a_scans, geometry.b_scans));
    tooltip(context, "[scan]: description of the open data. To change it, edit " + scan.path.filename().string() +
                         " and reopen it (Ctrl+Shift+T)");
    if (geometry.line_rate_hz > 0) figure(context, "line rate", rate_text(geometry.line_rate_hz), "Hz");
}

// Notes of a reopened recording.
void draw_notes(const PanelContext& context, const RecordingNotes& notes) {
    if (notes.index.empty()) return;
    const auto entered = [&](const char* name, const std::string& text) {
        figure(context, name, text.empty() ? "–" : shortened(text, 0.6f * ImGui::GetContentRegionAvail().x));
        note_place(context, std::string("recording.") + name);
        if (!text.empty()) tooltip(context, text);
    };
    entered("subject", notes.subject);
    entered("note", notes.note);
    entered("started", notes.started);
    const std::string lack = lack_of(notes);
    if (lack.empty()) return entered("missing", "none");
    ImGui::PushStyleColor(ImGuiCol_Text, context.style.alarm);
    entered("missing", lack);
    ImGui::PopStyleColor();
}

class SourcePanel : public NamedPanel {
  public:
    SourcePanel() : NamedPanel("source", "Source", PanelSide::left, "camera instrument live record acquire simulator") {
        settings_.bind("source", next_);
    }

    void draw(const PanelContext& context) override {
        Workspace& work = context.work;
        if (ViewSource* view_source = work.viewer().view_source(); view_source != nullptr)
            draw_view_source(context, *view_source);
        if (section(context, "Open", !work.viewer().is_open())) draw_open(context);
    }

  private:
    void draw_view_source(const PanelContext& context, ViewSource& view_source) {
        ImGui::PushFont(context.style.strong);
        ImGui::TextUnformatted(shortened(view_source.name(), ImGui::GetContentRegionAvail().x).c_str());
        ImGui::PopFont();
        tooltip(context, view_source.name());
        LiveController* live = view_source.live();
        const bool is_instrument = live != nullptr && !live->is_recorded();
        if (is_instrument) draw_live(context, *live);
        draw_volume(context, view_source, live != nullptr);
        if (live != nullptr) {
            draw_scan(context, live->scan());
            draw_notes(context, live->scan().recording);
        }
        ImGui::Dummy({0, context.style.px(2)});
        action_button(context, "file.close", "Close");
    }

    static void draw_start_stop(const PanelContext& context, const LiveController& live) {
        const Action* action = context.work.actions().find("source.start_stop");
        if (action == nullptr) return;
        const char* label = live.is_running() ? "Stop" : "Start";
        // The width is that of the longer label, so that the button does not move.
        const float text = std::max(ImGui::CalcTextSize("Stop").x, ImGui::CalcTextSize("Start").x);
        const float width = text + 2 * ImGui::GetStyle().FramePadding.x;
        ImGui::SameLine(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - width);
        if (plain_button(context, action->id, label, help_of(*action).c_str(), action->is_possible(), width)) {
            run_action(context, action->id);
        }
    }

    void draw_live(const PanelContext& context, const LiveController& live) {
        draw_state(context, live);
        draw_start_stop(context, live);
        recording_.draw(context, live);
        ImGui::Dummy({0, context.style.px(4)});
    }

    void draw_open(const PanelContext& context) {
        Workspace& work = context.work;
        if (plain_button(context, "source.open_file", "Open a file...", "a volume, series, scan or session")) {
            context.state.file_request =
                FileRequest{.title = "Open", .chosen = [&work](const auto& path) { work.open(path); }};
        }
        muted_text(context, "Simulation");
        draw_scenes(context);
        draw_instruments(context);
        if (section(context, "Source settings", false)) {
            for (const BoundField& field : settings_.fields()) {
                setting_row(context, field, [&field](const Value& value, Edit) {
                    field.set(checked(field, field.default_value, value, field.key()));
                    return true;
                });
            }
        }
        draw_recent(context);
    }

    void open_source(const PanelContext& context, const std::string& name) {
        SourceRequest wanted;
        wanted.name = name;
        wanted.settings = next_;
        attempt(context, "source", [&] { context.work.open_source(wanted); });
    }

    void draw_scenes(const PanelContext& context) {
        for (const SceneEntry& scene : context.state.scenes) {
            const float width = ImGui::CalcTextSize(scene.name.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x;
            if (&scene != context.state.scenes.data()) same_line_where_fits(context, width, 4);
            const std::string name = "sim:" + scene.name;
            if (plain_button(context, name, scene.name.c_str(), scene.text.c_str())) {
                open_source(context, name);
            }
        }
    }

    // Searches for cameras in a job on request, because it may take seconds.
    void draw_instruments(const PanelContext& context) {
        Workspace& work = context.work;
        if (plain_button(context, "source.look_for", "Look for cameras", "search for GenICam cameras")) {
            const auto found = instruments_;
            work.jobs().start(
                "searching for cameras",
                [found](Progress&) {
                    return [found, names = sources_found()] {
                        found->names.clear();
                        for (const std::string& line : names) {
                            if (line.starts_with("genicam:")) found->names.push_back(line);
                        }
                        found->was_asked = true;
                    };
                },
                [&work](const Error& error) { work.notices().report_problem("source", error); });
        }
        ImGui::SameLine();
        action_button(context, "source.plugin", "Open a plugin…");
        // A list of fixed height, because the search ends later.
        ImGui::BeginChild("cameras", {0, 2 * ImGui::GetFrameHeightWithSpacing()});
        for (const std::string& line : instruments_->names) {
            const std::string name = line.substr(0, line.find(' '));
            if (plain_button(context, name, line.c_str())) open_source(context, name);
        }
        if (instruments_->names.empty())
            muted_text(context, instruments_->was_asked ? "No camera found. Connect one and search again."
                                                        : "Cameras are listed here.");
        ImGui::EndChild();
    }

    void draw_recent(const PanelContext& context) {
        const std::vector<std::filesystem::path> recent = context.work.recent();
        muted_text(context, "Recent");
        std::filesystem::path wanted;
        const float top = ImGui::GetCursorPosY();
        const float rows = static_cast<float>(most_recent) * ImGui::GetTextLineHeightWithSpacing();
        for (std::size_t i = 0; i < recent.size() && i < most_recent; ++i) {
            ImGui::PushID(static_cast<int>(i));
            if (ImGui::Selectable(recent[i].filename().string().c_str())) wanted = recent[i];
            note_place(context, fmt::format("source.recent[{}]", i));
            tooltip(context, recent[i].string());
            ImGui::PopID();
        }
        if (recent.empty()) muted_text(context, "Files that you open are listed here.");
        ImGui::SetCursorPosY(top + rows);  // reserves space for more entries
        ImGui::Dummy({0, 0});
        if (!wanted.empty()) context.work.open(wanted);
    }

    struct Instruments {
        std::vector<std::string> names;  // as from sources_found()
        bool was_asked = false;
    };

    RecordingRow recording_;
    SourceSettings next_;  // settings of the source to open next
    Settings settings_;
    std::shared_ptr<Instruments> instruments_ = std::make_shared<Instruments>();  // shared with the search job
};

}  // namespace

std::unique_ptr<Panel> make_source_panel() {
    return std::make_unique<SourcePanel>();
}

}  // namespace echolux
