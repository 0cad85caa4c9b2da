#include "ui/window/panes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <utility>

#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "render/camera.h"
#include "render/view/curve.h"
#include "ui/panels/panel.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"
#include "ui/workspace/layering.h"

namespace echolux {
namespace {

constexpr double cross_fade_s = 0.1;
constexpr double volume_share = 0.6;  // share of the frame time if sections are also visible

constexpr ImGuiWindowFlags bare = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground |
                                  ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                  ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
                                  ImGuiWindowFlags_NoScrollWithMouse;

ImVec2 corner(const Region& place) {
    return {static_cast<float>(place.left), static_cast<float>(place.top)};
}
ImVec2 extent(const Region& place) {
    return {static_cast<float>(place.width), static_cast<float>(place.height)};
}

// True for a line scan, of which the volume and the other sections would show lines. Known before the first volume.
bool is_single_b_scan(ViewSource& view_source) {
    if (const LiveController* live = view_source.live()) return live->scan().geometry.b_scans == 1;
    const std::optional<VolumeGrid> grid = view_source.grid();
    return grid && grid->b_scans == 1;
}

}  // namespace

void Panes::lay_out(const PanelContext& context, const Region& centre) {
    const WindowSettings& settings = context.work.settings().window();
    ViewSource& view_source = *context.work.viewer().view_source();
    const bool has_sections = !view_source.has_planes();  // also before the first volume
    const PaneLayout layout = has_sections ? settings.layout : PaneLayout::volume;
    PanePlan plan = plan_panes(centre, layout, settings.pane_split, context.style.scale);
    if (layout != PaneLayout::volume && is_single_b_scan(view_source)) plan = {{{PaneKind::b_scan, centre}}, {}};
    if (full_size_) {
        const bool is_there =
            std::ranges::any_of(plan.panes, [this](const PaneArea& p) { return p.kind == *full_size_; });
        if (is_there) plan = {{{*full_size_, centre}}, {}};
    }
    for (Pane& pane : panes_) {
        const auto found = std::ranges::find(plan.panes, pane.kind, &PaneArea::kind);
        pane.place = found == plan.panes.end() ? Region{} : found->place;
        if (pane.place.width > 0) pane.view = view_of(context, pane);
    }
    drag_splits(context, plan);
}

// Time for rays in a frame: the rest after the interface, but at least 40 %.
double Panes::rays_ms(const PanelContext& context) {
    const double frame_ms = context.work.view().frame_ms;
    const double interface_ms = 1e3 * context.state.pace.interface_gpu_s.value_or(0);
    constexpr double min_share = 0.4;
    return std::max(min_share * frame_ms, frame_ms - interface_ms);
}

// The frame time is divided between the visible panes.
View Panes::view_of(const PanelContext& context, const Pane& pane) const {
    const auto others = std::ranges::count_if(panes_, [](const Pane& p) { return p.place.width > 0; }) - 1;
    const bool is_volume = pane.kind == PaneKind::volume;
    const double share = others < 1 ? 1 : is_volume ? volume_share : (1 - volume_share) / static_cast<double>(others);
    const View& view = context.work.view();
    PaneRequest wanted{pane.kind,
                       std::max<std::int64_t>(pane.place.width, 1),
                       std::max<std::int64_t>(pane.place.height, 1),
                       context.work.cross_um(),
                       pane.look,
                       std::max(1.0, rays_ms(context) * share),
                       context.style.px(13)};
    const WindowSettings& settings = context.work.settings().window();
    if (!settings.link_levels) wanted.levels = ValueRange{settings.section_low, settings.section_high};
    const std::optional<VolumeGrid> grid = context.work.viewer().view_source()->grid();
    if (grid) wanted.grid = &*grid;
    wanted.orientation = context.work.viewer().view_source()->orientation();
    wanted.convention = settings.section_convention;
    if (const auto stamp = context.work.viewer().view_source()->stamp()) wanted.moment_s = stamp->time_s;
    return pane_view(view, wanted);
}

void Panes::draw(const PanelContext& context, const Region& centre) {
    ViewSource& view_source = *context.work.viewer().view_source();
    // Another document: also if it has the same address as the previous one.
    if (&view_source != shown_ || life_.lock() != view_source.life().lock()) {
        forget_pictures();
        show_whole_sections();
        context.state.measure.forget();
        shown_ = &view_source;
        life_ = view_source.life();
    }
    const std::optional<VolumeGrid> grid = view_source.grid();
    // Marks keep the dark theme, because pictures are dark.
    Style over_pictures = context.style;
    set_colours(over_pictures, WindowTheme::dark);
    const PanelContext over{context.work, over_pictures, context.state};
    ImGui::SetNextWindowPos(corner(centre));
    ImGui::SetNextWindowSize(extent(centre));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("panes", nullptr, bare);
    ImGui::PopStyleVar();
    lay_out(context, centre);
    const std::optional<PaneKind> before = std::exchange(hovered_, std::nullopt);
    for (Pane& pane : panes_) {
        if (pane.place.width == 0) continue;
        ImGui::SetCursorScreenPos(corner(pane.place));
        ImGui::PushID(static_cast<int>(pane.kind));
        ImGui::InvisibleButton(
            "pane", extent(pane.place),
            ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
        constexpr std::array names{"pane.volume", "pane.b-scan", "pane.en-face", "pane.side"};
        note_place(context, names[static_cast<std::size_t>(pane.kind)]);
        if (grid) handle(context, *grid, pane);
        ImGui::PopID();
    }
    if (hovered_ != before) {
        read_out_.clear();
        is_probed_ = !hovered_;
        context.state.measure.under_pointer.reset();
    }
    close_edit(context);
    if (grid) look_under_pointer(context, view_source);
    for (Pane& pane : panes_) {
        if (pane.place.width == 0 || !grid) continue;
        pane.marks = displayed(context, pane);
        draw_marks(over, *grid, pane);
    }
    if (const std::string text = grid ? "" : loading_text(view_source); !text.empty()) {
        ImGui::SetCursorScreenPos({corner(centre).x + context.style.px(12), corner(centre).y + context.style.px(10)});
        muted_text(over, text);
    }
    ImGui::End();
}

void Panes::drag_splits(const PanelContext& context, const PanePlan& plan) {
    for (const PaneSplit& split : plan.splits) {
        ImGui::SetCursorScreenPos(corner(split.handle));
        ImGui::PushID(static_cast<int>(&split - plan.splits.data()));
        ImGui::InvisibleButton("split", extent(split.handle));
        ImGui::PopID();
        if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
            ImGui::SetMouseCursor(split.is_upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
        }
        if (!ImGui::IsItemActive() && !ImGui::IsItemDeactivated()) continue;
        const ImVec2 at = ImGui::GetIO().MousePos;
        std::vector<double> shares = context.work.settings().window().pane_split;
        shares.resize(std::max(shares.size(), split.share + 1), 0.5);
        const double share = (static_cast<double>(split.is_upright ? at.x : at.y) - static_cast<double>(split.begin)) /
                             static_cast<double>(split.length);
        shares[split.share] = std::clamp(share, 0.2, 0.8);
        context.work.change("window.pane_split", shares, ImGui::IsItemActive() ? Edit::in_progress : Edit::done);
    }
}

// Starts rays for changed panes. If rays are slow, only one pane is in progress at a time, so that the interface waits
// for at most one pane.
void Panes::follow(const PanelContext& context) {
    ViewSource* view_source = context.work.viewer().view_source();
    if (view_source == nullptr || view_source != shown_) return;
    const Renderer& renderer = context.work.viewer().renderer();
    if (!are_rays_done(renderer)) return;
    const double now_s = context.work.now_s();
    if (next_ == 0) {
        if (has_cast_) rays_s_ = now_s - round_s_;
        has_cast_ = false;
        round_s_ = now_s;
    }
    const bool one_by_one = are_rays_slow();
    do {
        Pane& pane = panes_[next_];
        if (pane.place.width > 0) follow(context, pane, *view_source);
        next_ = (next_ + 1) % panes_.size();
        has_cast_ = !are_rays_done(renderer) || has_cast_;
    } while (next_ != 0 && !(one_by_one && !rays_are_done_));
}

bool Panes::are_rays_slow() const {
    constexpr double slow_s = 0.03;
    return rays_s_ >= slow_s;
}

// With slow rays, displays the last finished picture of a pane instead of waiting.
std::vector<ScreenPane> Panes::shown(const PanelContext& context) const {
    std::vector<ScreenPane> shown;
    const ViewSource* view_source = context.work.viewer().view_source();
    if (view_source == nullptr || view_source != shown_) return shown;
    for (const Pane& pane : panes_) {
        if (pane.place.width == 0 || !pane.picture || pane.picture->drawing.image == nullptr) continue;
        shown.push_back({is_late(pane) ? pane.done : pane.picture->drawing, pane.place});
    }
    return shown;
}

// The last finished picture is displayed until the requested one is finished.
bool Panes::is_late(const Pane& pane) const {
    return pane.done.image != nullptr && are_rays_slow();
}

// A picture that the screen waits for has the requested camera.
std::shared_ptr<const Panes::PictureView> Panes::displayed(const PanelContext& context, const Pane& pane) const {
    if (is_late(pane) && pane.done_taken) return pane.done_taken;
    return std::make_shared<const PictureView>(PictureView{pane.view, context.work.cross_um()});
}

std::optional<double> Panes::shown_azimuth_deg(PaneKind kind) const {
    const Pane& pane = panes_[static_cast<std::size_t>(kind)];
    const auto& taken = is_late(pane) ? pane.done_taken : pane.taken;
    if (taken == nullptr) return std::nullopt;
    return taken->view.azimuth_deg;
}

std::optional<double> Panes::marked_azimuth_deg(PaneKind kind) const {
    const Pane& pane = panes_[static_cast<std::size_t>(kind)];
    if (pane.marks == nullptr) return std::nullopt;
    return pane.marks->view.azimuth_deg;
}

bool Panes::is_laid_out_for_others() const {
    return std::ranges::any_of(panes_, [this](const Pane& pane) {
        return pane.place.width > 0 && pane.marks && is_late(pane) && pane.done_taken && pane.done_taken != pane.marks;
    });
}

bool Panes::are_rays_done(const Renderer& renderer) {
    bool all = true;
    for (Pane& pane : panes_) {
        if (pane.place.width == 0 || !pane.picture || pane.picture->drawing.image == nullptr) continue;
        const bool is_done = renderer.is_finished(pane.picture->drawing);
        if (is_done) pane.done = pane.picture->drawing;
        if (is_done) pane.done_taken = pane.taken;
        all = all && is_done;
    }
    rays_are_done_ = all;
    return all;
}

// If settings are invalid, the pane keeps the previous picture and reports the error.
void Panes::follow(const PanelContext& context, Pane& pane, ViewSource& view_source) {
    try {
        pane.view = view_of(context, pane);
        View shown = pane.view;
        shown.cross_fade_s = cross_fade_s;
        const std::uint64_t before = pane.picture ? pane.picture->drawing.value : 0;
        pane.picture = view_source.follow(shown, context.work.now_s(), static_cast<std::size_t>(pane.kind));
        if (pane.picture && (pane.picture->drawing.value != before || !pane.taken))
            pane.taken = std::make_shared<const PictureView>(PictureView{pane.view, context.work.cross_um()});
        if (!pane.problem.empty()) context.work.notices().settle("view");
        pane.problem.clear();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) throw;
        if (pane.problem != error.line()) context.work.notices().report_problem("view", error);
        pane.problem = error.line();
    }
}

bool Panes::is_final() const {
    return !waits_for_rays() && std::ranges::all_of(panes_, [](const Pane& pane) {
        return pane.place.width == 0 || !pane.problem.empty() || (pane.picture && pane.picture->is_final);
    });
}

bool Panes::needs_turn() const {
    return drag_ != Drag::none || edited_s_ >= 0 || (hovered_ && !is_probed_);
}

std::optional<Region> Panes::place_of(PaneKind kind) const {
    const Pane& pane = panes_[static_cast<std::size_t>(kind)];
    if (pane.place.width == 0) return std::nullopt;
    return pane.place;
}

std::optional<PanePicture> Panes::volume_picture() const {
    return panes_[0].picture;
}

void Panes::toggle_full_size(PaneKind kind) {
    full_size_ = full_size_ == kind ? std::nullopt : std::optional(kind);
}

bool Panes::leave_full_size() {
    return std::exchange(full_size_, std::nullopt).has_value();
}

void Panes::show_whole_sections() {
    for (Pane& pane : panes_) pane.look = {};
}

void Panes::hide() {
    for (Pane& pane : panes_) pane.place = {};
}

void Panes::forget_pictures() {
    shown_ = nullptr;
    for (Pane& pane : panes_) {
        pane.picture.reset();
        pane.done = {};
        pane.taken = pane.done_taken = pane.marks = nullptr;
        pane.problem.clear();
    }
}

// ---- Titles, cross-hair and read-out above the pictures of the panes.

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
    list.AddRectFilled(at, {at.x + size.x + 2 * pad.x, at.y + size.y + 2 * pad.y}, shade(style.ground, 0.86f),
                       style.px(4));
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
        list.AddText(style.strong, style.strong->FontSize, {x + 1, y + 1}, shade(style.ground, 1), letter.c_str());
        list.AddText(style.strong, style.strong->FontSize, {x, y}, shade(style.ink, 1), letter.c_str());
    };
    draw(letters.left, low.x + edge, middle.y - half);
    draw(letters.right, high.x - edge - 2 * half, middle.y - half);
    const bool is_under_title = high.x - low.x < style.px(300);
    draw(letters.top, middle.x - half, low.y + (is_under_title ? style.px(36) : edge));
    draw(letters.bottom, middle.x - half, high.y - edge - 2 * half);
}

