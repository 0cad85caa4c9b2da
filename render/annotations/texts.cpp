// The time stamp and the user's text.
#include <fmt/format.h>

#include <algorithm>

#include <sstream>

#include "render/annotations/context.h"

namespace echolux {

void draw_texts(Sheet& sheet, const AnnotationContext& context) {
    constexpr double line_height = 1.25;  // em
    const double em = sheet.em();
    const View& view = context.view;
    if (view.time_stamp) {
        const std::string rate = view.time_rate > 0 ? fmt::format("   {:.3g}x", view.time_rate) : "";
        const std::string stamp = fmt::format("{:.3f} s{}", view.time_s, rate);
        const glm::dvec2 corner(sheet.margin(), sheet.top());
        const double down = sheet.make_room(corner, corner + sheet.size_of(stamp), 1);
        sheet.label(stamp, corner + glm::dvec2(0, down), {0, 0});
    }
    // The position also anchors the text, so that it stays inside the picture.
    const glm::dvec2 part(view.text_at[0], view.text_at[1]);
    const auto lines = 1 + std::count(view.text.begin(), view.text.end(), '\n');
    if (view.text.empty()) return;
    const double height = static_cast<double>(lines) * line_height * em;
    const glm::dvec2 low(sheet.margin(), sheet.top());
    const glm::dvec2 room = sheet.size() - low - sheet.margin() - glm::dvec2(0, height);
    glm::dvec2 at = low + part * room;
    double width = 0;
    std::istringstream measured(view.text);
    for (std::string line; std::getline(measured, line);) width = std::max(width, sheet.size_of(line).x);
    const double left = at.x - part.x * width;
    at.y += sheet.make_room({left, at.y}, {left + width, at.y + height}, part.y < 0.5 ? 1 : -1);
    std::istringstream text(view.text);
    for (std::string line; std::getline(text, line); at.y += line_height * em) sheet.label(line, at, {part.x, 0});
}

}  // namespace echolux
