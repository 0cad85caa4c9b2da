#include "ui/window/scene_drawing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/error.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

const ImVec4 dark{0.040f, 0.036f, 0.042f, 1}, dim{0.33f, 0.13f, 0.12f, 1}, bright{0.97f, 0.83f, 0.70f, 1};
const ImVec4 away{0.95f, 0.52f, 0.16f, 1}, towards{0.25f, 0.56f, 0.95f, 1};  // as for flow
const ImVec4 mirrored{0.93f, 0.96f, 1.00f, 1};

ImVec4 mixed(const ImVec4& a, const ImVec4& b, float share) {
    const auto part = [=](float from, float to) { return from + share * (to - from); };
    return {part(a.x, b.x), part(a.y, b.y), part(a.z, b.z), part(a.w, b.w)};
}

// Colour of tissue by brightness: dark red, salmon, cream.
ImVec4 tissue(double brightness) {
    const auto level = static_cast<float>(std::clamp(brightness, 0.0, 1.0));
    return mixed(dim, bright, std::sqrt(level) * 0.4f + level * 0.6f);
}

// Draws in coordinates from 0 to 1 across the section.
class SceneCanvas {
  public:
    SceneCanvas(ImDrawList& list, ImVec2 low, ImVec2 high) : list_(list), low_(low), high_(high) {}

    ImVec2 at(double x, double z) const {
        return {low_.x + static_cast<float>(x) * (high_.x - low_.x),
                low_.y + static_cast<float>(z) * (high_.y - low_.y)};
    }

    void layer(const std::vector<double>& top, const std::vector<double>& bottom, const ImVec4& colour) {
        const auto columns = static_cast<double>(top.size());
        for (std::size_t i = 0; i + 1 < top.size(); ++i) {
            const double left = static_cast<double>(i) / (columns - 1),
                         right = static_cast<double>(i + 1) / (columns - 1);
            list_.AddQuadFilled(at(left, top[i]), at(right, top[i + 1]), at(right, bottom[i + 1]), at(left, bottom[i]),
                                shade(colour));
        }
    }

    void tube(const SceneSection::Tube& tube) {
        constexpr int corners = 32;
        for (int i = 0; i < corners; ++i) {
            const double turn = 2 * std::numbers::pi * i / corners;
            list_.PathLineTo(at(tube.x + tube.radius_x * std::cos(turn), tube.z + tube.radius_z * std::sin(turn)));
        }
        list_.PathFillConvex(shade(tube.flows_away ? away : towards));
    }

    void reflector(double depth, float thick) {
        list_.AddLine(at(0, depth), at(1, depth), shade(mirrored, 0.9f), thick);
    }

  private:
    ImDrawList& list_;
    ImVec2 low_, high_;
};

}  // namespace

// Sections are cached; a scene that cannot be read is stored without a value.
const SceneSection* SceneDrawings::section_of(const std::string& scene) {
    constexpr std::size_t columns = 64;
    const auto [found, is_new] = sections_.try_emplace(scene);
    if (is_new) {
        try {
            found->second = scene_section(scene, columns);
        } catch (const Error&) {
        }
    }
    return found->second ? &*found->second : nullptr;
}

void SceneDrawings::draw(ImDrawList& list, const std::string& scene, ImVec2 low, ImVec2 high, const ImVec4& beside) {
    const SceneSection* section = section_of(scene);
    if (section == nullptr) return;
    list.PushClipRect(low, high, true);
    list.AddRectFilled(low, high, shade(dark));
    SceneCanvas canvas(list, low, high);
    for (std::size_t i = 0; i < section->brightness.size() && i + 1 < section->boundaries.size(); ++i)
        canvas.layer(section->boundaries[i], section->boundaries[i + 1], tissue(section->brightness[i]));
    for (const SceneSection::Tube& tube : section->tubes) canvas.tube(tube);
    const float thick = std::max(1.0f, std::round(0.03f * (high.y - low.y)));
    for (const double depth : section->reflectors) canvas.reflector(depth, thick);
    const float faded = low.x + 0.45f * (high.x - low.x);
    list.AddRectFilledMultiColor(low, {faded, high.y}, shade(beside), shade(beside, 0), shade(beside, 0),
                                 shade(beside));
    list.PopClipRect();
}

}  // namespace echolux