// Letters of the patient's sides at the faces of the volume's box. Empty orientation: none.
void draw_box_letters(const PanelContext& context, const View& view, const VolumeGrid& grid, const Region& place,
                      const std::string& orientation) {
    if (orientation.size() != 3 || view.projection == Projection::panorama) return;
    constexpr double outside = 0.56;  // of an edge, from the centre
    const Style& style = context.style;
    for (int axis = 0; axis < 3; ++axis) {
        for (const double sign : {-1.0, 1.0}) {
            const std::string text = side_of_patient(orientation, axis, sign > 0);
            glm::dvec3 at(0);
            at[axis] = sign * outside * volume_extent(grid)[axis];
            const ImVec2 pixel = on_screen(pixel_of(view, grid, at), place);
            const ImVec2 low{pixel.x - 0.5f * style.strong->FontSize, pixel.y - 0.5f * style.strong->FontSize};
            ImDrawList& list = *ImGui::GetWindowDrawList();
            list.AddText(style.strong, style.strong->FontSize, {low.x + 1, low.y + 1}, shade(style.ground, 1),
                         text.c_str());
            list.AddText(style.strong, style.strong->FontSize, low, shade(style.ink, 1), text.c_str());
            context.state.controls.places["box." + text] = {low.x, low.y, low.x + style.strong->FontSize,
                                                            low.y + style.strong->FontSize};
        }
    }
}

