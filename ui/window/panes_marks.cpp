// Titles, cross-hair and read-out above the pictures of the panes.
#include <fmt/format.h>

#include <cmath>

#include "app/stage/exhibit.h"
#include "app/stage/patient_sides.h"
#include "render/annotations/annotations.h"
#include "render/camera.h"
#include "render/view/curve.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
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

// Line through the cross in a section, with a gap around the cross so that the tissue there stays visible.
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

// Outline of a section in the volume. Edges that cannot be projected are omitted.
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

// Text with its own dark background, readable above any picture. Returns its size.
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

void draw_letters(const Style& style, const Region& place, const SideLetters& letters) {
    const ImVec2 low = low_corner(place), high = high_corner(place);
    const float edge = style.px(10), half = 0.5f * style.strong->FontSize;
    const ImVec2 middle{0.5f * (low.x + high.x), 0.5f * (low.y + high.y)};
    const auto draw = [&](const std::string& letter, float x, float y) {
        if (letter.empty()) return;
        ImDrawList& list = *ImGui::GetWindowDrawList();
        list.AddText(style.strong, style.strong->FontSize, {x + 1, y + 1}, shade(ground, 1), letter.c_str());
        list.AddText(style.strong, style.strong->FontSize, {x, y}, shade(ink, 1), letter.c_str());
    };
    draw(letters.left, low.x + edge, middle.y - half);
    draw(letters.right, high.x - edge - 2 * half, middle.y - half);
    const bool is_under_title = high.x - low.x < style.px(300);
    draw(letters.top, middle.x - half, low.y + (is_under_title ? style.px(36) : edge));
    draw(letters.bottom, middle.x - half, high.y - edge - 2 * half);
}

