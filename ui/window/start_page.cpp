#include "ui/window/start_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

#include "compute/error.h"
#include "render/picture.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

// Returns the opaque colour that results on the background of the page.
ImVec4 over_ground(const Style& style, const ImVec4& colour) {
    const auto part = [&](float of_colour, float of_ground) { return of_ground + colour.w * (of_colour - of_ground); };
    return {part(colour.x, style.ground.x), part(colour.y, style.ground.y), part(colour.z, style.ground.z), 1};
}

// Draws the progress of opening along the lower edge of a card.
void draw_progress(const PanelContext& context, const JobState& job, ImVec2 low, ImVec2 high) {
    const float thick = context.style.px(3);
    const float share = job.total > 0 ? static_cast<float>(job.done) / static_cast<float>(job.total) : 0;
    const float end = low.x + (high.x - low.x) * std::clamp(share, 0.03f, 1.0f);
    ImGui::GetWindowDrawList()->AddRectFilled({low.x, high.y - thick}, {end, high.y},
                                              ImGui::GetColorU32(context.style.accent), 0.5f * thick);
}

std::string progress_text(const JobState& job) {
    const std::string task = job.task.empty() ? "opening" : job.task;
    if (job.total <= 0) return task + "…";
    return fmt::format("{}: {:.0f} %", task, 100 * static_cast<double>(job.done) / static_cast<double>(job.total));
}

// Drawing at the right of a card, between two corners, which fades into the colour beside it.
using CardDrawing = std::function<void(ImDrawList& list, ImVec2 low, ImVec2 high, const ImVec4& beside)>;

// Card with a title and an explanation, and keys or a drawing at its right. While its document is being opened, it
// shows the progress and ignores clicks. Returns true when clicked.
bool card(const PanelContext& context, const std::string& name, float width, const std::string& heading,
          const std::string& text, const std::string& keys = "", bool is_first = false,
          const std::optional<JobState>& opening = {}, const CardDrawing& draw_beside = {}) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = style.px(58);
    ImGui::PushID(name.c_str());
    const bool clicked = ImGui::InvisibleButton("card", {width, height});
    ImGui::PopID();
    note_place(context, name);
    const bool hovered = ImGui::IsItemHovered();
    if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 high{at.x + width, at.y + height};
    const ImVec4 accent = style.accent;
    const ImVec4 inside = is_first  ? ImVec4(accent.x, accent.y, accent.z, hovered ? 0.34f : 0.22f)
                          : hovered ? style.lit
                                    : style.surface;
    list.AddRectFilled(at, high, shade(style.ground), style.px(8));
    list.AddRectFilled(at, high, ImGui::GetColorU32(inside), style.px(8));
    auto& places = context.state.controls.places;
    if (draw_beside) {
        const float edge = style.px(2);
        const float left_of_it = high.x - std::min(style.px(190), 0.45f * width);
        places[name + ".drawing"] = {left_of_it, at.y, high.x, high.y};
        draw_beside(list, {left_of_it, at.y + edge}, {high.x - edge, high.y - edge}, over_ground(style, inside));
    }
    list.AddRect(at, high, ImGui::GetColorU32(is_first ? ImVec4(accent.x, accent.y, accent.z, 0.6f) : style.hairline),
                 style.px(8));
    const float room = keys.empty() ? 0 : width_of_keys(style, keys) + style.px(24);
    list.PushClipRect(at, {high.x - style.px(12) - room, high.y}, true);
    const float left = at.x + style.px(16);
    list.AddText(style.strong, style.strong->FontSize, {left, at.y + style.px(10)}, ImGui::GetColorU32(style.ink),
                 heading.c_str());
    const std::string seen = opening ? progress_text(*opening) : text;
    list.AddText(style.text, style.text->FontSize, {left, at.y + style.px(31)}, ImGui::GetColorU32(style.muted),
                 seen.c_str());
    list.PopClipRect();
    const ImVec2 size = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, seen.c_str());
    places[name + ".text"] = {left, at.y + style.px(31), left + size.x, at.y + style.px(31) + size.y};
    if (opening) draw_progress(context, *opening, at, high);
    if (!keys.empty()) draw_keys_right(style, {high.x - style.px(16), at.y + 0.5f * height}, keys);
    return clicked && !opening;
}

