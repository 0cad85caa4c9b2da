// What the colours mean: a bar at the right with its values and their unit.
#include <algorithm>
#include <cmath>
#include <glm/common.hpp>

#include "render/annotations/quantities.h"
#include "render/annotations/stage.h"

namespace echolux {
namespace {

constexpr int most_colours = 256;  // 8 bits tell no more apart
constexpr int most_ticks = 6;
constexpr double width = 0.9;    // em
constexpr double tick = 0.35;    // em
constexpr double title = 1.6;    // em: its room above the bar
constexpr double height = 0.38;  // of the picture's

// From the top: whole pixels, so that no seams show between the colours.
void draw_colours(Sheet& sheet, const TransferFunction& function, const glm::dvec2& low, const glm::dvec2& high) {
    const double rows = high.y - low.y;
    const int count = std::clamp(static_cast<int>(rows), 1, most_colours);
    for (int i = 0; i < count; ++i) {
        const TransferNode node = function.at(1 - (i + 0.5) / count);
        sheet.rectangle({low.x, low.y + std::floor(rows * i / count)},
                        {high.x, low.y + std::floor(rows * (i + 1) / count)},
                        glm::vec3(node.red, node.green, node.blue));
    }
}

}  // namespace

void draw_colour_bar(Sheet& sheet, const Stage& stage) {
    if (stage.view.mode == ViewMode::isosurface) return;  // of one colour
    const double em = sheet.em();
    const glm::dvec2 high =
        glm::floor(glm::dvec2(sheet.size().x - sheet.margin(), sheet.margin() + title * em + height * sheet.size().y));
    const glm::dvec2 low = glm::floor(glm::dvec2(high.x - std::max(1.0, width * em), sheet.margin() + title * em));
    sheet.rimmed_rectangle(low - sheet.line_width(), high + sheet.line_width(), sheet.ink());
    draw_colours(sheet, stage.function, low, high);
    sheet.label(stage.grid.unit.empty() ? stage.grid.quantity : stage.grid.unit, {high.x, low.y - 0.5 * em}, {1, 1});
    const auto [from, to] = stage.function.range;
    for (const auto& [value, text] : ticks_between(from, to, most_ticks)) {
        const double y = std::lerp(high.y, low.y, (value - from) / (to - from));
        sheet.line({low.x - tick * em, y}, {low.x, y});
        sheet.label(text, {low.x - 1.6 * tick * em, y}, {1, 0.5});
    }
}

}  // namespace echolux
