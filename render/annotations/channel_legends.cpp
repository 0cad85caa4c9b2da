// Legends of the channels: a bar per curve, a named patch per label.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "render/annotations/context.h"

namespace echolux {

std::string name_of(const Channel& channel) {
    return std::filesystem::path(channel.file).stem().string();
}

// Draws one row per named label, until the picture's margin is reached.
void draw_labels(Sheet& sheet, const Channel& channel, double top) {
    constexpr double row = 1.4, patch = 0.9;  // em
    const double em = sheet.em();
    const double right = sheet.size().x - sheet.margin();
    double y = top + 0.5 * row * em;
    if (const std::string name = name_of(channel); !name.empty()) {
        sheet.label(name, {right, y}, {1, 0.5});
        y += row * em;
    }
    for (const TissueLabel& label : *channel.labels) {
        if (label.name.empty()) continue;
        if (y + 0.5 * row * em > sheet.size().y - sheet.margin()) break;  // no room left
        const glm::dvec2 low(std::floor(right - patch * em), std::floor(y - 0.5 * patch * em));
        const glm::dvec2 high(std::floor(right), std::floor(y + 0.5 * patch * em));
        sheet.rimmed_rectangle(low - sheet.line_width(), high + sheet.line_width(), sheet.ink());
        sheet.rectangle(low, high, glm::vec3(label.colour[0], label.colour[1], label.colour[2]));
        sheet.label(label.name, {low.x - 0.5 * em, y}, {1, 0.5});
        y += row * em;
    }
}

double height_of_labels(const Sheet& sheet, const Channel& channel) {
    constexpr double row = 1.4;
    const auto named =
        std::ranges::count_if(*channel.labels, [](const TissueLabel& label) { return !label.name.empty(); });
    return row * static_cast<double>(named + (name_of(channel).empty() ? 0 : 1)) * sheet.em();
}

}  // namespace echolux
