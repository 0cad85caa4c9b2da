// The time stamp, and text that the user gives.
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
        sheet.label(fmt::format("{:.3f} s{}", view.time_s, rate), glm::dvec2(sheet.margin()), {0, 0});
    }
    const glm::dvec2 part(view.text_at[0], view.text_at[1]);
    const auto lines = 1 + std::count(view.text.begin(), view.text.end(), '\n');
    const glm::dvec2 room =
        sheet.size() - 2 * sheet.margin() - glm::dvec2(0, static_cast<double>(lines) * line_height * em);
    glm::dvec2 at = sheet.margin() + part * room;
    std::istringstream text(view.text);
    for (std::string line; std::getline(text, line); at.y += line_height * em) sheet.label(line, at, {part.x, 0});
}

}  // namespace echolux