// Mark of a clicked position: a small cross with a dark rim.
void draw_place(const Style& style, const ImVec2& at, const ImVec4& colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float arm = style.px(5), width = std::max(1.0f, style.px(1.5f));
    for (const auto& [rim, shown] : {std::pair(2.0f, shade(ground, 0.8f)), std::pair(0.0f, shade(colour, 1))}) {
        list.AddLine({at.x - arm - 0.5f * rim, at.y}, {at.x + arm + 0.5f * rim, at.y}, shown, width + rim);
        list.AddLine({at.x, at.y - arm - 0.5f * rim}, {at.x, at.y + arm + 0.5f * rim}, shown, width + rim);
    }
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

PaneTitle title_of(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross,
                   const std::string& orientation) {
    if (kind == PaneKind::volume) return {"Volume", "", ""};
    const int axis = axis_across(kind);
    const auto i = static_cast<std::size_t>(axis);
    const std::array<std::int64_t, 3> sizes{grid.depth, grid.a_scans, grid.b_scans};
    const std::int64_t index = voxel_index(cross[i], grid, axis);
    const char* names[] = {"En face", "Side", "B-scan"};
    PaneTitle title{names[i], fmt::format("{} / {}", index, sizes[i] - 1), ""};
    if (orientation.size() == 3) title.name = medical_name(orientation[i]);
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

// Draws the current measurement, probes and the profile line: those within the section, or all in the volume. Completed
// distances and angles are part of the picture.
void Panes::draw_tool(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    const Style& style = context.style;
    const MeasureTool& tool = context.state.measure;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool is_volume = pane.kind == PaneKind::volume;
    const auto is_seen = [&](std::span<const double> place) {
        return is_volume || lies_in(pane.kind, context.work.cross_um(), place, grid);
    };
    const auto at = [&](std::span<const double> place) {
        return on_screen(pixel_of(pane.view, grid, from_centre(place, grid)), pane.place);
    };
    const float width = std::max(1.0f, style.px(1.5f));
    std::optional<ImVec2> last;
    for (std::size_t i = 0; i + 3 <= tool.places().size(); i += 3) {
        const auto place = tool.places().subspan(i, 3);
        if (!is_seen(place)) continue;
        const ImVec2 here = at(place);
        if (last) list.AddLine(*last, here, shade(style.accent, 1), width);
        draw_place(style, here, style.accent);
        last = here;
    }
    if (last && hovered_ == pane.kind) {
        const ImVec2 pointer{static_cast<float>(pane.place.left) + pointer_[0],
                             static_cast<float>(pane.place.top) + pointer_[1]};
        list.AddLine(*last, pointer, shade(style.accent, 0.8f), width);
    }
    for (const Probe& probe : tool.probes()) {
        if (!is_seen(probe.place_um)) continue;
        const ImVec2 here = at(probe.place_um);
        draw_place(style, here, ink);
        const std::string unit = short_unit(probe.unit);
        tag(style, style.numbers, {here.x + style.px(7), here.y + style.px(5)},
            short_number(probe.value) + (unit.empty() ? "" : " " + unit), ink);
    }
    if (!tool.profile() || !is_seen(tool.profile()->from) || !is_seen(tool.profile()->to)) return;
    const ImVec2 from = at(tool.profile()->from), to = at(tool.profile()->to);
    list.AddLine(from, to, shade(style.accent, 1), width);
    draw_place(style, from, style.accent);
    draw_place(style, to, style.accent);
    tag(style, style.numbers, {to.x + style.px(7), to.y + style.px(5)},
        length_text(tool.profile()->length, tool.profile()->has_spacing), style.accent);
}

// Colour bar of the flow with unit and direction at the right edge of a pane. Omitted if the picture of the volume has
// its own.
void Panes::draw_flow_bar(const PanelContext& context, const Pane& pane) const {
    const View& view = context.work.view();
    const bool has_own = pane.kind == PaneKind::volume && view.colour_bar;
    if (has_own || view.flow_shown == FlowShown::hidden || view.flow_shown == FlowShown::alone) return;
    const std::optional<FlowScale> scale = context.work.stage().exhibit()->flow_scale(view);
    if (!scale || scale->range <= 0) return;
    const Style& style = context.style;
    const ImVec2 low = low_corner(pane.place), high = high_corner(pane.place);
    const float room = high.y - low.y, height = std::min(0.45f * room, style.px(130)), width = style.px(9);
    if (height < style.px(36) || high.x - low.x < style.px(110)) return;
    const float right = high.x - style.px(10), top = low.y + 0.5f * (room - height) - style.px(12);
    const ColourMap map = colour_map(view.flow_colour_map);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const int pieces = static_cast<int>(height);
    context.state.controls.places["flow.bar." + std::to_string(static_cast<int>(pane.kind))] = {right - width, top,
                                                                                                right, top + height};
    list.AddRectFilled({right - width - 1, top - 1}, {right + 1, top + height + 1}, shade(ground, 0.9f));
    for (int i = 0; i < pieces; ++i) {
        const double up = 1 - (i + 0.5) / pieces;
        const auto colour = colour_at(map, scale->has_sign ? up : 0.5 + 0.5 * up);
        list.AddRectFilled({right - width, top + static_cast<float>(i)}, {right, top + static_cast<float>(i) + 1},
                           ImGui::GetColorU32({static_cast<float>(colour.r), static_cast<float>(colour.g),
                                               static_cast<float>(colour.b), 1}));
    }
    const auto label = [&](const std::string& text, float middle) {
        const float text_width = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, text.c_str()).x;
        tag(style, style.text, {right - width - style.px(16) - text_width, middle - 0.5f * style.text->FontSize}, text,
            ink);
    };
    const std::string number = short_number(scale->range);
    const std::string unit = scale->unit.empty() ? "" : " " + scale->unit;
    const bool has_room = high.x - low.x > style.px(220);
    label((scale->has_sign ? "+" : "") + number + unit + (scale->has_sign && has_room ? " away" : ""), top);
    if (height > style.px(60)) label("0", top + (scale->has_sign ? 0.5f * height : height));
    if (scale->has_sign) label("−" + number + (has_room ? unit + " towards" : ""), top + height);
}

// Draws the read-out below the title, away from the scale bar, with line breaks as needed.
void Panes::draw_read_out(const PanelContext& context, const Pane& pane, float top) const {
    const Style& style = context.style;
    const float left = low_corner(pane.place).x + style.px(8);
    const float room = high_corner(pane.place).x - style.px(20) - left;
    const auto width_of = [&style](const std::string& text) {
        return style.numbers->CalcTextSizeA(style.numbers->FontSize, 1e6f, 0, text.c_str()).x;
    };
    std::string text, line;
    for (const std::string& part : read_out_) {
        const std::string longer = line.empty() ? part : line + "  " + part;
        const bool fits = line.empty() || width_of(longer) <= room;
        text += fits ? (line.empty() ? part : "  " + part) : "\n" + part;
        line = fits ? longer : part;
    }
    tag(style, style.numbers, {left, top}, text, ink);
}

// Returns the vertical position below the title.
float Panes::draw_title(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    const Style& style = context.style;
    const ImVec2 low = low_corner(pane.place);
    const std::string orientation = context.work.stage().exhibit()->orientation();
    const PaneTitle title = title_of(pane.kind, grid, context.work.cross_um(), orientation);
    const ImVec2 at{low.x + style.px(8), low.y + style.px(8)};
    const ImVec2 size = tag(style, style.strong, at, title.name, colour_of(pane.kind));
    const float width = high_corner(pane.place).x - low.x;
    if (!title.index.empty() && width > style.px(140)) {
        const bool has_room = !title.length.empty() && width > style.px(260);
        tag(style, style.numbers, {at.x + size.x + style.px(4), at.y},
            has_room ? title.index + "   " + title.length : title.index, style.muted);
    }
    const float below = at.y + size.y + style.px(6);
    if (!pane.problem.empty()) return below + tag(style, style.text, {at.x, below}, pane.problem, style.trouble).y;
    const std::string text = loading_text(*context.work.stage().exhibit());
    if (pane.kind != PaneKind::volume || text.empty()) return below;
    return below + tag(style, style.text, {at.x, below}, text, style.accent).y;
}

void Panes::draw_marks(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(low_corner(pane.place), high_corner(pane.place), true);
    Exhibit& exhibit = *context.work.stage().exhibit();
    if (context.work.window().cross_hair && !exhibit.has_planes()) {
        draw_cross_hair(context.style, pane.view, grid, pane.kind, pane.place, context.work.cross_um());
    }
    if (pane.kind != PaneKind::volume)
        draw_letters(context.style, pane.place, letters_of(pane.view, grid, exhibit.orientation()));
    draw_surfaces(context, grid, pane);
    if (pane.kind == PaneKind::volume) draw_light_handles(context, pane.view, pane.place);
    draw_flow_bar(context, pane);
    draw_tool(context, grid, pane);
    const float below = draw_title(context, grid, pane);
    if (hovered_ == pane.kind && !read_out_.empty()) draw_read_out(context, pane, below);
    list.PopClipRect();
}

}  // namespace echolux