// Mark of a clicked position: a small cross with a dark rim.
void draw_place(const Style& style, const ImVec2& at, const ImVec4& colour) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float arm = style.px(5), width = std::max(1.0f, style.px(1.5f));
    for (const auto& [rim, shown] : {std::pair(2.0f, shade(style.ground, 0.8f)), std::pair(0.0f, shade(colour, 1))}) {
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
    return Style{}.ink;
}

PaneTitle title_of(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross,
                   const std::string& orientation) {
    if (kind == PaneKind::volume) return {"Volume", "", ""};
    const int axis = axis_across(kind);
    const auto i = index(axis);
    const std::array<std::int64_t, 3> sizes{grid.depth, grid.a_scans, grid.b_scans};
    const std::int64_t index = voxel_index(cross[i], grid, axis);
    const char* names[] = {"En face", "Side", "B-scan"};
    PaneTitle title{names[i], fmt::format("{} / {}", index + 1, sizes[i]), ""};
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
        if (view.show != ViewContent::volume) return;
        const glm::dvec3 half = 0.5 * volume_extent(grid);
        const Camera camera(view, volume_extent(grid));
        const glm::dvec2 middle(0.5 * static_cast<double>(place.width), 0.5 * static_cast<double>(place.height));
        for (const PaneKind section : {PaneKind::b_scan, PaneKind::en_face, PaneKind::side}) {
            const int across = axis_across(section);
            draw_outline(style, camera, middle, half, across, at[across], place, shade(colour_of(section), 0.55f));
        }
        return;
    }
    // The line of another section is perpendicular to the axis across that section.
    const glm::dvec2 pixel = pixel_of(view, grid, at);
    for (const PaneKind section : {PaneKind::b_scan, PaneKind::en_face, PaneKind::side}) {
        if (section == kind) continue;
        glm::dvec3 further = at;
        further[axis_across(section)] += volume_extent(grid)[axis_across(section)];
        const glm::dvec2 by = glm::abs(pixel_of(view, grid, further) - pixel);
        draw_section_line(style, on_screen(pixel, place), by.x > by.y, place, shade(colour_of(section), 0.7f));
    }
}

