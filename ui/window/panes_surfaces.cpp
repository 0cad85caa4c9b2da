// Surfaces of layers above the sections, and dragging them.
#include <cmath>

#include "app/stage/exhibit.h"
#include "render/camera.h"
#include "ui/panels/surface_colours.h"
#include "ui/window/panes.h"
#include "ui/workspace/layering.h"

namespace echolux {
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
        return static_cast<std::size_t>(b * a_scans + a);
    }
};

SectionLines lines_of_section(PaneKind kind, const VolumeGrid& grid, const std::array<double, 3>& cross) {
    const bool is_b_scan = kind == PaneKind::b_scan;
    const int axis = axis_across(kind);
    return {voxel_index(cross[static_cast<std::size_t>(axis)], grid, axis), is_b_scan ? grid.a_scans : grid.b_scans,
            is_b_scan};
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
    return is_seen && (context.work.tissue().layer_display.shown || context.work.layering().edits) ? surfaces : nullptr;
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
    const SectionLines lines = lines_of_section(pane.kind, grid, context.work.cross_um());
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
            const ImVec2 here = pixel_of_place(pane.view, grid, pane.place, row, a, b);
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

}  // namespace echolux
