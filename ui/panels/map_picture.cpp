#include "ui/panels/map_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/plan/describe.h"
#include "render/view/curve.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr float cell_px = 3;

ImU32 colour_of_share(const ColourMap& map, double share) {
    const glm::dvec3 colour = colour_at(map, share);
    return ImGui::GetColorU32(
        {static_cast<float>(colour.r), static_cast<float>(colour.g), static_cast<float>(colour.b), 1});
}

// Returns the mean of the finite values in a rectangle of the map, or NaN if it has none.
double mean_in(const MapShown& map, std::int64_t a_begin, std::int64_t a_end, std::int64_t b_begin,
               std::int64_t b_end) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t b = b_begin; b < b_end; ++b) {
        for (std::int64_t a = a_begin; a < a_end; ++a) {
            const float value = map.values[static_cast<std::size_t>(b * map.a_scans + a)];
            if (!std::isfinite(value)) continue;
            sum += static_cast<double>(value);
            ++count;
        }
    }
    return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

// Returns the range of positions in cell `cell` of `cells`, with at least one position.
std::pair<std::int64_t, std::int64_t> in_cell(std::int64_t cell, std::int64_t cells, std::int64_t places) {
    const std::int64_t begin = cell * places / cells;
    return {begin, std::max(begin + 1, (cell + 1) * places / cells)};
}

// Cells with unknown values stay empty.
void draw_cells(const MapShown& map, const ColourMap& colours, const ValueRange& range, ImVec2 at, ImVec2 size,
                float cell) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::int64_t across = std::clamp<std::int64_t>(std::lround(size.x / cell), 1, map.a_scans);
    const std::int64_t down = std::clamp<std::int64_t>(std::lround(size.y / cell), 1, map.b_scans);
    for (std::int64_t y = 0; y < down; ++y) {
        const auto [b_begin, b_end] = in_cell(y, down, map.b_scans);
        for (std::int64_t x = 0; x < across; ++x) {
            const auto [a_begin, a_end] = in_cell(x, across, map.a_scans);
            const double mean = mean_in(map, a_begin, a_end, b_begin, b_end);
            if (std::isnan(mean)) continue;
            const double share = range.high > range.low ? (mean - range.low) / (range.high - range.low) : 0.5;
            const auto place = [](float from, float extent, std::int64_t cell_number, std::int64_t cells) {
                return from + extent * static_cast<float>(cell_number) / static_cast<float>(cells);
            };
            list.AddRectFilled({place(at.x, size.x, x, across), place(at.y, size.y, y, down)},
                               {place(at.x, size.x, x + 1, across), place(at.y, size.y, y + 1, down)},
                               colour_of_share(colours, share));
        }
    }
}

void draw_bar(const PanelContext& context, const char* name, const ColourMap& colours, const ValueRange& range,
              const std::string& unit) {
    const Style& style = context.style;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = style.px(10);
    ImGui::Dummy({width, height});
    note_place(context, std::string(name) + ".bar");
    constexpr int pieces = 64;
    for (int i = 0; i < pieces; ++i) {
        ImGui::GetWindowDrawList()->AddRectFilled({at.x + width * static_cast<float>(i) / pieces, at.y},
                                                  {at.x + width * static_cast<float>(i + 1) / pieces, at.y + height},
                                                  colour_of_share(colours, (i + 0.5) / pieces));
    }
    const std::string high = short_number(range.high) + " " + unit;
    ImGui::PushFont(style.numbers);
    ImGui::TextColored(style.muted, "%s", short_number(range.low).c_str());
    const float high_width = ImGui::CalcTextSize(high.c_str()).x;
    ImGui::SameLine(ImGui::GetCursorPosX() + width - high_width);
    ImGui::TextColored(style.muted, "%s", high.c_str());
    ImGui::PopFont();
}

}  // namespace

std::optional<ValueRange> range_of_map(const std::vector<float>& values) {
    std::vector<float> known;
    std::ranges::copy_if(values, std::back_inserter(known), [](float value) { return std::isfinite(value); });
    if (known.empty()) return {};
    const auto at = [&](double share) {
        // nth_element is enough, because only single percentiles are needed.
        const auto place = known.begin() + std::lround(share * static_cast<double>(known.size() - 1));
        std::ranges::nth_element(known, place);
        return static_cast<double>(*place);
    };
    return ValueRange{at(0.01), at(0.99)};
}

void draw_map(const PanelContext& context, const char* name, const MapShown& map) {
    const std::optional<ValueRange> range = range_of_map(map.values);
    const float width = ImGui::GetContentRegionAvail().x;
    const ImVec2 size{width, 0.6f * width};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(size);
    note_place(context, name);
    if (!range) return muted_text(context, "Nowhere are both surfaces known.");
    const ColourMap colours = colour_map("viridis");
    draw_cells(map, colours, *range, at, size, context.style.px(cell_px));
    draw_bar(context, name, colours, *range, map.unit);
}

}  // namespace echolux