// Draws the current measurement, probes and the profile line: those within the section, or all in the volume. Completed
// distances and angles are part of the picture.
void Panes::draw_tool(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    const Style& style = context.style;
    const MeasureTool& tool = context.state.measure;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const bool is_volume = pane.kind == PaneKind::volume;
    const auto is_seen = [&](std::span<const double> place) {
        return is_volume || is_inside(pane.kind, pane.marks->cross_um, place, grid);
    };
    const auto at = [&](std::span<const double> place) {
        return on_screen(pixel_of(pane.marks->view, grid, from_centre(place, grid)), pane.place);
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
        draw_place(style, here, style.ink);
        const std::string unit = short_unit(probe.unit);
        tag(style, style.numbers, {here.x + style.px(7), here.y + style.px(5)},
            short_number(probe.value) + (unit.empty() ? "" : " " + unit), style.ink);
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
// its own. Returns its left edge, which the read-out does not pass. In a small pane with a read-out, the bar has no
// labels.
float Panes::draw_flow_bar(const PanelContext& context, const Pane& pane, bool has_read_out) const {
    const View& view = context.work.view();
    const bool has_own = pane.kind == PaneKind::volume && view.colour_bar;
    const float edge = high_corner(pane.place).x - context.style.px(12);
    if (has_own || view.flow_shown == FlowDisplay::hidden || view.flow_shown == FlowDisplay::alone) return edge;
    const std::optional<FlowScale> scale = context.work.viewer().view_source()->flow_scale(view);
    if (!scale || scale->range <= 0) return edge;
    const Style& style = context.style;
    const ImVec2 low = low_corner(pane.place), high = high_corner(pane.place);
    const float room = high.y - low.y, height = std::min(0.45f * room, style.px(130)), width = style.px(9);
    if (height < style.px(36) || high.x - low.x < style.px(110)) return edge;
    const float right = high.x - style.px(10), top = low.y + 0.5f * (room - height) - style.px(12);
    const ColourMap map = colour_map(view.flow_colour_map);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const int pieces = static_cast<int>(height);
    context.state.controls.places["flow.bar." + std::to_string(static_cast<int>(pane.kind))] = {right - width, top,
                                                                                                right, top + height};
    list.AddRectFilled({right - width - 1, top - 1}, {right + 1, top + height + 1}, shade(style.ground, 0.9f));
    for (int i = 0; i < pieces; ++i) {
        const double up = 1 - (i + 0.5) / pieces;
        const auto colour = colour_at(map, scale->has_sign ? up : 0.5 + 0.5 * up);
        list.AddRectFilled({right - width, top + static_cast<float>(i)}, {right, top + static_cast<float>(i) + 1},
                           ImGui::GetColorU32({static_cast<float>(colour.r), static_cast<float>(colour.g),
                                               static_cast<float>(colour.b), 1}));
    }
    float left = right - width - style.px(8);
    if (has_read_out && high.x - low.x < style.px(360)) return left;
    const auto label = [&](const std::string& text, float middle) {
        const float text_width = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, text.c_str()).x;
        const float from = right - width - style.px(16) - text_width;
        tag(style, style.text, {from, middle - 0.5f * style.text->FontSize}, text, style.ink);
        left = std::min(left, from - style.px(8));
    };
    const std::string number = short_number(scale->range);
    const std::string unit = scale->unit.empty() ? "" : " " + scale->unit;
    const bool has_room = high.x - low.x > style.px(220);
    const auto [positive, negative] = flow_words(context.work);
    const std::string sign = scale->has_sign ? "+" : "";
    label(sign + number + unit + (scale->has_sign && has_room ? fmt::format(" {}", positive) : ""), top);
    if (height > style.px(60)) label("0", top + (scale->has_sign ? 0.5f * height : height));
    if (scale->has_sign) label("−" + number + (has_room ? fmt::format("{} {}", unit, negative) : ""), top + height);
    context.state.controls.places["flow.bar." + std::to_string(static_cast<int>(pane.kind))] = {left, top, right,
                                                                                                top + height};
    return left;
}

// Draws the read-out below the title, away from the scale bar and up to `right`, with line breaks as needed.
void Panes::draw_read_out(const PanelContext& context, const Pane& pane, float top, float right) const {
    const Style& style = context.style;
    const float left = low_corner(pane.place).x + style.px(8);
    const float room = right - style.px(8) - left;
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
    const ImVec2 size = tag(style, style.numbers, {left, top}, text, style.ink);
    const bool has_velocity = context.state.measure.under_pointer && context.state.measure.under_pointer->velocity;
    context.state.controls.places[has_velocity ? "read-out.velocity" : "read-out"] = {left, top, left + size.x,
                                                                                      top + size.y};
}

// Returns the vertical position below the title.
float Panes::draw_title(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    const Style& style = context.style;
    const ImVec2 low = low_corner(pane.place);
    const std::string orientation = context.work.viewer().view_source()->orientation();
    const PaneTitle title = title_of(pane.kind, grid, pane.marks->cross_um, orientation);
    const ImVec2 at{low.x + style.px(8), low.y + style.px(8)};
    const ImVec2 size = tag(style, style.strong, at, title.name, colour_of(pane.kind));
    const float width = high_corner(pane.place).x - low.x;
    if (!title.index.empty() && width > style.px(140)) {
        const bool has_room = !title.length.empty() && width > style.px(260);
        tag(style, style.numbers, {at.x + size.x + style.px(4), at.y},
            has_room ? title.index + "   " + title.length : title.index, style.muted);
    }
    const float below = at.y + size.y + style.px(6);
    // The status line has the reason.
    if (!pane.problem.empty())
        return below + tag(style, style.text, {at.x, below}, "previous picture", style.warning).y;
    const std::string text = loading_text(*context.work.viewer().view_source());
    if (pane.kind != PaneKind::volume || text.empty()) return below;
    return below + tag(style, style.text, {at.x, below}, text, style.accent).y;
}

void Panes::draw_marks(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect(low_corner(pane.place), high_corner(pane.place), true);
    ViewSource& view_source = *context.work.viewer().view_source();
    if (context.work.settings().window().cross_hair && !view_source.has_planes()) {
        draw_cross_hair(context.style, pane.marks->view, grid, pane.kind, pane.place, pane.marks->cross_um);
    }
    if (pane.kind == PaneKind::volume)
        draw_box_letters(context, pane.marks->view, grid, pane.place, view_source.orientation());
    else
        draw_letters(context.style, pane.place, letters_of(pane.marks->view, grid, view_source.orientation()));
    draw_surfaces(context, grid, pane);
    if (pane.kind == PaneKind::volume) draw_light_handles(context, pane.marks->view, pane.place);
    const bool has_read_out = hovered_ == pane.kind && !read_out_.empty();
    const float right = draw_flow_bar(context, pane, has_read_out);
    draw_tool(context, grid, pane);
    const float below = draw_title(context, grid, pane);
    if (has_read_out) draw_read_out(context, pane, below, right);
    list.PopClipRect();
}

// ---- Surfaces of layers above the sections, and dragging them.

namespace {

constexpr float near_px = 9;  // maximum distance of the pointer from a surface

bool is_across_lines(PaneKind kind) {
    return kind == PaneKind::b_scan || kind == PaneKind::side;
}

// The A-scans of a section in order: those of one B-scan, or one of each B-scan.
struct SectionLines {
    std::int64_t fixed, count;
    bool is_b_scan;

    std::array<std::int64_t, 2> a_and_b(std::int64_t i) const {
        return is_b_scan ? std::array{i, fixed} : std::array{fixed, i};
    }
    std::size_t line(std::int64_t i, std::int64_t a_scans) const {
        const auto [a, b] = a_and_b(i);
        return index(b * a_scans + a);
    }
};

SectionLines lines_of_section(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross) {
    const bool is_b_scan = kind == PaneKind::b_scan;
    const int axis = axis_across(kind);
    return {voxel_index(cross[index(axis)], grid, axis), is_b_scan ? grid.a_scans : grid.b_scans, is_b_scan};
}

ImVec2 pixel_of_place(const View& view, const VolumeGrid& grid, const Region& place, float row, std::int64_t a,
                      std::int64_t b) {
    const std::array<double, 3> edges = voxel_edges(grid);
    const std::array<double, 3> at{static_cast<double>(row) * edges[0], static_cast<double>(a) * edges[1],
                                   static_cast<double>(b) * edges[2]};
    const glm::dvec2 pixel = pixel_of(view, grid, from_centre(at, grid));
    return {static_cast<float>(place.left) + static_cast<float>(pixel.x),
            static_cast<float>(place.top) + static_cast<float>(pixel.y)};
}

// Returns surfaces that match the size of the volume and are to be displayed, otherwise nullptr.
const Surfaces* surfaces_over(const PanelContext& context, const VolumeGrid& grid, PaneKind kind) {
    const Surfaces* surfaces = context.work.layering().surfaces();
    const bool is_seen = surfaces != nullptr && is_across_lines(kind) && surfaces->a_scans == grid.a_scans &&
                         surfaces->b_scans == grid.b_scans && context.work.layering().grid().depth == grid.depth;
    return is_seen && (context.work.settings().tissue().layer_display.shown || context.work.layering().edits) ? surfaces
                                                                                                              : nullptr;
}

// Fractional depth row at a pixel.
double row_at(const View& view, const VolumeGrid& grid, const glm::dvec2& pixel) {
    const glm::dvec3 place = place_at(view, grid, pixel);
    return place.x / voxel_edges(grid)[0] + 0.5 * static_cast<double>(grid.depth - 1);
}

}  // namespace

void Panes::draw_surfaces(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) const {
    const Surfaces* surfaces = surfaces_over(context, grid, pane.kind);
    if (surfaces == nullptr) return;
    const SectionLines lines = lines_of_section(pane.kind, grid, pane.marks->cross_um);
    const std::optional<std::size_t> held = context.work.layering().dragged_surface();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    for (std::size_t k = 0; k < surfaces->all.size(); ++k) {
        const ImU32 colour = ImGui::GetColorU32(drawn_colour_of_surface(k));
        const float width = std::max(1.0f, context.style.px(held == k ? 2.5f : 1.5f));
        std::optional<ImVec2> last;
        for (std::int64_t i = 0; i < lines.count; ++i) {
            const float row = surfaces->all[k].rows[lines.line(i, surfaces->a_scans)];
            // Unknown positions are gaps in the line.
            if (!std::isfinite(row)) {
                last.reset();
                continue;
            }
            const auto [a, b] = lines.a_and_b(i);
            const ImVec2 here = pixel_of_place(pane.marks->view, grid, pane.place, row, a, b);
            if (last) list.AddLine(*last, here, colour, width);
            last = here;
        }
    }
}

// Starts to drag the nearest surface if it is close to the pointer. Returns false otherwise.
bool Panes::begin_surface_drag(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) {
    const Surfaces* surfaces = surfaces_over(context, grid, pane.kind);
    if (surfaces == nullptr || !context.work.layering().edits) return false;
    const ImVec2 pointer = ImGui::GetIO().MousePos;
    const glm::dvec2 at{static_cast<double>(pointer.x) - static_cast<double>(pane.place.left),
                        static_cast<double>(pointer.y) - static_cast<double>(pane.place.top)};
    const SectionLines lines = lines_of_section(pane.kind, grid, context.work.cross_um());
    const glm::dvec3 place = place_at(pane.view, grid, at);
    const int along = lines.is_b_scan ? 1 : 2;
    const std::int64_t i = voxel_index(place[along], grid, along);
    const auto [a, b] = lines.a_and_b(i);
    std::optional<std::size_t> nearest;
    float nearest_px = context.style.px(near_px);
    for (std::size_t k = 0; k < surfaces->all.size(); ++k) {
        const float row = surfaces->all[k].rows[lines.line(i, surfaces->a_scans)];
        if (!std::isfinite(row)) continue;
        const float away = std::abs(pixel_of_place(pane.view, grid, pane.place, row, a, b).y - pointer.y);
        if (away > nearest_px) continue;
        nearest_px = away;
        nearest = k;
    }
    if (nearest) context.work.layering().begin_drag(context.work, *nearest, a, b);
    return nearest.has_value();
}

void Panes::drag_surface(const PanelContext& context, const VolumeGrid& grid, const Pane& pane, const glm::dvec2& at) {
    context.work.layering().drag_to(context.work, static_cast<float>(row_at(pane.view, grid, at)));
}

// ---- Pointer input in panes.

// Interval of probes, which read from the device.
constexpr double probe_every_s = 0.1, probe_live_every_s = 0.25;
constexpr double wheel_rests_s = 0.4;  // pause after which the wheel starts another undo step
constexpr double wheel_zoom = 1.12;    // per notch

static glm::dvec2 pointer_in(const Region& place) {
    const ImVec2 at = ImGui::GetIO().MousePos;
    return {static_cast<double>(at.x) - static_cast<double>(place.left),
            static_cast<double>(at.y) - static_cast<double>(place.top)};
}

static glm::dvec2 from_middle(const Region& place, const glm::dvec2& at) {
    return at - 0.5 * glm::dvec2(static_cast<double>(place.width), static_cast<double>(place.height));
}

static glm::dvec2 pointer_moved() {
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    return {by.x, by.y};
}

static std::optional<int> pressed_button() {
    for (const int button : {0, 1, 2}) {
        if (ImGui::IsMouseClicked(button)) return button;
    }
    return std::nullopt;
}

static bool is_measuring(const PanelContext& context) {
    return context.state.measure.kind() != MeasureTool::Kind::none;
}

// Parts of the read-out, which are not broken in a narrow pane. Positions in medical volumes are those of the patient,
// because depth and A-scans have no meaning there. Voxels count from 1, like the slices in titles.
static std::vector<std::string> read_out(const Probe& probe, const VolumeGrid& grid, const std::string& orientation) {
    const std::string unit = short_unit(probe.unit);
    std::vector<std::string> parts{short_number(probe.value) + (unit.empty() ? "" : " " + unit)};
    if (probe.velocity) parts.push_back("flow " + signed_number(*probe.velocity) + " " + probe.velocity_unit);
    if (const std::string of_patient = patient_position(probe.place_um, grid, orientation); !of_patient.empty()) {
        parts.push_back(of_patient);
    } else if (probe.has_spacing) {
        const PositionText place = place_text(probe.place_um, true);
        parts.push_back("depth " + place.numbers[0] + " " + place.unit);
        parts.push_back("A " + place.numbers[1] + " " + place.unit);
        parts.push_back("B " + place.numbers[2] + " " + place.unit);
    }
    parts.push_back(fmt::format("voxel {}, {}, {}", probe.voxel[0] + 1, probe.voxel[1] + 1, probe.voxel[2] + 1));
    return parts;
}

// Handles the pointer on the item of a pane. Called directly after the item.
void Panes::handle(const PanelContext& context, const VolumeGrid& grid, Pane& pane) {
    const bool is_hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    if (is_hovered) {
        hovered_ = pane.kind;
        const glm::dvec2 at = pointer_in(pane.place);
        const std::array<float, 2> now{static_cast<float>(at.x), static_cast<float>(at.y)};
        if (now != pointer_) is_probed_ = false;
        pointer_ = now;
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0) && !is_measuring(context)) {
        drag_ = Drag::none;
        if (pane.kind != PaneKind::volume) move_cross(context, grid, cross_before_click_);
        toggle_full_size(pane.kind);
        return;
    }
    if (ImGui::IsItemActivated()) begin_drag(context, grid, pane);
    if (ImGui::IsItemActive() && drag_ != Drag::none) drag_on(context, grid, pane);
    if (ImGui::IsItemDeactivated()) {
        if (has_moved_ && drag_ == Drag::values)
            drag_values(context, pane, {0, 0}, Edit::done);
        else if (has_moved_ && drag_ == Drag::light)
            context.work.history().close();
        else if (has_moved_ && pane.kind == PaneKind::volume)
            context.work.view_edited(Edit::done);
        if (drag_ == Drag::surface) context.work.layering().end_drag(context.work);
        if (!has_moved_ && is_measuring(context)) measure_under_pointer(context);
        drag_ = Drag::none;
    }
    const float notches = ImGui::GetIO().MouseWheel;
    if (is_hovered && notches != 0) wheel(context, grid, pane, notches);
}

