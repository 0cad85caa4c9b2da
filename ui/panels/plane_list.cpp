// Lists of planes as rows, see widgets.h. A plane is stored as four numbers: its normal and its offset from the centre
// in um.
#include "ui/panels/widgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/icons.h"
#include "ui/panels/volume_facts.h"

namespace echolux {
namespace {

using Numbers = std::vector<double>;
constexpr std::size_t numbers_each = 4;
constexpr std::array axes{"depth", "A-scans", "B-scans", "oblique"};

// Returns the axis along which a normal points, in either direction, or 3 if it is oblique.
std::size_t axis_of(const double* plane) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (plane[axis] != 0 && plane[(axis + 1) % 3] == 0 && plane[(axis + 2) % 3] == 0) return axis;
    }
    return 3;
}

// The rows of one setting; `numbers` is a copy of its value.
struct PlaneList {
    const PanelContext& context;
    const std::string& key;
    Numbers numbers;

    void axis_combo(std::size_t first, float width) {
        const std::size_t axis = axis_of(&numbers[first]);
        ImGui::SetNextItemWidth(width);
        if (!ImGui::BeginCombo("##axis", axes[axis])) return;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (!ImGui::Selectable(axes[i], i == axis)) continue;
            for (std::size_t j = 0; j < 3; ++j) numbers[first + j] = i == 3 || i == j ? 1 : 0;
            context.work.change(key, numbers);
        }
        ImGui::EndCombo();
    }

    void number(const char* name, std::size_t at, const ValueRange& reach, float width) {
        const auto change = plain_number(context, name, numbers[at], reach, width);
        if (!change) return;
        numbers[at] = change->value;
        context.work.change(key, numbers, change->edit);
    }

    // Range of offsets that stay within the volume.
    ValueRange offsets(std::size_t first) const {
        const Numbers& extents = context.state.volume.extents_um;
        if (extents.empty()) return {-500, 500};
        double half = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (numbers[first + axis] != 0) half = std::max(half, 0.5 * extents[axis]);
        }
        return {-half, half};
    }

    // Draws one row. Returns false if its plane was removed.
    bool row(std::size_t first) {
        const Style& style = context.style;
        const RowPlaces places = row_places(style);
        const float gap = style.px(4), left = ImGui::GetCursorPosX();
        axis_combo(first, places.control - left - gap);
        ImGui::SameLine(places.control);
        number("offset", first + 3, offsets(first), places.unit - places.control - gap);
        note_place(context, fmt::format("{}[{}]", key, first / numbers_each));
        ImGui::SameLine(places.unit);
        ImGui::TextColored(style.muted, "µm");
        ImGui::SameLine(places.reset - style.px(8));
        if (icon_button(context, fmt::format("{}.remove[{}]", key, first / numbers_each), Icon::remove, "remove")) {
            const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
            numbers.erase(begin, begin + numbers_each);
            context.work.change(key, numbers);
            return false;
        }
        if (axis_of(&numbers[first]) != 3) return true;
        ImGui::SetCursorPosX(places.control);
        const float width = (places.unit - places.control - 3 * gap) / 3;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (axis > 0) ImGui::SameLine(0, gap);
            number(axes[axis], first + axis, {-1, 1}, width);
            tooltip(context, std::string("normal along ") + axes[axis]);
        }
        return true;
    }
};

}  // namespace

void plane_list(const PanelContext& context, const std::string& key, std::size_t max_planes, const char* add_label) {
    const BoundField* field = context.work.field(key);
    if (field == nullptr) return;
    refresh_facts(context);
    PlaneList list{context, key, std::get<Numbers>(field->get())};
    ImGui::PushID(key.c_str());
    for (std::size_t first = 0; first + numbers_each <= list.numbers.size(); first += numbers_each) {
        ImGui::PushID(static_cast<int>(first));
        const bool is_there = list.row(first);
        ImGui::PopID();
        if (!is_there) break;
    }
    const bool has_room = list.numbers.size() < max_planes * numbers_each;
    const std::string help = key + ": " + std::string(field->help);
    if (plain_button(context, key + ".add", add_label, help.c_str(), has_room)) {
        Numbers longer = list.numbers;
        // New planes alternate between the axes.
        const std::size_t axis = (longer.size() / numbers_each + 2) % 3;
        for (std::size_t i = 0; i < 3; ++i) longer.push_back(i == axis ? 1 : 0);
        longer.push_back(0);
        context.work.change(key, longer);
    }
    ImGui::PopID();
}

}  // namespace echolux