void heading(const PanelContext& context, const char* text) {
    ImGui::PushFont(context.style.strong);
    ImGui::TextColored(context.style.muted, "%s", text);
    ImGui::PopFont();
}

void open_simulator(const PanelContext& context, const std::string& scene) {
    SourceRequest wanted;
    wanted.name = "sim:" + scene;
    attempt(context, "source", [&] { context.work.open_source(wanted); });
}

// Returns the part of "genicam:ID: description" that opens the source, or an empty text for lines that only explain a
// kind.
std::string source_of(const std::string& line) {
    if (!line.starts_with("genicam:")) return "";
    const std::size_t end = line.find(": ");
    return line.substr(0, end);
}

}  // namespace

// The job gets its own result object, so that a repeated search cannot mix with an old one.
void StartPage::look_for_sources(Workspace& work) {
    sources_ = std::make_shared<Sources>();
    work.jobs().start(
        "searching for instruments",
        [target = sources_](Progress&) -> Jobs::LastStep {
            return [target, lines = sources_found()] { *target = {true, lines}; };
        },
        [target = sources_](const Error&) { target->is_known = true; });
}

void StartPage::draw(const PanelContext& context, const Region& centre) {
    const Style& style = context.style;
    if (sources_ == nullptr) look_for_sources(context.work);
    ImGui::SetNextWindowPos({static_cast<float>(centre.left), static_cast<float>(centre.top)});
    ImGui::SetNextWindowSize({static_cast<float>(centre.width), static_cast<float>(centre.height)});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, style.ground);
    ImGui::Begin("start page", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoNav);
    const float all = ImGui::GetContentRegionAvail().x;
    const float width = std::min(all - style.px(40), style.px(980)), gap = style.px(36);
    const float left = std::round(0.5f * (ImGui::GetWindowWidth() - width));
    const bool is_narrow = width < style.px(600);  // one column
    const float column = is_narrow ? width : std::floor(0.5f * (width - gap));
    ImGui::SetCursorPos({left, std::max(style.px(24), std::round(0.06f * static_cast<float>(centre.height)))});
    ImGui::BeginGroup();
    ImGui::PushFont(style.large);
    ImGui::TextUnformatted("Echolux");
    ImGui::PopFont();
    ImGui::PushTextWrapPos(left + width);
    ImGui::TextColored(style.muted,
                       "OCT spectra to volumes, live and in 4-D. Open a source or a file, or drop files here.");
    ImGui::PopTextWrapPos();
    ImGui::Dummy({0, style.px(14)});
    const float top = ImGui::GetCursorPosY();
    draw_simulator(context, column);
    ImGui::EndGroup();
    if (is_narrow) {
        ImGui::SetCursorPos({left, ImGui::GetCursorPosY() + style.px(14)});
    } else {
        ImGui::SetCursorPos({left + column + gap, top});
    }
    ImGui::BeginGroup();
    draw_files(context, column);
    ImGui::Dummy({0, style.px(14)});
    draw_recent(context, column);
    draw_instruments(context, column);
    ImGui::EndGroup();
    ImGui::End();
    ImGui::PopStyleColor();
}

void StartPage::draw_simulator(const PanelContext& context, float width) {
    heading(context, "Live simulator");
    for (const SceneEntry& scene : context.state.scenes) {
        const std::string name = "start.sim." + scene.name;
        const auto opening = context.work.opening("sim:" + scene.name);
        const bool is_first = &scene == context.state.scenes.data();
        const CardDrawing drawn = [&](ImDrawList& list, ImVec2 low, ImVec2 high, const ImVec4& beside) {
            drawings_.draw(list, scene.name, low, high, beside);
        };
        if (card(context, name, width, scene.title, scene.text, "", is_first, opening, drawn))
            open_simulator(context, scene.name);
    }
}