// Lights and surfaces take precedence over the usual action of the button.
void Panes::begin_drag(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) {
    const ImGuiIO& io = ImGui::GetIO();
    const Grip grip{pressed_button().value_or(0), io.KeyShift, io.KeyCtrl};
    const std::array<double, 3>& cross = context.work.cross_um();
    cross_before_click_ = {cross[0], cross[1], cross[2]};
    drag_ = pane.kind == PaneKind::volume ? drag_in_volume(grip, context.work.settings().window().mouse_slicer)
                                          : drag_in_section(grip);
    if (drag_ == Drag::cross && is_measuring(context)) drag_ = Drag::none;
    if (drag_ == Drag::cross && begin_surface_drag(context, grid, pane)) drag_ = Drag::surface;
    held_light_.reset();
    if (pane.kind == PaneKind::volume && grip.button == 0 && !grip.ctrl && !is_measuring(context))
        held_light_ = light_under(context, pane.view, pane.place, pointer_in(pane.place));
    if (held_light_) drag_ = Drag::light;
    has_moved_ = false;
}

void Panes::drag_on(const PanelContext& context, const VolumeGrid& grid, Pane& pane) {
    const glm::dvec2 by = pointer_moved(), at = pointer_in(pane.place);
    const bool moves = by.x != 0 || by.y != 0;
    if (drag_ == Drag::cross && (moves || ImGui::IsItemActivated())) {
        move_cross(context, grid, place_at(pane.view, grid, at));
    }
    if (!moves || !has_dragged(context)) return;
    has_moved_ = true;
    if (drag_ == Drag::light) return drag_light(context, *held_light_, pane.place, at, ImGui::GetIO().KeyShift);
    if (pane.kind == PaneKind::volume) {
        // Moved through and not copied, because this runs at every event.
        pane.view = dragged(std::move(pane.view), drag_, by, from_middle(pane.place, at), volume_extent(grid));
        static_cast<Pose&>(context.work.view()) = pane.view;
        context.work.view_edited(Edit::in_progress);
    } else if (drag_ == Drag::pan) {
        pane.look = look_dragged(pane.look, pane.view, grid, by);
    } else if (drag_ == Drag::zoom) {
        const glm::dvec2 middle(0.5 * static_cast<double>(pane.place.width),
                                0.5 * static_cast<double>(pane.place.height));
        pane.look = look_enlarged(pane.look, pane.view, grid, middle, zoom_factor(by.y));
    } else if (drag_ == Drag::surface) {
        drag_surface(context, grid, pane, at);
    } else if (drag_ == Drag::values) {
        drag_values(context, pane, by, Edit::in_progress);
    }
}

