#include "render/transfer_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "render/camera.h"
#include "render/view/curve.h"

namespace echolux {
namespace {

ValueRange span_of(const TransferCurve& curve) {
    return {curve.nodes.front().value, curve.nodes.back().value};
}

// Returns the offset of max projections in dB: the max of some hundred speckles on a ray is about ln 100 = 6.6 dB above
// their mean.
double speckle_maximum(ViewMode mode, const VolumeGrid& grid) {
    return text_of(mode).statistic == RayStatistic::maximum && grid.unit == "dB above noise floor" ? 7 : 0;
}

// Means along rays through the whole volume include dark regions, so they need a lower upper end than single voxels.
ValueRange voxel_range(const View& view, const ValueRange& percentiles) {
    const auto [low, high] = percentiles;
    const bool is_mixed = text_of(view.mode).statistic == RayStatistic::mean && view.show != ViewContent::slice;
    return {low, std::lerp(low, high, is_mixed ? 0.4 : 1.0)};
}

// Range of a preset: the curve's own if it has the volume's unit.
ValueRange preset_range(const View& view, const TransferCurve& preset, const VolumeGrid& grid,
                        const ValueRange& percentiles) {
    if (preset.is_relative || preset.unit != grid.unit) return voxel_range(view, percentiles);
    const double higher = speckle_maximum(view.mode, grid);
    const auto [low, high] = span_of(preset);
    return {low + higher, high + higher};
}

// Range of a file's curve: its own values, unless it is relative.
ValueRange file_range(const View& view, const TransferCurve& curve, const VolumeGrid& grid,
                      const ValueRange& percentiles) {
    if (curve.is_relative) return percentiles;
    const bool is_chosen = view.low != lowest_value && view.high != highest_value;
    if (!is_chosen && !curve.unit.empty() && !grid.unit.empty() && curve.unit != grid.unit) {
        throw Error(ErrorCode::bad_setting, fmt::format("its unit is {}, that of the volume {}", curve.unit, grid.unit),
                    view.transfer + ", transfer.unit",
                    "set view.low and view.high: the preset is then spread between them");
    }
    return span_of(curve);
}

// Replaces the ends of `automatic` that the view sets.
ValueRange completed(const View& view, ValueRange automatic) {
    if (view.low != lowest_value) automatic.low = view.low;
    if (view.high != highest_value) automatic.high = view.high;
    if (automatic.low < automatic.high) return automatic;
    throw Error(
        ErrorCode::bad_setting,
        fmt::format("low = {:g} is not below high = {:g}, one of which is automatic", automatic.low, automatic.high),
        "view.low, view.high", "set both");
}

// Stretches the nodes to the range.
std::vector<TransferNode> spread(std::vector<TransferNode> nodes, const ValueRange& range) {
    const double first = nodes.front().value;
    const double length = nodes.back().value - first;
    for (TransferNode& node : nodes) node.value = std::lerp(range.low, range.high, (node.value - first) / length);
    return nodes;
}

// Converts a plane to the volume's values and lengths. Its second axis scales along with the values. Gradients of
// relative curves are per smallest voxel edge, others per um.
TransferPlane spread(TransferPlane plane, const TransferCurve& curve, const ValueRange& range, const VolumeGrid& grid) {
    const double first = curve.nodes.front().value;
    const double per_value = (range.high - range.low) / (curve.nodes.back().value - first);
    const double per_length = curve.is_relative ? 1 / std::ranges::min(voxel_edges(grid)) : 1;
    const double per_second = plane.second == SecondAxis::gradient    ? per_value * per_length
                              : plane.second == SecondAxis::curvature ? per_length
                                                                      : 1;
    plane.from *= per_second;
    plane.to *= per_second;
    for (TransferWidget& widget : plane.widgets) {
        for (PlanePoint& point : widget.points) {
            point = {range.low + (point.value - first) * per_value, point.second * per_second};
        }
    }
    return plane;
}

// Replaces the colours by those of a map and keeps the extinctions. Adds the nodes of the map.
void paint(TransferFunction& function, const ColourMap& map) {
    std::vector<TransferNode> nodes = function.nodes;
    const auto last = static_cast<double>(map.size() - 1);
    for (std::size_t i = 1; i + 1 < map.size(); ++i) nodes.push_back(function.at(static_cast<double>(i) / last));
    std::ranges::sort(nodes, {}, &TransferNode::value);
    const double low = function.range.low;
    const double high = function.range.high;
    const auto is_same_place = [&](const TransferNode& a, const TransferNode& b) {
        return b.value - a.value < 1e-9 * (high - low);
    };
    nodes.erase(std::unique(nodes.begin(), nodes.end(), is_same_place), nodes.end());
    for (TransferNode& node : nodes) {
        const glm::dvec3 colour = colour_at(map, (node.value - low) / (high - low));
        node = {node.value, colour.r, colour.g, colour.b, node.extinction, node.roughness};
    }
    function.nodes = std::move(nodes);
}

}  // namespace

TransferNode between(const TransferNode& a, const TransferNode& b, double value) {
    const double part = (value - a.value) / (b.value - a.value);
    return {value,
            std::lerp(a.red, b.red, part),
            std::lerp(a.green, b.green, part),
            std::lerp(a.blue, b.blue, part),
            std::lerp(a.extinction, b.extinction, part),
            std::lerp(a.roughness, b.roughness, part)};
}

TransferNode TransferFunction::at(double level) const {
    const double value = std::lerp(range.low, range.high, std::clamp(level, 0.0, 1.0));
    const auto after = std::ranges::upper_bound(nodes, value, {}, &TransferNode::value);
    if (after == nodes.begin()) return nodes.front();
    if (after == nodes.end()) return nodes.back();
    return between(*(after - 1), *after, value);
}

double TransferFunction::first_visible_level() const {
    double value = range.low;
    for (const TransferNode& node : nodes) {
        if (node.extinction > 0) return (value - range.low) / (range.high - range.low);
        value = node.value;
    }
    return 1;
}

// A file has priority over a user-defined preset, which has priority over a shipped one.
const TransferCurve& curve_of(const View& view, const VolumeGrid& grid) {
    return view.transfer_curve ? *view.transfer_curve
           : view.own_preset   ? *view.own_preset
                               : preset_curve(view.preset, grid);
}

TransferFunction transfer_function(const View& view, const VolumeGrid& grid, const ValueRange& percentiles) {
    const bool is_file = view.transfer_curve.has_value();
    const TransferCurve& curve = curve_of(view, grid);
    TransferFunction function;
    function.range = completed(
        view, is_file ? file_range(view, curve, grid, percentiles) : preset_range(view, curve, grid, percentiles));
    function.nodes = spread(curve.nodes, function.range);
    if (curve.plane) function.plane = spread(*curve.plane, curve, function.range, grid);
    if (view.colour_map != "preset") paint(function, colour_map(view.colour_map));
    function.length = view.opacity_length_um > 0 ? view.opacity_length_um
                      : curve.length_um > 0      ? curve.length_um
                                                 : volume_extent(grid).x;
    return function;
}

std::array<std::uint8_t, 4> bytes_of(double red, double green, double blue) {
    const auto byte_of = [](double part) {
        return static_cast<std::uint8_t>(std::lround(255 * std::clamp(part, 0.0, 1.0)));
    };
    return {byte_of(red), byte_of(green), byte_of(blue), 255};
}

bool has_gray_slices(const View& view, const VolumeGrid& grid) {
    return view.slice_colours == SliceColours::gray && grid.quantity != "reflectivity";
}

double isovalue_of(const View& view, const TransferFunction& function) {
    return view.isovalue != lowest_value ? view.isovalue : 0.5 * (function.range.low + function.range.high);
}

TransferTable transfer_table(const TransferFunction& function, int entries) {
    TransferTable table;
    for (int i = 0; i < entries; ++i) {
        const TransferNode node = function.at(static_cast<double>(i) / (entries - 1));
        table.extinctions.push_back(static_cast<float>(node.extinction));
        table.colours.push_back(bytes_of(node.red, node.green, node.blue));
    }
    if (function.plane) table.extinctions = plane_table(function, entries).largest;
    return table;
}

// ---- Plane table

static PlaneReach reach_of(const TransferFunction& function) {
    return {function.range.low, function.range.high, function.plane->from, function.plane->to};
}

// Combines the curve's node with all widgets at a point of the plane.
static TransferNode mixed(const TransferNode& base, const std::vector<TransferWidget>& widgets, const PlanePoint& at,
                          const PlaneReach& reach) {
    TransferNode node = base;
    double sum = base.extinction;
    std::array<double, 3> colour{sum * base.red, sum * base.green, sum * base.blue};
    for (const TransferWidget& widget : widgets) {
        const double extinction = widget.extinction * weight_at(widget, at, reach);
        if (extinction <= 0) continue;
        node.extinction = std::max(node.extinction, extinction);
        sum += extinction;
        for (std::size_t i = 0; i < 3; ++i) colour[i] += extinction * widget.colour[i];
    }
    if (sum == base.extinction) return node;
    node.red = colour[0] / sum;
    node.green = colour[1] / sum;
    node.blue = colour[2] / sum;
    return node;
}

TransferNode seen_at(const TransferFunction& function, const PlanePoint& at) {
    const auto [low, high] = function.range;
    return mixed(function.at((at.value - low) / (high - low)), function.plane->widgets, at, reach_of(function));
}

PlaneTable plane_table(const TransferFunction& function, int values) {
    const TransferPlane& plane = *function.plane;
    const PlaneReach reach = reach_of(function);
    const auto columns = index(values);
    PlaneTable table{std::vector<PlaneEntry>(columns * shared::second_rows), std::vector<float>(columns)};
    for (std::size_t i = 0; i < columns; ++i) {
        const double level = static_cast<double>(i) / (values - 1);
        const TransferNode base = function.at(level);
        PlanePoint at{std::lerp(function.range.low, function.range.high, level), 0};
        for (std::size_t row = 0; row < shared::second_rows; ++row) {
            at.second = std::lerp(plane.from, plane.to, static_cast<double>(row) / (shared::second_rows - 1));
            const TransferNode node = mixed(base, plane.widgets, at, reach);
            const auto extinction = static_cast<float>(node.extinction);
            table.entries[row * columns + i] = {extinction, bytes_of(node.red, node.green, node.blue)};
            table.largest[i] = std::max(table.largest[i], extinction);
        }
    }
    return table;
}

bool uses_plane(const TransferCurve& curve, ViewMode mode) {
    return curve.plane && text_of(mode).has_second_axis;
}

}  // namespace echolux
