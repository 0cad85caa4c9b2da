// Titles, the cross-hair and the read-out over the pictures of panes.
#include <fmt/format.h>

#include <cmath>

#include "render/annotations/quantities.h"
#include "render/camera.h"
#include "ui/panels/value_text.h"
#include "ui/window/panes.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

ImVec2 on_screen(const glm::dvec2& pixel, const Region& place) {
    return {static_cast<float>(place.left) + static_cast<float>(pixel.x),
            static_cast<float>(place.top) + static_cast<float>(pixel.y)};
}

ImVec2 low_corner(const Region& place) {
    return {static_cast<float>(place.left), static_cast<float>(place.top)};
}
ImVec2 high_corner(const Region& place) {
    return {static_cast<float>(place.left + place.width), static_cast<float>(place.top + place.height)};
}

// A line through the cross in a section, open around the cross itself so that what lies there is seen.
void draw_section_line(const Style& style, const ImVec2& cross, bool is_upright, const Region& place, ImU32 colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float open = style.px(9), width = std::max(1.0f, std::round(style.scale));
    const ImVec2 low = low_corner(place), high = high_corner(place);
    if (is_upright) {
        list.AddLine({cross.x, low.y}, {cross.x, cross.y - open}, colour, width);
        list.AddLine({cross.x, cross.y + open}, {cross.x, high.y}, colour, width);
    } else {
        list.AddLine({low.x, cross.y}, {cross.x - open, cross.y}, colour, width);
        list.AddLine({cross.x + open, cross.y}, {high.x, cross.y}, colour, width);
    }
}

void draw_outline(const Style& style, const Camera& camera, const glm::dvec2& middle, const glm::dvec3& half,
                  int across, double at, const Region& place, ImU32 colour) {
    const int one = (across + 1) % 3, other = (across + 2) % 3;
    constexpr int signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int i = 0; i < 4; ++i) {
        glm::dvec3 from(0), to(0);
        from[across] = to[across] = at;
        from[one] = signs[i][0] * half[one];
        from[other] = signs[i][1] * half[other];
        to[one] = signs[(i + 1) % 4][0] * half[one];
        to[other] = signs[(i + 1) % 4][1] * half[other];
        if (const auto line = camera.project_line(from, to)) {
            ImGui::GetWindowDrawList()->AddLine(on_screen(line->from + middle, place),
                                                on_screen(line->to + middle, place), colour,
                                                std::max(1.0f, style.scale));
        }
    }
}

// Text on whatever picture: with a dark ground of its own.
ImVec2 tag(const Style& style, ImFont* font, const ImVec2& at, const std::string& text, const ImVec4& colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::PushFont(font);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const ImVec2 pad{style.px(6), style.px(2)};
    list.AddRectFilled(at, {at.x + size.x + 2 * pad.x, at.y + size.y + 2 * pad.y}, shade(ground, 0.86f), style.px(4));
    list.AddText({at.x + pad.x, at.y + pad.y}, shade(colour, 1), text.c_str());
    ImGui::PopFont();
    return {size.x + 2 * pad.x, size.y + 2 * pad.y};
}

}  // namespace

ImVec4 colour_of(PaneKind kind) {
    switch (kind) {
        case PaneKind::b_scan: return {0.95f, 0.76f, 0.33f, 1};
        case PaneKind::en_face: return {0.93f, 0.45f, 0.47f, 1};
        case PaneKind::side: return {0.38f, 0.80f, 0.68f, 1};
        case PaneKind::volume: break;
    }
    return ink;
}

PaneTitle title_of(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross) {
    if (kind == PaneKind::volume) return {"Volume", "", ""};
    const int axis = axis_across(kind);
    const auto i = static_cast<std::size_t>(axis);
    const std::array<std::int64_t, 3> sizes{grid.depth, grid.a_scans, grid.b_scans};
    const std::int64_t index = voxel_index(cross[i], grid, axis);
    const char* names[] = {"En face", "Side", "B-scan"};
    PaneTitle title{names[i], fmt::format("{} / {}", index, sizes[i] - 1), ""};
    if (grid.spacing_um[i] > 0) {
        const double first = axis == 0 ? grid.first_depth_um : 0;
        const double length = first + static_cast<double>(index) * grid.spacing_um[i];
        const LengthUnit unit = unit_for(first + static_cast<double>(sizes[i] - 1) * grid.spacing_um[i]);
        title.length = fmt::format("{:.{}f} {}", length / unit.um, unit.um >= 1000 ? 3 : 1, unit.name);
    }
    return title;
}

void draw_cross_hair(const Style& style, const View& view, const VolumeGrid& grid, PaneKind kind, const Region& place,
                     const std::array<double, 3>& cross) {
    const glm::dvec3 at(cross[0], cross[1], cross[2]);
    if (kind == PaneKind::volume) {
        if (view.show != Shown::volume) return;
        const glm::dvec3 half = 0.5 * volume_extent(grid);
        const Camera camera(view, volume_extent(grid));
        const glm::dvec2 middle(0.5 * static_cast<double>(place.width), 0.5 * static_cast<double>(place.height));
        for (const PaneKind section : {PaneKind::b_scan, PaneKind::en_face, PaneKind::side}) {
            const int across = axis_across(section);
            draw_outline(style, camera, middle, half, across, at[across], place, shade(colour_of(section), 0.55f));
        }
        return;
    }
    const ImVec2 middle = on_screen(pixel_of(view, grid, at), place);
    const PaneKind across_lines = kind == PaneKind::side ? PaneKind::b_scan : PaneKind::side;
    const PaneKind along_lines = kind == PaneKind::en_face ? PaneKind::b_scan : PaneKind::en_face;
    draw_section_line(style, middle, true, place, shade(colour_of(across_lines), 0.7f));
    draw_section_line(style, middle, false, place, shade(colour_of(along_lines), 0.7f));
}

void Panes::draw_marks(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 low = low_corner(pane.place), high = high_corner(pane.place);
    list.PushClipRect(low, high, true);
    const bool has_sections = !context.work.stage().exhibit()->has_planes();
    if (context.work.window().cross_hair && has_sections) {
        draw_cross_hair(style, pane.view, grid, pane.kind, pane.place, context.work.cross_um());
    }
    const PaneTitle title = title_of(pane.kind, grid, context.work.cross_um());
    const ImVec2 at{low.x + style.px(8), low.y + style.px(8)};
    const ImVec2 size = tag(style, style.strong, at, title.name, colour_of(pane.kind));
    const float width = high.x - low.x;
    if (!title.index.empty() && width > style.px(140)) {
        const bool has_room = !title.length.empty() && width > style.px(260);
        tag(style, style.numbers, {at.x + size.x + style.px(4), at.y},
            has_room ? title.index + "   " + title.length : title.index, style.muted);
    }
    const ImVec2 below{at.x, at.y + size.y + style.px(6)};
    if (!pane.problem.empty()) {
        tag(style, style.text, below, pane.problem, style.trouble);
    } else if (const std::string text = loading_text(*context.work.stage().exhibit());
               pane.kind == PaneKind::volume && !text.empty()) {
        tag(style, style.text, below, text, style.accent);
    }
    if (hovered_ == pane.kind && !read_out_.empty()) {
        const float line = style.numbers->FontSize + style.px(4);
        tag(style, style.numbers, {low.x + style.px(8), high.y - line - style.px(8)}, read_out_, ink);
    }
    list.PopClipRect();
}

}  // namespace echolux