// A click tolerates small movements.
bool Panes::has_dragged(const PanelContext& context) const {
    if (has_moved_) return true;
    constexpr float max_click_px = 3;  // at scale 1
    const ImVec2 by = ImGui::GetMouseDragDelta(ImGui::IsMouseDown(0) ? 0 : ImGui::IsMouseDown(1) ? 1 : 2, 0);
    return std::hypot(by.x, by.y) > context.style.px(max_click_px);
}

// Changes window and level of all sections, and of the volume if it is linked.
void Panes::drag_values(const PanelContext& context, const Pane& pane, const glm::dvec2& by, Edit edit) {
    const bool is_linked = context.work.settings().window().link_levels;
    const auto function = function_in_use(context.work, is_linked ? context.work.view() : view_of(context, pane));
    if (!function) return;
    const ValueRange range =
        values_dragged(function->range, by, static_cast<double>(std::min(pane.place.width, pane.place.height)));
    const std::string low = is_linked ? "view.low" : "window.section_low";
    const std::string high = is_linked ? "view.high" : "window.section_high";
    context.work.change_together(low, {{low, range.low}, {high, range.high}}, edit);
}

// The wheel zooms the volume. In sections it moves the cross-hair by one slice, or zooms with Ctrl.
void Panes::wheel(const PanelContext& context, const VolumeGrid& grid, Pane& pane, float notches) {
    const glm::dvec2 at = pointer_in(pane.place);
    const double factor = std::pow(wheel_zoom, static_cast<double>(notches));
    if (pane.kind == PaneKind::volume) {
        pane.view = dollied(std::move(pane.view), factor, from_middle(pane.place, at), volume_extent(grid));
        static_cast<Pose&>(context.work.view()) = pane.view;
        context.work.view_edited(Edit::in_progress);
        edited_s_ = context.work.now_s();
    } else if (ImGui::GetIO().KeyCtrl) {
        pane.look = look_enlarged(pane.look, pane.view, grid, at, factor);
    } else {
        const int axis = axis_across(pane.kind);
        const std::array<double, 3>& cross = context.work.cross_um();
        glm::dvec3 place(cross[0], cross[1], cross[2]);
        place[axis] += (notches > 0 ? 1 : -1) * voxel_edges(grid)[index(axis)];
        move_cross(context, grid, place);
    }
}

