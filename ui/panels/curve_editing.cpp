#include "ui/panels/curve_editing.h"
#include "compute/plan/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace echolux {
namespace {

constexpr double even_below = 2;   // in extinctions per curve length: the scale is linear below
constexpr double usual_max = 400;  // largest extinction of the presets
constexpr double closest = 1e-4;   // minimum distance of points relative to the length of the curve

double span_of(const TransferCurve& curve) {
    return curve.nodes.back().value - curve.nodes.front().value;
}

// Shifts a range into `whole`, and shortens it if necessary.
ValueRange kept_inside(ValueRange shown, const ValueRange& whole) {
    const double length = std::min(shown.high - shown.low, whole.high - whole.low);
    const double low = std::clamp(shown.low, whole.low, std::max(whole.low, whole.high - length));
    return {low, low + length};
}

}  // namespace

ExtinctionScale::ExtinctionScale(const std::vector<TransferNode>& nodes) : max_(usual_max) {
    for (const TransferNode& node : nodes) max_ = std::max(max_, 1.25 * node.extinction);
}

// logarithmic scale that is linear near 0
double ExtinctionScale::height_of(double extinction) const {
    return std::log1p(extinction / even_below) / std::log1p(max_ / even_below);
}

double ExtinctionScale::extinction_at(double height) const {
    return even_below * std::expm1(std::clamp(height, 0.0, 1.0) * std::log1p(max_ / even_below));
}

TransferCurve editable(const TransferFunction& function, const std::string& unit, double length_um) {
    return {.nodes = function.nodes, .unit = unit, .length_um = length_um, .plane = function.plane};
}

// The new point takes its properties from the curve at this value.
PointAdded with_point(TransferCurve curve, double value) {
    auto& nodes = curve.nodes;
    const auto after = std::ranges::upper_bound(nodes, value, {}, &TransferNode::value);
    TransferNode node = after == nodes.begin() ? nodes.front() : nodes.back();
    if (after != nodes.begin() && after != nodes.end()) node = between(*(after - 1), *after, value);
    node.value = value;
    const auto place = after - nodes.begin();
    nodes.insert(after, node);
    const auto point = static_cast<std::size_t>(place);
    return {with_point_moved(std::move(curve), point, value, node.extinction), point};
}

TransferCurve with_point_moved(TransferCurve curve, std::size_t point, double value, double extinction) {
    auto& nodes = curve.nodes;
    const double gap = closest * span_of(curve);
    constexpr double far = std::numeric_limits<double>::infinity();
    const double low = point > 0 ? nodes[point - 1].value + gap : -far;
    const double high = point + 1 < nodes.size() ? nodes[point + 1].value - gap : far;
    // Neighbours that are too close leave only the middle.
    nodes[point].value = low <= high ? std::clamp(value, low, high) : 0.5 * (low + high);
    nodes[point].extinction = std::max(extinction, 0.0);
    return curve;
}

TransferCurve without_point(TransferCurve curve, std::size_t point) {
    if (curve.nodes.size() > 2) curve.nodes.erase(curve.nodes.begin() + static_cast<std::ptrdiff_t>(point));
    return curve;
}

TransferCurve with_roughness(TransferCurve curve, std::size_t point, double roughness, double of_others) {
    for (TransferNode& node : curve.nodes) {
        if (node.roughness == no_roughness) node.roughness = of_others;
    }
    curve.nodes[point].roughness = std::clamp(roughness, 0.05, 1.0);
    return curve;
}

TransferCurve with_colour(TransferCurve curve, std::size_t point, const std::array<double, 3>& colour) {
    TransferNode& node = curve.nodes[point];
    node = {node.value, colour[0], colour[1], colour[2], node.extinction, node.roughness};
    return curve;
}

std::optional<std::size_t> nearest_point(const std::vector<PlaceInPicture>& places, const PlaceInPicture& at,
                                         double reach) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double distance = std::hypot(places[i][0] - at[0], places[i][1] - at[1]);
        if (distance > reach) continue;
        reach = distance;
        nearest = i;
    }
    return nearest;
}

ValueRange zoomed(const ValueRange& shown, const ValueRange& whole, double value, double factor) {
    const double min_length = 1e-4 * (whole.high - whole.low);
    const double length = std::max((shown.high - shown.low) / factor, min_length);
    const double part = (value - shown.low) / (shown.high - shown.low);
    const double low = value - part * length;
    return kept_inside({low, low + length}, whole);
}

ValueRange panned(const ValueRange& shown, const ValueRange& whole, double by) {
    return kept_inside({shown.low + by, shown.high + by}, whole);
}

ValueRange steady(const ValueRange& before, const ValueRange& wanted) {
    const bool has_room = before.low <= wanted.low && before.high >= wanted.high;
    const bool is_close = wanted.high - wanted.low >= 0.7 * (before.high - before.low);
    return has_room && is_close ? before : wanted;
}

// Counts are scaled logarithmically to the highest bin. A column shows the maximum of its bins, so that narrow peaks
// stay visible.
std::vector<float> histogram_heights(const Histogram& histogram, const ValueRange& shown, std::size_t columns) {
    std::vector<float> heights(columns);
    const auto bins = static_cast<double>(histogram.counts.size());
    if (bins == 0 || histogram.low >= histogram.high) return heights;
    const auto most = static_cast<double>(*std::ranges::max_element(histogram.counts));
    const auto bin_of = [&](double value) { return bins * (value - histogram.low) / (histogram.high - histogram.low); };
    for (std::size_t i = 0; i < columns; ++i) {
        const auto value_at = [&](std::size_t edge) {
            return std::lerp(shown.low, shown.high, static_cast<double>(edge) / static_cast<double>(columns));
        };
        const double first = std::floor(bin_of(value_at(i))),
                     last = std::max(std::ceil(bin_of(value_at(i + 1))), first + 1);
        std::uint32_t highest = 0;
        for (double bin = std::max(first, 0.0); bin < std::min(last, bins); ++bin) {
            highest = std::max(highest, histogram.counts[static_cast<std::size_t>(bin)]);
        }
        heights[i] = static_cast<float>(most > 0 ? std::log1p(highest) / std::log1p(most) : 0);
    }
    return heights;
}

}  // namespace echolux
