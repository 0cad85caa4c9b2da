// Colour bars with values and unit at the right edge: one for the volume, one for the flow, one per channel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <glm/common.hpp>

#include "render/annotations/context.h"
#include "render/annotations/quantities.h"
#include "render/colour_maps.h"
#include "shaders/shared/depth_colour.h"

namespace echolux {
namespace {

constexpr int max_colours = 256;  // 8 bits cannot show more
constexpr int max_ticks = 6;
constexpr double width = 0.9;           // em
constexpr double tick = 0.35;           // em
constexpr double title = 1.6;           // em, above the bar
constexpr double height = 0.38;         // of the picture's height
constexpr double least_height = 0.1;    // of the picture's height, however many bars there are
constexpr double room_for_ticks = 4.5;  // em: bar, ticks and numbers

struct Legend {
    std::string title;
    double top, bottom;                       // values at the ends of the bar
    std::function<glm::vec3(double)> colour;  // at a fraction of the height from the top
};

Legend depth_legend(const AnnotationContext& context) {
    const DepthAxis depths = context.depths();
    const auto colour = [](double part) { return shared::colour_of_depth(static_cast<float>(part)); };
    return {fmt::format("depth in {}", depths.unit.name), depths.first, depths.last, colour};
}

// Returns true for gray sections: the setting applies to modes that show one value per ray.
bool is_gray(const View& view) {
    const bool shows_a_value =
        view.mode == ViewMode::mip || view.mode == ViewMode::minip || view.mode == ViewMode::average;
    return view.show != Shown::volume && shows_a_value && view.slice_colours == SliceColours::gray;
}

Legend value_legend(const AnnotationContext& context) {
    const auto [low, high] = context.function.range;
    const auto colour = [&context, gray = is_gray(context.view)](double part) {
        if (gray) return glm::vec3(static_cast<float>(1 - part));
        const TransferNode node = context.function.at(1 - part);
        return glm::vec3(node.red, node.green, node.blue);
    };
    return {context.grid.unit.empty() ? context.grid.quantity : context.grid.unit, high, low, colour};
}

Legend flow_legend(const FlowScale& flow, const View& view) {
    const auto colour = [map = colour_map(view.flow_colour_map), has_sign = flow.has_sign](double part) {
        return glm::vec3(colour_at(map, has_sign ? 1 - part : 1 - 0.5 * part));
    };
    const std::string unit = flow.unit.empty() ? "" : " in " + flow.unit;
    return {"flow" + unit + (flow.has_sign ? ", + away" : ""), flow.range, flow.has_sign ? -flow.range : 0, colour};
}

Legend channel_legend(const ChannelLegend& channel) {
    const auto [low, high] = channel.function->range;
    const auto colour = [function = *channel.function](double part) {
        const TransferNode node = function.at(1 - part);
        return glm::vec3(node.red, node.green, node.blue);
    };
    const std::string unit = channel.unit.empty() ? "" : " in " + channel.unit;
    return {name_of(*channel.channel) + unit, high, low, colour};
}

// Returns true if the volume or a channel in its place is visible.
bool shows_volume(const View& view) {
    return view.channel_1_shown || in_place_of_volume(view) != nullptr;
}

std::vector<Legend> legends_of(const AnnotationContext& context, const std::optional<FlowScale>& flow,
                               const std::vector<ChannelLegend>& channels) {
    std::vector<Legend> legends;
    if (!shows_volume(context.view)) {
        // only labels are visible
    } else if (context.view.mode == ViewMode::depth_mip) {
        legends.push_back(depth_legend(context));
    } else if (context.view.mode != ViewMode::isosurface) {  // isosurfaces have one colour
        legends.push_back(value_legend(context));
    }
    if (flow) legends.push_back(flow_legend(*flow, context.view));
    for (const ChannelLegend& channel : channels) {
        if (channel.function) legends.push_back(channel_legend(channel));
    }
    return legends;
}

// Draws the bar in steps of whole pixels, to avoid seams between the colours.
void draw_colours(Sheet& sheet, const Legend& legend, const glm::dvec2& low, const glm::dvec2& high) {
    const double rows = high.y - low.y;
    const int count = std::clamp(static_cast<int>(rows), 1, max_colours);
    for (int i = 0; i < count; ++i) {
        sheet.rectangle({low.x, low.y + std::floor(rows * i / count)},
                        {high.x, low.y + std::floor(rows * (i + 1) / count)}, legend.colour((i + 0.5) / count));
    }
}

// Returns the height of one bar: an equal share of the space that scale bar, text and labels leave.
double height_of_each(const Sheet& sheet, const View& view, double legends, double of_labels) {
    double reserved = legends;  // em
    if (view.scale_bar) reserved += 2;
    if (!view.text.empty()) reserved += 1 + 1.25 * static_cast<double>(1 + std::ranges::count(view.text, '\n'));
    const double room = sheet.size().y - sheet.top() - sheet.margin() - reserved * sheet.em() - of_labels;
    return std::clamp(room / std::max(legends, 1.0), least_height * sheet.size().y, height * sheet.size().y);
}

void draw_legend(Sheet& sheet, const Legend& legend, double top, double height) {
    const double em = sheet.em();
    const double right = sheet.size().x - sheet.margin();
    top += sheet.make_room({right - std::max(sheet.size_of(legend.title).x, room_for_ticks * em), top},
                           {right, top + height}, 1);
    // Whole pixels keep the edges of the bar sharp.
    const glm::dvec2 high = glm::floor(glm::dvec2(right, top + height));
    const glm::dvec2 low = glm::floor(glm::dvec2(high.x - std::max(1.0, width * em), top + title * em));
    sheet.rimmed_rectangle(low - sheet.line_width(), high + sheet.line_width(), sheet.ink());
    draw_colours(sheet, legend, low, high);
    sheet.label(legend.title, {high.x, low.y - 0.5 * em}, {1, 1});
    const auto [min, max] = std::minmax(legend.top, legend.bottom);
    for (const auto& [value, text] : ticks_between(min, max, max_ticks)) {
        const double y = std::lerp(low.y, high.y, (value - legend.top) / (legend.bottom - legend.top));
        sheet.line({low.x - tick * em, y}, {low.x, y});
        sheet.label(text, {low.x - 1.6 * tick * em, y}, {1, 0.5});
    }
}

}  // namespace

void draw_colour_bars(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow,
                      const std::vector<ChannelLegend>& channels) {
    const std::vector<Legend> legends = legends_of(context, flow, channels);
    double of_labels = 0;
    for (const ChannelLegend& channel : channels) {
        if (!channel.function) of_labels += height_of_labels(sheet, *channel.channel) + sheet.em();
    }
    const double each = height_of_each(sheet, context.view, static_cast<double>(legends.size()), of_labels);
    double top = sheet.top();
    for (const Legend& legend : legends) {
        draw_legend(sheet, legend, top, each);
        top += each + sheet.em();
    }
    for (const ChannelLegend& channel : channels) {
        if (channel.function) continue;
        draw_labels(sheet, *channel.channel, top);
        top += height_of_labels(sheet, *channel.channel) + sheet.em();
    }
}

}  // namespace echolux