void Panes::close_edit(const PanelContext& context) {
    if (edited_s_ < 0 || context.work.now_s() - edited_s_ < wheel_rests_s) return;
    edited_s_ = -1;
    context.work.view_edited(Edit::done);
}

// A live session reprocesses the B-scan at the cross-hair first.
void Panes::move_cross(const PanelContext& context, const VolumeGrid& grid, const glm::dvec3& place) {
    const std::array<double, 3> inside = kept_inside({place.x, place.y, place.z}, grid);
    context.work.set_cross_um(inside);
    if (LiveController* live = context.work.viewer().view_source()->live())
        live->look_at(voxel_index(inside[2], grid, 2));
}

// Probes the displayed picture immediately, without waiting for it to be refined.
void Panes::measure_under_pointer(const PanelContext& context) {
    ViewSource& view_source = *context.work.viewer().view_source();
    context.state.measure.under_pointer = hovered_ ? probe(view_source) : std::nullopt;
    if (context.state.measure.under_pointer)
        context.state.measure.take(context.work, *context.state.measure.under_pointer);
    else
        context.work.notices().note("view", "nothing is visible there: click on the structure to measure");
}

std::optional<Probe> Panes::probe(ViewSource& view_source) {
    const Pane& pane = panes_[static_cast<std::size_t>(*hovered_)];
    try {
        return view_source.probe(pane.marks ? pane.marks->view : pane.view, static_cast<std::int64_t>(pointer_[0]),
                                 static_cast<std::int64_t>(pointer_[1]));
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) throw;
        return std::nullopt;
    }
}

// Limited to a few times per second, because probing reads from the device.
void Panes::look_under_pointer(const PanelContext& context, ViewSource& view_source) {
    const bool is_live = view_source.live() != nullptr && view_source.live()->is_running();
    const double now = context.work.now_s();
    if (!hovered_ || drag_ != Drag::none || now - probed_s_ < (is_live ? probe_live_every_s : probe_every_s)) return;
    if (!is_live && is_probed_) return;
    is_probed_ = true;
    probed_s_ = now;
    const std::optional<Probe> found = probe(view_source);
    context.state.measure.under_pointer = found;
    const std::optional<VolumeGrid> grid = view_source.grid();
    read_out_ = found && grid ? read_out(*found, *grid, view_source.orientation()) : std::vector<std::string>{};
}

