#include "render/annotations/annotations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <sstream>

#include "compute/indexing.h"
#include "render/view/curve.h"
#include "shaders/shared/depth_colour.h"

namespace echolux {

// ---- Quantities

// The tolerances absorb rounding errors of limits that are round numbers.
double round_below(double limit) {
    const double decade = std::pow(10.0, std::floor(std::log10(limit) + 1e-12));
    for (const double digit : {5.0, 2.0}) {
        if (digit * decade <= limit * (1 + 1e-12)) return digit * decade;
    }
    return decade;
}

std::vector<Tick> ticks_between(double low, double high, int max_ticks, double finest) {
    // The tolerances of 1e-9 and 1e-12 absorb rounding errors of limits that are round numbers.
    double step = round_below(std::max((high - low) / max_ticks, finest));
    const auto first = [&] { return std::ceil(low / step - 1e-9); };
    const auto last = [&] { return std::floor(high / step + 1e-9); };
    while (step < finest || last() - first() + 1 > max_ticks) step = round_below(2.6 * step);
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    std::vector<Tick> ticks;
    for (double i = first(); i <= last(); i += 1) {
        ticks.push_back({i * step, fmt::format("{:.{}f}", i * step + 0.0, decimals)});
    }
    return ticks;
}

LengthUnit unit_for(double length_um) {
    for (const LengthUnit unit : {LengthUnit{1e4, "cm"}, LengthUnit{1e3, "mm"}, LengthUnit{1, "µm"}}) {
        if (length_um >= unit.um * (1 - 1e-9)) return unit;
    }
    return {1e-3, "nm"};
}

std::string length_text(double length, bool is_um) {
    if (!is_um) return fmt::format("{:.6g} voxels", length);
    const auto [um, name] = length == 0 ? LengthUnit{1, "µm"} : unit_for(length);
    return fmt::format("{:.4g} {}", length / um, name);
}

double distance_um(const glm::dvec3& from, const glm::dvec3& to) {
    return glm::length(to - from);
}

double angle_deg(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other_leg) {
    const glm::dvec3 a = leg - vertex;
    const glm::dvec3 b = other_leg - vertex;
    // precise near 0 and 180 degrees, unlike acos
    return glm::degrees(std::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b)));
}

// ---- Context

namespace {

glm::dvec3 edges_of(const VolumeGrid& grid) {
    const auto [depth, a_scan, b_scan] = voxel_edges(grid);
    return {depth, a_scan, b_scan};
}

}  // namespace

AnnotationContext::AnnotationContext(const View& seen_view, const VolumeGrid& seen_grid,
                                     const TransferFunction& seen_function)
    : view(seen_view), grid(seen_grid), function(seen_function), extent_(volume_extent(seen_grid)),
      edges_(edges_of(seen_grid)), camera_(seen_view, extent_) {}

bool AnnotationContext::is_um() const {
    return std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
}

DepthAxis AnnotationContext::depths() const {
    // Up to four digits before the decimal point: a depth of 5 mm is labelled in um, 10 mm in mm.
    const LengthUnit unit = is_um() ? unit_for(extent_.x / 10) : LengthUnit{1, "voxels"};
    const double middle_of_first = grid.spacing_um[0] > 0 ? grid.first_depth_um : 0;
    const double first = middle_of_first - 0.5 * edges_.x;
    return {first / unit.um, (first + extent_.x) / unit.um, unit};
}

glm::dvec3 AnnotationContext::from_centre(const glm::dvec3& place) const {
    return place + 0.5 * edges_ - 0.5 * extent_;
}

std::optional<Segment> AnnotationContext::seen(const glm::dvec3& from, const glm::dvec3& to) const {
    const auto line = camera_.project_line(from, to);
    if (!line) return std::nullopt;
    const glm::dvec2 middle = 0.5 * glm::dvec2(view.width, view.height);
    return Segment{middle + line->from, middle + line->to};
}

// Orthographic projection of the axis: independent of its position.
glm::dvec2 AnnotationContext::direction(int axis) const {
    return {camera_.orientation().right[axis], -camera_.orientation().up[axis]};
}