void StartPage::draw_files(const PanelContext& context, float width) {
    heading(context, "Files");
    const auto run = [&](const char* id) { attempt(context, "", [&] { context.work.actions().run(id); }); };
    if (card(context, "start.open", width, "Open a file", "volumes, series, scans, raw spectra, sessions", "Ctrl+O")) {
        run("window.open");
    }
    if (card(context, "start.tour", width, "A short tour", "five hints to get started")) run("window.tour");
}

void StartPage::draw_recent(const PanelContext& context, float width) {
    constexpr std::size_t max_files = 6;
    const std::vector<std::filesystem::path> recent = context.work.recent();
    if (recent.empty()) return;
    heading(context, "Recent");
    const Style& style = context.style;
    for (std::size_t i = 0; i < std::min(recent.size(), max_files); ++i) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float height = style.px(28);
        ImGui::PushID(static_cast<int>(i));
        const bool clicked = ImGui::InvisibleButton("recent", {width, height});
        ImGui::PopID();
        note_place(context, "start.recent" + std::to_string(i));
        ImDrawList& list = *ImGui::GetWindowDrawList();
        if (ImGui::IsItemHovered()) {
            ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
            list.AddRectFilled({at.x - style.px(8), at.y}, {at.x + width, at.y + height},
                               ImGui::GetColorU32(style.surface), style.px(5));
        }
        const std::string name = recent[i].filename().string(), folder = recent[i].parent_path().string();
        const float top = at.y + 0.5f * (height - style.text->FontSize);
        const float name_width = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, name.c_str()).x;
        list.PushClipRect(at, {at.x + width, at.y + height}, true);
        list.AddText(style.text, style.text->FontSize, {at.x, top}, ImGui::GetColorU32(style.ink), name.c_str());
        list.AddText(style.text, style.text->FontSize, {at.x + name_width + style.px(12), top},
                     ImGui::GetColorU32(style.muted), folder.c_str());
        list.PopClipRect();
        if (const auto opening = context.work.opening(recent[i].string())) {
            draw_progress(context, *opening, {at.x - style.px(8), at.y}, {at.x + width, at.y + height});
        }
        if (clicked) attempt(context, "files", [&] { context.work.open(recent[i]); });
    }
    ImGui::Dummy({0, style.px(14)});
}

void StartPage::draw_instruments(const PanelContext& context, float width) {
    heading(context, "Instruments");
    bool has_some = false;
    for (const std::string& line : sources_->lines) {
        const std::string source = source_of(line);
        if (source.empty()) continue;
        has_some = true;
        if (card(context, "start." + source, width, source, line.substr(std::min(line.size(), source.size() + 2)), "",
                 false, context.work.opening(source))) {
            SourceRequest wanted;
            wanted.name = source;
            attempt(context, "source", [&] { context.work.open_source(wanted); });
        }
    }
    if (!sources_->is_known) {
        muted_text(context, "Searching for cameras…");
    } else if (!has_some) {
        muted_text(context, "No camera found. Connect one and search again.");
        if (plain_button(context, "start.look", "Rescan", "GigE Vision and USB3 Vision cameras"))
            look_for_sources(context.work);
    }
    if (card(context, "start.plugin", width, "Open a plugin", "shared library of an instrument (.so)", ""))
        attempt(context, "", [&] { context.work.actions().run("source.plugin"); });
}

// ---- Scene drawing