// ---- Input

// The roll angle follows the angle of the pointer around the centre.
static View rolled(View view, const glm::dvec2& pixels, const glm::dvec2& at) {
    const glm::dvec2 before = at - pixels;
    const double turned = std::atan2(at.y, at.x) - std::atan2(before.y, before.x);
    const Angles angles = angles_of(view);
    view.look = Look::free;
    view.azimuth_deg = angles.azimuth_deg;
    view.elevation_deg = angles.elevation_deg;
    view.roll_deg = std::remainder(angles.roll_deg + glm::degrees(turned), 360.0);
    return view;
}

Drag drag_in_volume(const Grip& grip, bool as_slicer) {
    if (grip.button == 2) return Drag::pan;
    if (grip.button == 1) return grip.shift && !as_slicer ? Drag::pan : Drag::zoom;
    if (grip.shift) return as_slicer ? Drag::pan : Drag::roll;
    if (grip.ctrl) return as_slicer ? Drag::roll : Drag::zoom;
    return Drag::rotate;
}

Drag drag_in_section(const Grip& grip) {
    if (grip.button == 2) return Drag::pan;
    if (grip.button == 1) return Drag::values;
    if (grip.shift) return Drag::pan;
    return grip.ctrl ? Drag::zoom : Drag::cross;
}

View dragged(View view, Drag drag, const glm::dvec2& pixels, const glm::dvec2& at, const glm::dvec3& extent) {
    switch (drag) {
        case Drag::rotate: return orbited(std::move(view), pixels);
        case Drag::roll: return rolled(std::move(view), pixels, at);
        case Drag::pan: return panned(std::move(view), pixels, extent);
        case Drag::zoom: return dollied(std::move(view), zoom_factor(pixels.y), {0, 0}, extent);
        case Drag::none:
        case Drag::cross:
        case Drag::values:
        case Drag::surface:
        case Drag::light: break;
    }
    return view;
}

// 87 pixels double the size.
double zoom_factor(double pixels_down) {
    return std::exp(-0.008 * pixels_down);
}

ValueRange values_dragged(const ValueRange& range, const glm::dvec2& pixels, double picture_size) {
    const double width = range.high - range.low;
    const double middle = 0.5 * (range.low + range.high) + width * pixels.y / picture_size;
    const double wider = width * std::exp(2 * pixels.x / picture_size);
    return {middle - 0.5 * wider, middle + 0.5 * wider};
}

// ---- Light handles

// Radius of the sphere relative to the pane, and sizes in pixels at scale 1.
constexpr double radius_of_pane = 0.42;
constexpr double twice_as_far_px = 80;
constexpr float handle_px = 8, reach_px = 13;

// In pixels.
static double radius(const Region& place) {
    return radius_of_pane * static_cast<double>(std::min(place.width, place.height));
}

static glm::dvec2 middle(const Region& place) {
    return 0.5 * glm::dvec2(static_cast<double>(place.width), static_cast<double>(place.height));
}

std::vector<LightHandle> shown_light_handles(const PanelContext& context, const View& view) {
    if (!context.work.settings().window().light_handles || view.show != ViewContent::volume) return {};
    return light_handles(view);
}

// Lights behind the volume are drawn as rings, lights in front as discs.
void draw_light_handles(const PanelContext& context, const View& view, const Region& place) {
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::vector<LightHandle> handles = shown_light_handles(context, view);
    const auto on_pane = [&](const glm::dvec2& at) {
        const glm::dvec2 pixel = middle(place) + radius(place) * at;
        return ImVec2{static_cast<float>(place.left) + static_cast<float>(pixel.x),
                      static_cast<float>(place.top) + static_cast<float>(pixel.y)};
    };
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const ImVec2 at = on_pane(handles[i].at), centre = on_pane({0, 0});
        const auto& [red, green, blue] = handles[i].colour;
        const double most = std::max({red, green, blue, 1e-6});
        const auto part = [&](double c) { return 0.25f + 0.75f * static_cast<float>(c / most); };
        const ImVec4 colour{part(red), part(green), part(blue), 1};
        const float size = style.px(handle_px);
        list.AddLine(centre, at, shade(colour, 0.25f), std::max(1.0f, style.scale));
        list.AddCircleFilled(at, size + style.px(2), shade(style.ground, 0.8f));
        if (handles[i].is_behind)
            list.AddCircle(at, size, shade(colour, 1), 0, style.px(2));
        else
            list.AddCircleFilled(at, size, shade(colour, 1));
        context.state.controls.places["light[" + std::to_string(i) + "]"] = {at.x - size, at.y - size, at.x + size,
                                                                             at.y + size};
    }
}

std::optional<LightDrag> light_under(const PanelContext& context, const View& view, const Region& place,
                                     const glm::dvec2& pointer) {
    const std::vector<LightHandle> handles = shown_light_handles(context, view);
    for (std::size_t i = handles.size(); i-- > 0;) {  // topmost first
        const glm::dvec2 at = middle(place) + radius(place) * handles[i].at;
        if (glm::distance(at, pointer) <= static_cast<double>(context.style.px(reach_px)))
            return LightDrag{i, handles[i], pointer, view};
    }
    return std::nullopt;
}

// The handle moves relative to its position at the start of the drag.
void drag_light(const PanelContext& context, const LightDrag& held, const Region& place, const glm::dvec2& pointer,
                bool moves_away) {
    const glm::dvec2 by = pointer - held.pointer;
    const glm::dvec2 at = moves_away ? held.before.at : held.before.at + by / radius(place);
    const double farther = moves_away ? std::exp2(-by.y / twice_as_far_px) : 1;
    const auto values = with_light_at(held.view, held.handle, at, held.before.is_behind, farther);
    if (!values.empty()) context.work.change_together("view.area_lights", values, Edit::in_progress);
}

}  // namespace echolux
