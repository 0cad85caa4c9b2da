// Time line of key frames. There is one row per animated setting; its keys are marks that can be dragged. The ruler
// above holds all keys of a time. The view follows the current time, moved by hand or played at the speed of the movie.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/settings/key_frame_file.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/atomic_file.h"
#include "engine/io/regular_file.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/exporting.h"

namespace echolux {
namespace {

constexpr const char* key = "window.key_frames";
constexpr double shortest_axis_s = 5, beyond_last = 1.15, snap_s = 0.05;
constexpr int most_rows = 6;  // visible without scrolling

// Keys being dragged, and the time line before the drag.
struct KeyDrag {
    TimeLine before;
    double from_s = 0;
    std::string name;  // empty: all keys at this time
};

// The key to which the buttons apply.
struct ChosenKey {
    double time_s = 0;
    std::string name;
};

class KeysPanel : public NamedPanel {
  public:
    KeysPanel() : NamedPanel("keys", "Key frames", PanelSide::bottom) {}

    bool is_available(Workspace& work) const override {
        return work.viewer().is_open() && work.settings().window().time_line;
    }

    void draw(const PanelContext& context) override {
        attempt(context, "view", [&] { read(context); });
        play(context);
        draw_buttons(context);
        if (!held_) axis_s_ = std::max(shortest_axis_s, beyond_last * line_.last_s());
        draw_ruler(context);
        const std::vector<std::string> names = line_.names();
        const auto rows = static_cast<float>(std::clamp(static_cast<int>(names.size()), 0, most_rows));
        if (rows == 0) return;
        ImGui::BeginChild("rows", {0, rows * row_height(context)}, false);
        for (const std::string& name : names) draw_row(context, name);
        ImGui::EndChild();
    }

  private:
    static float row_height(const PanelContext& context) { return context.style.px(20); }
    static float label_width(const PanelContext& context) { return context.style.px(150); }

    // Parses the time line again if the setting was changed from elsewhere, e.g. by undo.
    void read(const PanelContext& context) {
        const std::string& text = context.work.settings().window().key_frames;
        if (text == text_) return;
        text_ = text;
        line_ = TimeLine();
        line_ = TimeLine(text);
    }

    // Stores the time line in the setting.
    void change(const PanelContext& context, const TimeLine& line, Edit edit = Edit::done) {
        if (!context.work.change(key, line.toml(), edit)) return;
        line_ = line;
        text_ = context.work.settings().window().key_frames;
    }

    // Applies the time line at `time_s` to the view. A complete playback is one undo step.
    void show(const PanelContext& context, double time_s, Edit edit) {
        now_s_ = time_s;
        if (line_.is_empty()) return;
        const View view = line_.at(context.work.view(), time_s);
        std::map<std::string, Value> values;
        for (const Field<View>& field : describe<View>()) {
            if (field.get(view) != field.get(context.work.view()))
                values.emplace("view." + std::string(field.name), field.get(view));
        }
        // Standard views fix the angles, so animated angles need the free view.
        if (names_angles() && context.work.view().look != Look::free) values["view.look"] = std::string("free");
        if (!values.empty()) context.work.change_together("view", values, edit);
        if (edit == Edit::done) context.work.history().close();
    }

    bool names_angles() const {
        return std::ranges::any_of(line_.names(), [](const std::string& name) { return name.ends_with("_deg"); });
    }

    // Advances by the time since the last frame and repeats at the end.
    void play(const PanelContext& context) {
        const double clock = context.work.now_s();
        if (plays_) {
            const double end = std::max(line_.last_s(), TimeLine::apart_s);
            const double now = now_s_ + std::max(0.0, clock - clock_s_);
            show(context, now > end ? std::fmod(now, end) : now, Edit::in_progress);
        }
        clock_s_ = clock;
        context.state.plays_keys = plays_;
    }

