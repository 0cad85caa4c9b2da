#include "app/session/unused_view_settings.h"
#include "compute/plan/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace echolux {
namespace {

bool is_of_paths(std::string_view name) {
    return name == "sky_picture" || name == "sky_turn_deg" ||
           std::ranges::any_of(describe<Tracing>(), [&](const auto& field) { return field.name == name; });
}

std::string spelled_value(const View& view, std::string_view name) {
    const auto field = std::ranges::find(describe<View>(), name, &Field<View>::name);
    const Value value = field->get(view);
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : spelled(value);
}

// Returns the key that disables another one; "" if it has an effect.
std::string_view decided_by(const View& view, std::string_view name) {
    if (is_of_paths(name) && view.mode != ViewMode::traced) return "mode";
    if (name == "area_lights" && view.lights != Lights::own) return "lights";
    if (name == "lamp_size_deg" && view.lights != Lights::lamp) return "lights";
    return "";
}

}  // namespace

std::vector<std::string> unused_settings(const View& view, std::span<const std::string> assignments) {
    constexpr std::string_view section = "view.";
    std::vector<std::string> lines;
    std::set<std::string> told;
    for (const std::string& assignment : assignments) {
        const std::string key = assignment.substr(0, assignment.find('='));
        if (!key.starts_with(section)) continue;
        const std::string_view by = decided_by(view, std::string_view(key).substr(section.size()));
        if (by.empty() || !told.insert(key).second) continue;
        lines.push_back(fmt::format("{} has no effect: view.{} is {}", key, by, spelled_value(view, by)));
    }
    return lines;
}

}  // namespace echolux