namespace {

const ImVec4 dark{0.040f, 0.036f, 0.042f, 1}, dim{0.33f, 0.13f, 0.12f, 1}, bright{0.97f, 0.83f, 0.70f, 1};
const ImVec4 away{0.95f, 0.52f, 0.16f, 1}, towards{0.25f, 0.56f, 0.95f, 1};  // as for flow
const ImVec4 mirrored{0.93f, 0.96f, 1.00f, 1};

ImVec4 mixed(const ImVec4& a, const ImVec4& b, float share) {
    const auto part = [=](float from, float to) { return from + share * (to - from); };
    return {part(a.x, b.x), part(a.y, b.y), part(a.z, b.z), part(a.w, b.w)};
}

// Colour of tissue by brightness: dark red, salmon, cream.
ImVec4 tissue(double brightness) {
    const auto level = static_cast<float>(std::clamp(brightness, 0.0, 1.0));
    return mixed(dim, bright, std::sqrt(level) * 0.4f + level * 0.6f);
}

// Draws in coordinates from 0 to 1 across the section.
class SceneCanvas {
  public:
    SceneCanvas(ImDrawList& list, ImVec2 low, ImVec2 high) : list_(list), low_(low), high_(high) {}

    ImVec2 at(double x, double z) const {
        return {low_.x + static_cast<float>(x) * (high_.x - low_.x),
                low_.y + static_cast<float>(z) * (high_.y - low_.y)};
    }

    void layer(const std::vector<double>& top, const std::vector<double>& bottom, const ImVec4& colour) {
        const auto columns = static_cast<double>(top.size());
        for (std::size_t i = 0; i + 1 < top.size(); ++i) {
            const double left = static_cast<double>(i) / (columns - 1),
                         right = static_cast<double>(i + 1) / (columns - 1);
            list_.AddQuadFilled(at(left, top[i]), at(right, top[i + 1]), at(right, bottom[i + 1]), at(left, bottom[i]),
                                shade(colour));
        }
    }

    void tube(const SceneSection::Tube& tube) {
        constexpr int corners = 32;
        for (int i = 0; i < corners; ++i) {
            const double turn = 2 * std::numbers::pi * i / corners;
            list_.PathLineTo(at(tube.x + tube.radius_x * std::cos(turn), tube.z + tube.radius_z * std::sin(turn)));
        }
        list_.PathFillConvex(shade(tube.flows_away ? away : towards));
    }

    void reflector(double depth, float thick) {
        list_.AddLine(at(0, depth), at(1, depth), shade(mirrored, 0.9f), thick);
    }

  private:
    ImDrawList& list_;
    ImVec2 low_, high_;
};

}  // namespace

// Sections are cached; a scene that cannot be read is stored without a value.
const SceneSection* SceneDrawings::section_of(const std::string& scene) {
    constexpr std::size_t columns = 64;
    const auto [found, is_new] = sections_.try_emplace(scene);
    if (is_new) {
        try {
            found->second = scene_section(scene, columns);
        } catch (const Error&) {
        }
    }
    return found->second ? &*found->second : nullptr;
}

void SceneDrawings::draw(ImDrawList& list, const std::string& scene, ImVec2 low, ImVec2 high, const ImVec4& beside) {
    const SceneSection* section = section_of(scene);
    if (section == nullptr) return;
    list.PushClipRect(low, high, true);
    list.AddRectFilled(low, high, shade(dark));
    SceneCanvas canvas(list, low, high);
    for (std::size_t i = 0; i < section->brightness.size() && i + 1 < section->boundaries.size(); ++i)
        canvas.layer(section->boundaries[i], section->boundaries[i + 1], tissue(section->brightness[i]));
    for (const SceneSection::Tube& tube : section->tubes) canvas.tube(tube);
    const float thick = std::max(1.0f, std::round(0.03f * (high.y - low.y)));
    for (const double depth : section->reflectors) canvas.reflector(depth, thick);
    const float faded = low.x + 0.45f * (high.x - low.x);
    list.AddRectFilledMultiColor(low, {faded, high.y}, shade(beside), shade(beside, 0), shade(beside, 0),
                                 shade(beside));
    list.PopClipRect();
}

}  // namespace echolux