    void draw_buttons(const PanelContext& context) {
        const auto next = [&context] { ImGui::SameLine(0, context.style.px(4)); };
        if (icon_button(context, "keys.play", plays_ ? Icon::pause : Icon::play, "play the key frames in a loop",
                        plays_, !line_.is_empty())) {
            plays_ = !plays_;
            if (!plays_) show(context, now_s_, Edit::done);
        }
        next();
        if (plain_button(context, "keys.add", "Add key",
                         "add the current camera and all other view settings that differ at this time")) {
            TimeLine line = line_;
            line.take(now_s_, context.work.view());
            change(context, line);
        }
        next();
        if (plain_button(context, "keys.copy", "Copy here", "copy the selected key to this time",
                         chosen_.has_value())) {
            edit(context, [&](TimeLine& line) { line.copy(chosen_->time_s, now_s_, chosen_->name); });
            chosen_->time_s = now_s_;
        }
        next();
        // Deletes the selected key, or all keys at its time.
        if (plain_button(context, "keys.remove", "Delete", "delete the selected key", chosen_.has_value())) {
            edit(context, [&](TimeLine& line) { line.erase(chosen_->time_s, chosen_->name); });
            chosen_.reset();
        }
        next();
        draw_eases(context);
        next();
        if (plain_button(context, "keys.open", "Open...", "read a file of key frames (.toml)")) {
            context.state.file_request =
                FileRequest{.kind = FileRequest::Kind::open,
                            .title = "Open key frames",
                            .suggested = {},
                            .endings = {".toml"},
                            .chosen = [&work = context.work](const auto& file) { open(work, file); }};
        }
        next();
        if (plain_button(context, "keys.save", "Save...", "write a file of key frames (.toml)", !line_.is_empty())) {
            context.state.file_request = FileRequest{
                .kind = FileRequest::Kind::save,
                .title = "Save key frames",
                .suggested = "keys.toml",
                .endings = {".toml"},
                .chosen = [&work = context.work, text = text_](const auto& file) { save(work, file, text); }};
        }
        next();
        ImGui::AlignTextToFramePadding();
        ImGui::TextColored(context.style.muted, "%s", fmt::format("{:.2f} / {:.2f} s", now_s_, line_.last_s()).c_str());
    }

    // Reads the file in a job, because it may be on a slow disk.
    static void open(Workspace& work, const std::filesystem::path& file) {
        constexpr std::uintmax_t largest = 1 << 20;
        work.jobs().start(
            "opening " + file.filename().string(),
            [&work, file](Progress& progress) -> Jobs::LastStep {
                progress.begin("read", 0, "");
                const TimeLine line(whole_file(file, largest, "is not a file of key frames of at most 1 MiB"));
                return [&work, text = line.toml()] { work.change(key, text); };
            },
            [&work](const Error& error) { work.notices().report_problem("view", error); });
    }
    static void save(Workspace& work, const std::filesystem::path& file, const std::string& text) {
        work.exporting().write_beside(file, [file, text](Progress& progress) {
            progress.begin("write", 0, "");
            write_text(file, text);
        });
    }

    // Changes a copy of the time line and stores it.
    template <class Change>
    void edit(const PanelContext& context, const Change& wanted) {
        TimeLine line = line_;
        wanted(line);
        change(context, line);
    }

    // Buttons for the interpolation after the selected key.
    void draw_eases(const PanelContext& context) {
        const auto frame = std::ranges::find_if(line_.keys(), [&](const KeyFrame& there) {
            return chosen_ && std::abs(there.time_s - chosen_->time_s) < TimeLine::apart_s;
        });
        const bool is_there = frame != line_.keys().end();
        const auto now = is_there ? static_cast<std::size_t>(frame->ease) : ease_names.size();
        for (std::size_t i = 0; i < ease_names.size(); ++i) {
            const LitButtons lit(context.style, i == now);
            const std::string name(ease_names.at(i));
            if (plain_button(context, "keys.ease=" + name, name.c_str(),
                             "interpolation of all settings after the selected time; rest: hold the value", is_there)) {
                edit(context, [&](TimeLine& line) { line.ease(chosen_->time_s, static_cast<Ease>(i)); });
            }
            if (i + 1 < ease_names.size()) ImGui::SameLine(0, context.style.px(2));
        }
    }

    // Maps times to pixels; times snap to 0.05 s.
    struct Axis {
        float left, width;
        double length_s;

        float at(double time_s) const { return left + width * static_cast<float>(time_s / length_s); }
        double time_at(float x) const {
            const double time = length_s * static_cast<double>((x - left) / width);
            return std::clamp(std::round(time / snap_s) * snap_s, 0.0, length_s);
        }
    };

    // Axis in the remaining width, with room for half a mark at both ends.
    Axis axis_here(const PanelContext& context) const {
        const float half = context.style.px(6);
        return {ImGui::GetCursorScreenPos().x + half, ImGui::GetContentRegionAvail().x - 2 * half, axis_s_};
    }

    // The shape of a mark shows the interpolation: square for hold, circle for rest, triangle for linear, diamond for
    // smooth.
    void draw_mark(const PanelContext& context, const Axis& axis, double time_s, float middle, bool is_chosen,
                   Ease ease) const {
        const float x = axis.at(time_s), arm = context.style.px(5);
        const ImU32 colour = is_chosen ? IM_COL32(255, 255, 255, 255) : ImGui::GetColorU32(context.style.accent);
        ImDrawList* list = ImGui::GetWindowDrawList();
        if (ease == Ease::hold)
            list->AddRectFilled({x - 0.8f * arm, middle - 0.8f * arm}, {x + 0.8f * arm, middle + 0.8f * arm}, colour);
        else if (ease == Ease::rest)
            list->AddCircleFilled({x, middle}, arm, colour);
        else if (ease == Ease::linear)
            list->AddTriangleFilled({x - arm, middle + arm}, {x - arm, middle - arm}, {x + arm, middle}, colour);
        else
            list->AddQuadFilled({x - arm, middle}, {x, middle - arm}, {x + arm, middle}, {x, middle + arm}, colour);
    }

