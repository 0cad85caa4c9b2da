#include "ui/window/start_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "ui/panels/widgets.h"
#include "ui/window/keys_drawn.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

// Returns the opaque colour that results on the background of the page.
ImVec4 over_ground(const ImVec4& colour) {
    const auto part = [&](float of_colour, float of_ground) { return of_ground + colour.w * (of_colour - of_ground); };
    return {part(colour.x, ground.x), part(colour.y, ground.y), part(colour.z, ground.z), 1};
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
using Drawn = std::function<void(ImDrawList& list, ImVec2 low, ImVec2 high, const ImVec4& beside)>;

// Card with a title and an explanation, and keys or a drawing at its right. While its document is being opened, it
// shows the progress and ignores clicks. Returns true when clicked.
bool card(const PanelContext& context, const std::string& name, float width, const std::string& heading,
          const std::string& text, const std::string& keys = "", bool is_first = false,
          const std::optional<JobState>& opening = {}, const Drawn& draw_beside = {}) {
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
                          : hovered ? ImVec4(0.150f, 0.162f, 0.185f, 1)
                                    : surface;
    list.AddRectFilled(at, high, shade(ground), style.px(8));
    list.AddRectFilled(at, high, ImGui::GetColorU32(inside), style.px(8));
    if (draw_beside) {
        const float edge = style.px(2);
        const float left_of_it = high.x - std::min(style.px(190), 0.45f * width);
        draw_beside(list, {left_of_it, at.y + edge}, {high.x - edge, high.y - edge}, over_ground(inside));
    }
    list.AddRect(at, high, ImGui::GetColorU32(is_first ? ImVec4(accent.x, accent.y, accent.z, 0.6f) : hairline),
                 style.px(8));
    const float room = keys.empty() ? 0 : width_of_keys(style, keys) + style.px(24);
    list.PushClipRect(at, {high.x - style.px(12) - room, high.y}, true);
    const float left = at.x + style.px(16);
    list.AddText(style.strong, style.strong->FontSize, {left, at.y + style.px(10)}, ImGui::GetColorU32(ink),
                 heading.c_str());
    list.AddText(style.text, style.text->FontSize, {left, at.y + style.px(31)}, ImGui::GetColorU32(style.muted),
                 opening ? progress_text(*opening).c_str() : text.c_str());
    list.PopClipRect();
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
    SourceWanted wanted;
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
        "looking for instruments",
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
    ImGui::PushStyleColor(ImGuiCol_WindowBg, ground);
    ImGui::Begin("start page", nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoNav);
    const float all = ImGui::GetContentRegionAvail().x;
    const float width = std::min(all - style.px(40), style.px(980)), gap = style.px(36);
    const float left = std::round(0.5f * (ImGui::GetWindowWidth() - width));
    const float column = std::floor(0.5f * (width - gap));
    ImGui::SetCursorPos({left, std::max(style.px(24), std::round(0.06f * static_cast<float>(centre.height)))});
    ImGui::BeginGroup();
    ImGui::PushFont(style.large);
    ImGui::TextUnformatted("Echolux");
    ImGui::PopFont();
    ImGui::TextColored(style.muted, "OCT spectra to volumes, live and in 4-D. Open something, or drop files here.");
    ImGui::Dummy({0, style.px(14)});
    const float top = ImGui::GetCursorPosY();
    draw_simulator(context, column);
    ImGui::EndGroup();
    ImGui::SetCursorPos({left + column + gap, top});
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
    for (const ShownScene& scene : context.state.scenes) {
        const std::string name = "start.sim." + scene.name;
        const auto opening = context.work.opening("sim:" + scene.name);
        const bool is_first = &scene == context.state.scenes.data();
        const Drawn drawn = [&](ImDrawList& list, ImVec2 low, ImVec2 high, const ImVec4& beside) {
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
    if (card(context, "start.tour", width, "A short tour", "five hints for the first minute")) run("window.tour");
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
            list.AddRectFilled({at.x - style.px(8), at.y}, {at.x + width, at.y + height}, ImGui::GetColorU32(surface),
                               style.px(5));
        }
        const std::string name = recent[i].filename().string(), folder = recent[i].parent_path().string();
        const float top = at.y + 0.5f * (height - style.text->FontSize);
        const float name_width = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, name.c_str()).x;
        list.PushClipRect(at, {at.x + width, at.y + height}, true);
        list.AddText(style.text, style.text->FontSize, {at.x, top}, ImGui::GetColorU32(ink), name.c_str());
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
            SourceWanted wanted;
            wanted.name = source;
            attempt(context, "source", [&] { context.work.open_source(wanted); });
        }
    }
    if (!sources_->is_known) {
        muted_text(context, "Looking for cameras…");
    } else if (!has_some) {
        muted_text(context, "No camera answers.");
        if (plain_button(context, "start.look", "Look again", "GigE Vision and USB3 Vision cameras"))
            look_for_sources(context.work);
    }
    if (card(context, "start.plugin", width, "Open a plugin", "the library of an instrument of your own (.so)", ""))
        attempt(context, "", [&] { context.work.actions().run("source.plugin"); });
}

}  // namespace echolux