// ---- A triad in the lower left corner with the axes of depth, A-scans and B-scans.

namespace {

struct Axis {
    const char* name;
    glm::vec3 colour;
};

// Colours that are safe for colour-blind readers: Okabe and Ito, "Color Universal Design", 2008 (orange, sky blue,
// bluish green).
const std::array<Axis, 3> axes{
    {{"depth", {0.902F, 0.624F, 0.0F}}, {"A-scan", {0.337F, 0.706F, 0.914F}}, {"B-scan", {0.0F, 0.620F, 0.451F}}}};

constexpr double reach = 2.4;            // em, length of an axis in the picture plane
constexpr glm::dvec2 corner{6.5, 4.5};   // em: room for arrows and names in any direction
constexpr double shortest_named = 0.15;  // of the reach: shorter axes point at the eye and leave no room for a name

}  // namespace

static void draw_axes(Sheet& sheet, const AnnotationContext& context) {
    const glm::dvec2 reserved = corner * sheet.em() + sheet.frame();
    glm::dvec2 origin(reserved.x, sheet.size().y - reserved.y);
    const glm::dvec2 around = 0.7 * corner * sheet.em();
    origin.y += sheet.make_room(origin - around, origin + around, -1);
    for (int i = 0; i < 3; ++i) {
        const auto& [name, colour] = axes[index(i)];
        const glm::dvec2 along = context.direction(i);
        const glm::dvec2 tip = origin + reach * sheet.em() * along;
        sheet.arrow(origin, tip, colour);
        if (glm::length(along) < shortest_named) continue;
        const glm::dvec2 unit = glm::normalize(along);
        // Anchors the name on the side away from the tip.
        const glm::dvec2 anchor = 0.5 - 0.5 * glm::clamp(1.5 * unit, -1.0, 1.0);
        sheet.label(name, tip + 0.4 * sheet.em() * unit, anchor, colour);
    }
}

// ---- Legends of the channels: a bar per curve, a named patch per label.

// Returns the stem of the file name.
static std::string name_of(const Channel& channel) {
    return std::filesystem::path(channel.file).stem().string();
}