    // Returns the time of the mark under the pointer.
    std::optional<double> mark_under(const PanelContext& context, const Axis& axis, const std::string& name) const {
        for (const KeyFrame& frame : line_.keys()) {
            const bool is_in_row = name.empty() || frame.values.contains(name);
            const float off = std::abs(axis.at(frame.time_s) - ImGui::GetIO().MousePos.x);
            if (is_in_row && off <= context.style.px(7)) return frame.time_s;
        }
        return std::nullopt;
    }

    // Handles input on the last drawn row. Dragging moves a mark, or elsewhere the current time. A click on a mark
    // moves the current time to it.
    void handle(const PanelContext& context, const Axis& axis, const std::string& name) {
        const double pointed = axis.time_at(ImGui::GetIO().MousePos.x);
        if (ImGui::IsItemActivated()) {
            plays_ = false;
            held_.reset();
            if (const auto mark = mark_under(context, axis, name)) {
                chosen_ = ChosenKey{*mark, name};
                held_ = KeyDrag{line_, *mark, name};
            }
        }
        const bool moves = held_ && ImGui::IsMouseDragging(0, context.style.px(2));
        if (ImGui::IsItemActive() && held_ && held_->name == name) {
            if (moves && pointed != chosen_->time_s) {
                TimeLine line = held_->before;
                line.move(held_->from_s, pointed, name);
                change(context, line, Edit::in_progress);
                chosen_->time_s = pointed;
            }
        } else if (ImGui::IsItemActive() && pointed != now_s_) {
            show(context, pointed, Edit::in_progress);
        }
        if (!ImGui::IsItemDeactivated()) return;
        if (held_ && held_->name == name && chosen_->time_s == held_->from_s) show(context, held_->from_s, Edit::done);
        context.work.history().close();
        held_.reset();
    }

    // Vertical line at the current time.
    void draw_now(const PanelContext& context, const Axis& axis, float top, float bottom) const {
        const float x = axis.at(std::min(now_s_, axis_s_));
        ImGui::GetWindowDrawList()->AddLine({x, top}, {x, bottom}, IM_COL32(255, 255, 255, 220),
                                            context.style.px(1.5f));
    }

    void draw_ruler(const PanelContext& context) {
        draw_track(context, "", "all", "keys.ruler",
                   "drag to move through time; drag a mark to move all keys at that time");
    }

    void draw_row(const PanelContext& context, const std::string& name) {
        draw_track(context, name, name, "keys.row." + name, "view." + name + ": drag a mark to move the key");
    }

    void draw_track(const PanelContext& context, const std::string& name, const std::string& label,
                    const std::string& place, const std::string& help) {
        const float height = row_height(context), begin = ImGui::GetCursorPosX();
        ImGui::TextColored(context.style.muted, "%s", shortened(label, label_width(context)).c_str());
        ImGui::SameLine(begin + label_width(context));
        const Axis axis = axis_here(context);
        const float top = ImGui::GetCursorScreenPos().y, middle = top + 0.5f * (height - context.style.px(3));
        ImGui::PushID(place.c_str());
        ImGui::InvisibleButton("##track", {ImGui::GetContentRegionAvail().x, height - context.style.px(3)});
        ImGui::PopID();
        note_place(context, place);
        tooltip(context, help);
        ImGui::GetWindowDrawList()->AddRectFilled({axis.left, top},
                                                  {axis.left + axis.width, top + height - context.style.px(3)},
                                                  ImGui::GetColorU32(ImGuiCol_FrameBg), context.style.px(3));
        handle(context, axis, name);
        for (const KeyFrame& frame : line_.keys()) {
            if (!name.empty() && !frame.values.contains(name)) continue;
            const bool is_chosen = chosen_ && (chosen_->name.empty() || chosen_->name == name) &&
                                   std::abs(chosen_->time_s - frame.time_s) < TimeLine::apart_s;
            draw_mark(context, axis, frame.time_s, middle, is_chosen, frame.ease);
        }
        draw_now(context, axis, top, top + height - context.style.px(3));
    }

    std::string text_;  // text that line_ was parsed from
    TimeLine line_;
    double now_s_ = 0, clock_s_ = 0, axis_s_ = shortest_axis_s;
    bool plays_ = false;
    std::optional<ChosenKey> chosen_;
    std::optional<KeyDrag> held_;
};

}  // namespace

std::unique_ptr<Panel> make_keys_panel() {
    return std::make_unique<KeysPanel>();
}

}  // namespace echolux