// Draws one row per named label, until the picture's margin is reached.
static void draw_labels(Sheet& sheet, const Channel& channel, double top) {
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

static double height_of_labels(const Sheet& sheet, const Channel& channel) {
    constexpr double row = 1.4;
    const auto named =
        std::ranges::count_if(*channel.labels, [](const TissueLabel& label) { return !label.name.empty(); });
    return row * static_cast<double>(named + (name_of(channel).empty() ? 0 : 1)) * sheet.em();
}

// ---- Colour bars with values and unit at the right edge: one for the volume, one for the flow, one per channel.

namespace {

constexpr int max_colours = 256;  // 8 bits cannot show more
constexpr int max_ticks = 6;
constexpr double bar_width = 0.9;       // em
constexpr double bar_tick = 0.35;       // em
constexpr double bar_title = 1.6;       // em, above the bar
constexpr double bar_height = 0.38;     // of the picture's height
constexpr double min_height = 0.1;      // of the picture's height, however many bars there are
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
bool is_gray(const View& view, const VolumeGrid& grid) {
    return view.show != ViewContent::volume && text_of(view.mode).ray == RayKind::value && has_gray_slices(view, grid);
}

Legend value_legend(const AnnotationContext& context) {
    const auto [low, high] = context.function.range;
    const auto colour = [&context, gray = is_gray(context.view, context.grid)](double part) {
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
    return {"flow" + unit + (flow.has_sign ? ", + away from probe" : ""), flow.range, flow.has_sign ? -flow.range : 0,
            colour};
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
    } else if (text_of(context.view.mode).legend == ModeLegend::depth) {
        legends.push_back(depth_legend(context));
    } else if (text_of(context.view.mode).legend == ModeLegend::value) {
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
    return std::clamp(room / std::max(legends, 1.0), min_height * sheet.size().y, bar_height * sheet.size().y);
}

void draw_legend(Sheet& sheet, const Legend& legend, double top, double height) {
    const double em = sheet.em();
    const double right = sheet.size().x - sheet.margin();
    top += sheet.make_room({right - std::max(sheet.size_of(legend.title).x, room_for_ticks * em), top},
                           {right, top + height}, 1);
    // Whole pixels keep the edges of the bar sharp.
    const glm::dvec2 high = glm::floor(glm::dvec2(right, top + height));
    const glm::dvec2 low = glm::floor(glm::dvec2(high.x - std::max(1.0, bar_width * em), top + bar_title * em));
    sheet.rimmed_rectangle(low - sheet.line_width(), high + sheet.line_width(), sheet.ink());
    draw_colours(sheet, legend, low, high);
    sheet.label(legend.title, {high.x, low.y - 0.5 * em}, {1, 1});
    const auto [min, max] = std::minmax(legend.top, legend.bottom);
    for (const auto& [value, text] : ticks_between(min, max, max_ticks)) {
        const double y = std::lerp(low.y, high.y, (value - legend.top) / (legend.bottom - legend.top));
        sheet.line({low.x - bar_tick * em, y}, {low.x, y});
        sheet.label(text, {low.x - 1.6 * bar_tick * em, y}, {1, 0.5});
    }
}

}  // namespace

static void draw_colour_bars(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow,
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

// ---- Depth ruler along the volume's leftmost edge in the picture. Depths follow the volume's spacing and start at
// zero delay. They are geometric if the scan specifies a refractive index, else optical.

namespace {

constexpr double ruler_tick = 0.5;   // em
constexpr double min_between = 2.2;  // em, between ticks

struct Edge {
    glm::dvec3 top, bottom;
    Segment seen;
};

// Returns the visible edge along depth with the smallest mean x. Empty if all are behind the eye.
std::optional<Edge> leftmost_edge(const AnnotationContext& context) {
    std::optional<Edge> leftmost;
    for (const int a : {-1, 1}) {
        for (const int b : {-1, 1}) {
            const glm::dvec3 top = 0.5 * context.extent() * glm::dvec3(-1, a, b);
            const glm::dvec3 bottom = 0.5 * context.extent() * glm::dvec3(1, a, b);
            const std::optional<Segment> seen = context.seen(top, bottom);
            if (!seen) continue;
            const bool better = !leftmost || seen->from.x + seen->to.x < leftmost->seen.from.x + leftmost->seen.to.x;
            if (better) leftmost = {top, bottom, *seen};
        }
    }
    return leftmost;
}

// Returns the unit normal of the edge that points away from the volume's centre.
glm::dvec2 outwards(const AnnotationContext& context, const Segment& edge) {
    const glm::dvec2 along = glm::normalize(edge.to - edge.from);
    const glm::dvec2 across(-along.y, along.x);
    const auto centre = context.seen({}, {});
    const glm::dvec2 off = centre ? 0.5 * (edge.from + edge.to) - centre->from : glm::dvec2(-1, 0);
    return glm::dot(across, off) < 0 ? -across : across;
}

}  // namespace

static void draw_depth_ruler(Sheet& sheet, const AnnotationContext& context) {
    const std::optional<Edge> edge = leftmost_edge(context);
    if (!edge) return;
    const double pixels = glm::length(edge->seen.to - edge->seen.from);
    const int max_ticks = static_cast<int>(std::min(20.0, pixels / (min_between * sheet.em())));
    if (max_ticks < 1) return;  // the edge points at the eye
    const glm::dvec2 out = outwards(context, edge->seen);
    const glm::dvec2 anchor = 0.5 - 0.5 * out;
    sheet.line(edge->seen.from, edge->seen.to);
    const DepthAxis depths = context.depths();
    for (const auto& [depth, text] : ticks_between(depths.first, depths.last, max_ticks)) {
        const glm::dvec3 place = glm::mix(edge->top, edge->bottom, depths.part(depth));
        const std::optional<Segment> seen = context.seen(place, place);
        if (!seen) continue;
        sheet.line(seen->from, seen->from + ruler_tick * sheet.em() * out);
        sheet.label(text, seen->from + 1.5 * ruler_tick * sheet.em() * out, anchor);
    }
    sheet.label(fmt::format("depth in {}", depths.unit.name), edge->seen.from + glm::dvec2(0, -0.6 * sheet.em()),
                {0.5, 1});
}

// ---- A frame around the picture, and a title inside the frame or where its top would be.

static void draw_frame(Sheet& sheet, const AnnotationContext& context) {
    // The top of the frame is at least as high as the title's band.
    const double side = sheet.frame(), band = sheet.band();
    if (side > 0) {
        const glm::dvec2 size = sheet.size();
        const double top = std::max(side, band);
        sheet.rectangle({0, 0}, {size.x, top}, sheet.ink());
        sheet.rectangle({0, size.y - side}, size, sheet.ink());
        sheet.rectangle({0, top}, {side, size.y - side}, sheet.ink());
        sheet.rectangle({size.x - side, top}, {size.x, size.y - side}, sheet.ink());
    }
    if (context.view.title.empty()) return;
    sheet.make_room({0, 0}, {sheet.size().x, band}, 1);
    const glm::vec3 colour = side > 0 ? sheet.rim() : sheet.ink();
    sheet.label(context.view.title, {0.5 * sheet.size().x, 0.5 * std::max(side, band)}, {0.5, 0.5}, colour);
}

// ---- Measured distances and angles, labelled with their values, and arrows along vessels.

namespace {

constexpr double end_mark = 0.35;  // em, to either side of the line
constexpr double arc_reach = 0.3;  // of the shorter leg
constexpr int arc_pieces = 24;

glm::dvec3 place_at(const std::vector<double>& numbers, std::size_t index) {
    return {numbers[index], numbers[index + 1], numbers[index + 2]};
}

// Returns the unit normal of a line; vertical for a line of zero length.
glm::dvec2 across(const Segment& line) {
    const glm::dvec2 along = line.to - line.from;
    const double length = glm::length(along);
    return length > 0 ? glm::dvec2(-along.y, along.x) / length : glm::dvec2(0, 1);
}

void draw_distance(Sheet& sheet, const AnnotationContext& context, const glm::dvec3& from, const glm::dvec3& to) {
    const std::optional<Segment> line = context.seen(context.from_centre(from), context.from_centre(to));
    if (!line) return;
    const glm::dvec2 side = across(*line);
    const glm::dvec2 mark = end_mark * sheet.em() * side;
    sheet.line(line->from, line->to);
    sheet.line(line->from - mark, line->from + mark);
    sheet.line(line->to - mark, line->to + mark);
    // Places the label above the line.
    const glm::dvec2 above = side.y > 0 ? -side : side;
    sheet.label(length_text(distance_um(from, to), context.is_um()),
                0.5 * (line->from + line->to) + 0.5 * sheet.em() * above, 0.5 - 0.5 * above);
}

// Circular arc in the plane of the unit vectors a and b, which starts at a and covers `angle` radians.
struct Arc {
    glm::dvec3 centre, a, b;
    double radius, angle;

    glm::dvec3 at(double part) const {
        return centre + radius * (std::cos(part * angle) * a + std::sin(part * angle) * b);
    }
};

Arc arc_between(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other) {
    const double radius = arc_reach * std::min(glm::length(leg - vertex), glm::length(other - vertex));
    const glm::dvec3 a = glm::normalize(leg - vertex);
    // Gram-Schmidt: the second leg's component perpendicular to the first.
    const glm::dvec3 off = other - vertex - glm::dot(other - vertex, a) * a;
    const double length = glm::length(off);
    return {vertex, a, length > 0 ? off / length : glm::dvec3(0), radius, glm::radians(angle_deg(leg, vertex, other))};
}

void draw_angle(Sheet& sheet, const AnnotationContext& context, const glm::dvec3& leg, const glm::dvec3& vertex,
                const glm::dvec3& other) {
    const auto draw = [&](const glm::dvec3& from, const glm::dvec3& to) {
        const auto line = context.seen(context.from_centre(from), context.from_centre(to));
        if (line) sheet.line(line->from, line->to);
    };
    draw(vertex, leg);
    draw(vertex, other);
    if (leg == vertex || other == vertex) return;
    const Arc arc = arc_between(leg, vertex, other);
    for (int i = 0; i < arc_pieces; ++i) {
        draw(arc.at(static_cast<double>(i) / arc_pieces), arc.at(static_cast<double>(i + 1) / arc_pieces));
    }
    const auto middle = context.seen(context.from_centre(vertex), context.from_centre(arc.at(0.5)));
    if (!middle) return;
    const glm::dvec2 out = middle->to - middle->from;
    const glm::dvec2 unit = glm::length(out) > 0 ? glm::normalize(out) : glm::dvec2(0, -1);
    sheet.label(fmt::format("{:.1f}°", angle_deg(leg, vertex, other)), middle->to + 0.5 * sheet.em() * unit,
                0.5 - 0.5 * unit);
}

// Arrows have the colour of text: they show the direction and must stand out from the colours of flow.
void draw_flow_arrows(Sheet& sheet, const AnnotationContext& context) {
    const std::vector<double>& arrows = context.view.flow_arrows;
    for (std::size_t i = 0; i + 6 <= arrows.size(); i += 6) {
        const glm::dvec3 from = context.from_centre(place_at(arrows, i));
        const std::optional<Segment> line = context.seen(from, context.from_centre(place_at(arrows, i + 3)));
        if (line) sheet.arrow(line->from, line->to, sheet.ink());
    }
}

}  // namespace

static void draw_measures(Sheet& sheet, const AnnotationContext& context) {
    draw_flow_arrows(sheet, context);
    const std::vector<double>& distances = context.view.distances;
    for (std::size_t i = 0; i + 6 <= distances.size(); i += 6) {
        draw_distance(sheet, context, place_at(distances, i), place_at(distances, i + 3));
    }
    const std::vector<double>& angles = context.view.angles;
    for (std::size_t i = 0; i + 9 <= angles.size(); i += 9) {
        draw_angle(sheet, context, place_at(angles, i), place_at(angles, i + 3), place_at(angles, i + 6));
    }
}

// ---- A bar of round length in the lower right corner.

// Max length as a fraction of the picture's width.
constexpr double max_of_width = 0.22;
constexpr double thickness = 0.22;  // em

static void draw_scale_bar(Sheet& sheet, const AnnotationContext& context) {
    const double pixel = context.pixel_at_target();
    if (!(pixel > 0)) return;
    const double length = round_below(max_of_width * sheet.size().x * pixel);
    // In perspective, the length is only true at one distance.
    const bool at_one_distance = context.view.projection == Projection::perspective;
    const std::string text = length_text(length, context.is_um()) + (at_one_distance ? " at the target" : "");
    glm::dvec2 end = sheet.size() - sheet.margin();
    const double wide = std::max(length / pixel, sheet.size_of(text).x);
    end.y += sheet.make_room(end - glm::dvec2(wide, (thickness + 1.25) * sheet.em()), end, -1);
    const glm::dvec2 begin = end - glm::dvec2(length / pixel, thickness * sheet.em());
    sheet.rimmed_rectangle(begin, end, sheet.ink());
    sheet.label(text, {end.x, begin.y - 0.25 * sheet.em()}, {1, 1});
}

// ---- The time stamp and the user's text.

static void draw_texts(Sheet& sheet, const AnnotationContext& context) {
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

// ---- Streaks

namespace {

constexpr double um_of_mm = 1000;
constexpr double usual_count = 6;                  // streaks per vessel if the length is automatic
constexpr double apart = 2;                        // distance between streaks, in streak lengths
constexpr double body_widths = 3, rim_widths = 6;  // in line widths of annotations
constexpr double max_count = 1000;                 // streaks per vessel
constexpr double jitter = 0.3;                     // of the distance, in either direction
// Share of half of the colours, so that slow streaks differ from gray tissue.
constexpr double min_level = 0.2;

// A point on a vessel's centre line.
struct CoursePoint {
    glm::dvec3 place;
    double mm_s = 0;
    double at_s = 0;  // arrival time of blood that leaves the first point at 0
};
using Course = std::vector<CoursePoint>;

// Splits the list into vessels. Between points, the speed is the mean of both ends.
std::vector<Course> courses_of(const std::vector<double>& numbers) {
    std::vector<Course> courses;
    double vessel = 0;
    for (std::size_t i = 0; i + 5 <= numbers.size(); i += 5) {
        if (courses.empty() || numbers[i] != vessel) courses.emplace_back();
        vessel = numbers[i];
        Course& course = courses.back();
        CoursePoint point{{numbers[i + 1], numbers[i + 2], numbers[i + 3]}, numbers[i + 4]};
        if (!course.empty()) {
            const CoursePoint& before = course.back();
            const double um_s = um_of_mm * 0.5 * (before.mm_s + point.mm_s);
            point.at_s = before.at_s + glm::distance(before.place, point.place) / um_s;
        }
        course.push_back(point);
    }
    return courses;
}

// Returns a low-discrepancy number in [-1/2, 1/2] for a streak (Weyl, 1916), the same in every picture.
double scattered(std::int64_t number) {
    constexpr double golden = 0.6180339887498949;
    const double part = golden * static_cast<double>(number);
    return part - std::floor(part) - 0.5;
}

// Adds the path of blood between two times after leaving the first point. `pulse` scales the speed.
void add_streak(const Course& course, double tail_s, double head_s, double pulse, std::vector<StreakPiece>& pieces) {
    for (std::size_t i = 0; i + 1 < course.size(); ++i) {
        const CoursePoint &a = course[i], &b = course[i + 1];
        const double from = std::max(tail_s, a.at_s), to = std::min(head_s, b.at_s);
        if (!(from < to)) continue;
        const auto at = [&](double time_s) {
            return a.place + (time_s - a.at_s) / (b.at_s - a.at_s) * (b.place - a.place);
        };
        const glm::dvec3 way = b.place - a.place;
        const double axial = pulse * 0.5 * (a.mm_s + b.mm_s) * way.x / glm::length(way);
        pieces.push_back({at(from), at(to), axial});
    }
}

void add_streaks(const Course& course, const Annotations& view, std::vector<StreakPiece>& pieces) {
    const double whole_s = course.back().at_s;
    if (!(whole_s > 0)) return;
    const double length_s = view.streak_s > 0 ? view.streak_s : whole_s / (apart * usual_count);
    const double count = std::clamp(std::round(whole_s / (apart * length_s)), 1.0, max_count);
    // Streaks move slower than blood by `streak_pace`; they re-enter at the start of the vessel.
    const double moved_s = view.streak_pace * travelled_s(view.streak_pulse, view.streak_time_s);
    const double pulse = pulse_at(view.streak_pulse, view.streak_time_s);
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(count); ++k) {
        // Jitter breaks up the regular spacing.
        const double start_s = (static_cast<double>(k) + 2 * jitter * scattered(k)) * whole_s / count;
        double head_s = std::fmod(start_s + moved_s, whole_s);
        if (head_s < 0) head_s += whole_s;
        add_streak(course, std::max(0.0, head_s - length_s * pulse), head_s, pulse, pieces);
    }
}

// A periodic table of times and values. The period is extended by the mean step, from the last value back to the first.
struct Round {
    explicit Round(const std::vector<double>& pulse) : table(pulse), count(pulse.size() / 2), first_s(pulse[0]) {
        const double last_s = pulse[2 * (count - 1)];
        if (count > 1) length_s = (last_s - first_s) * static_cast<double>(count) / static_cast<double>(count - 1);
    }

    double time(std::size_t i) const { return i < count ? table[2 * i] : first_s + length_s; }
    double value(std::size_t i) const { return table[2 * (i % count) + 1]; }

    // Integrates from the start of the table with the trapezoidal rule.
    double integral(double from_begin_s) const {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double begin = time(i) - first_s, end = time(i + 1) - first_s;
            const double to = std::min(end, from_begin_s);
            if (to <= begin) break;
            const double last = value(i) + (to - begin) / (end - begin) * (value(i + 1) - value(i));
            sum += 0.5 * (value(i) + last) * (to - begin);
        }
        return sum;
    }

    const std::vector<double>& table;
    std::size_t count;
    double first_s, length_s = 0;
};

// Signed speeds use both halves of the map, others the upper half.
glm::dvec3 colour_of(const ColourMap& map, double axial_mm_s, double range, bool has_sign) {
    const double part = std::clamp(std::abs(axial_mm_s) / range, min_level, 1.0);
    return colour_at(map, has_sign && axial_mm_s < 0 ? 0.5 - 0.5 * part : 0.5 + 0.5 * part);
}

}  // namespace

double pulse_at(const std::vector<double>& pulse, double time_s) {
    if (pulse.size() < 4) return 1;
    const Round round(pulse);
    double at = std::fmod(time_s - round.first_s, round.length_s);
    if (at < 0) at += round.length_s;
    std::size_t i = 0;
    while (i + 1 < round.count && round.time(i + 1) - round.first_s <= at) ++i;
    const double begin = round.time(i) - round.first_s, end = round.time(i + 1) - round.first_s;
    return round.value(i) + (at - begin) / (end - begin) * (round.value(i + 1) - round.value(i));
}

double travelled_s(const std::vector<double>& pulse, double time_s) {
    if (pulse.size() < 4) return time_s;
    const Round round(pulse);
    const auto since_first = [&](double at_s) {
        const double turns = std::floor((at_s - round.first_s) / round.length_s);
        const double rest = at_s - round.first_s - turns * round.length_s;
        return turns * round.integral(round.length_s) + round.integral(rest);
    };
    return since_first(time_s) - since_first(0);
}

std::vector<StreakPiece> streak_pieces(const Annotations& streaks) {
    std::vector<StreakPiece> pieces;
    for (const Course& course : courses_of(streaks.flow_streaks)) {
        if (course.size() > 1) add_streaks(course, streaks, pieces);
    }
    return pieces;
}

// Draws the streaks in the colours of the flow overlay and on its scale. Without an overlay, the scale reaches to the
// fastest streak.
static void draw_flow_streaks(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow) {
    const std::vector<StreakPiece> pieces = streak_pieces(context.view);
    if (pieces.empty()) return;
    const bool is_of_speeds = flow && flow->unit == "mm/s" && flow->range > 0;
    double range = is_of_speeds ? flow->range : 0;
    for (const StreakPiece& piece : pieces) {
        if (!is_of_speeds) range = std::max(range, std::abs(piece.axial_mm_s));
    }
    range = std::max(range, 1e-9);
    const ColourMap map = colour_map(context.view.flow_colour_map);
    const auto draw = [&](double widths, const auto& colour) {
        for (const StreakPiece& piece : pieces) {
            const auto line = context.seen(context.from_centre(piece.from), context.from_centre(piece.to));
            if (line) sheet.wide_line(line->from, line->to, widths, colour(piece));
        }
    };
    draw(rim_widths, [](const StreakPiece&) { return glm::vec4(0, 0, 0, 1); });  // makes them visible on the overlay
    draw(body_widths, [&](const StreakPiece& piece) {
        return glm::vec4(colour_of(map, piece.axial_mm_s, range, !is_of_speeds || flow->has_sign), 1);
    });
}

// ---- All annotations of a picture

// The order of the calls decides which annotation gets its preferred place, see Sheet::make_room().
Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function,
                     const std::optional<FlowScale>& flow, const std::vector<ChannelLegend>& channels) {
    Sheet sheet(view);
    const AnnotationContext context(view, grid, function);
    if (view.depth_ruler) draw_depth_ruler(sheet, context);
    draw_flow_streaks(sheet, context, flow);
    draw_measures(sheet, context);
    draw_frame(sheet, context);
    if (view.colour_bar) draw_colour_bars(sheet, context, flow, channels);
    if (view.scale_bar && view.projection != Projection::panorama) draw_scale_bar(sheet, context);
    if (view.axes && view.projection != Projection::panorama) draw_axes(sheet, context);
    draw_texts(sheet, context);
    return sheet;
}

}  // namespace echolux
