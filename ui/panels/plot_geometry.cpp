#include "ui/panels/plot_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace echolux {
namespace {

// Points within one pixel column, reduced to their minimum and maximum in the original order.
class Column {
  public:
    void add(const PlotPoint& point) {
        if (!min_ || point.value < min_->value) min_ = point;
        if (!greatest_ || point.value > greatest_->value) greatest_ = point;
    }

    void give(std::vector<PlotPoint>& points) {
        if (!min_) return;
        const bool rises = min_->column <= greatest_->column;
        points.push_back(rises ? *min_ : *greatest_);
        if (min_->column != greatest_->column) points.push_back(rises ? *greatest_ : *min_);
        min_.reset();
        greatest_.reset();
    }

  private:
    std::optional<PlotPoint> min_, greatest_;
};

// Indices [from, to] of the points within a range, extended by one point on either side.
struct Shown {
    std::int64_t from, to;

    Shown(const PlotCurve& curve, const PlotRange& range) {
        const auto last = static_cast<double>(std::ssize(curve.values) - 1);
        const auto index_at = [&](double x) { return std::floor((x - curve.first) / curve.step); };
        from = static_cast<std::int64_t>(std::clamp(index_at(range.low), 0.0, last + 1));
        to = static_cast<std::int64_t>(std::clamp(index_at(range.high) + 1, -1.0, last));
    }
};

// Returns a step of 1, 2 or 5 times a power of ten that divides `span` into at most `about` parts.
double round_step(double span, std::int64_t about) {
    const double rough = span / static_cast<double>(std::max<std::int64_t>(1, about));
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * decade >= rough * (1 - 1e-9)) return factor * decade;
    }
    return 10 * decade;
}

}  // namespace

std::vector<PlotPoint> points_of(const PlotCurve& curve, const PlotRange& shown, double columns) {
    std::vector<PlotPoint> points;
    Column column;
    double number = 0;
    const auto [from, to] = Shown(curve, shown);
    for (std::int64_t i = from; i <= to; ++i) {
        const auto value = static_cast<double>(curve.values[static_cast<std::size_t>(i)]);
        if (!std::isfinite(value)) continue;
        const double x = shown.share(curve.first + static_cast<double>(i) * curve.step) * columns;
        if (std::floor(x) != number) column.give(points);
        number = std::floor(x);
        column.add({x, value});
    }
    column.give(points);
    return points;
}

std::vector<PlotSpan> spans_between(const PlotCurve& low, const PlotCurve& high, const PlotRange& shown,
                                    double columns) {
    std::vector<PlotSpan> spans;
    const auto [from, to] = Shown(low, shown);
    for (std::int64_t i = from; i <= to; ++i) {
        const double column = std::floor(shown.share(low.first + static_cast<double>(i) * low.step) * columns);
        const auto least = static_cast<double>(low.values[static_cast<std::size_t>(i)]);
        const auto greatest = static_cast<double>(high.values[static_cast<std::size_t>(i)]);
        if (spans.empty() || spans.back().column != column) spans.push_back({column, least, greatest});
        spans.back().low = std::min(spans.back().low, least);
        spans.back().high = std::max(spans.back().high, greatest);
    }
    return spans;
}

std::vector<double> ticks(const PlotRange& range, std::int64_t about) {
    std::vector<double> places;
    const double span = range.high - range.low;
    if (!(span > 0) || !std::isfinite(span)) return places;
    const double step = round_step(span, about);
    const double slack = 1e-9 * step;
    for (double n = std::ceil((range.low - slack) / step); n * step <= range.high + slack; ++n)
        places.push_back(n * step);
    return places;
}

std::string tick_text(double value, double step) {
    const double magnitude = std::max(std::abs(value), step);
    if (magnitude >= 1e6) return fmt::format("{:.3g}", value);
    const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 6);
    return fmt::format("{:.{}f}", std::abs(value) < step / 2 ? 0.0 : value, decimals);
}

PlotRange fitting_range(const std::vector<std::span<const float>>& curves) {
    std::optional<PlotRange> range;
    for (const std::span<const float>& curve : curves) {
        for (const float value : curve) {
            if (!std::isfinite(value)) continue;
            const auto y = static_cast<double>(value);
            range = range ? PlotRange{std::min(range->low, y), std::max(range->high, y)} : PlotRange{y, y};
        }
    }
    if (!range) return {};
    const double span = std::max(range->high - range->low, 1e-9 * std::max(1.0, std::abs(range->high)));
    const double step = round_step(span, 8);
    return {step * std::floor(range->low / step), step * (std::floor(range->high / step) + 1)};
}

PlotRange zoomed(const PlotRange& range, double factor, double around_share, const PlotRange& whole) {
    const double max_span = whole.high - whole.low, min_span = max_span / 1000;
    const double span = std::clamp((range.high - range.low) * factor, min_span, max_span);
    const double fixed = range.at(around_share);
    return moved({fixed - around_share * span, fixed + (1 - around_share) * span}, 0, whole);
}

PlotRange moved(const PlotRange& range, double by, const PlotRange& whole) {
    const double span = std::min(range.high - range.low, whole.high - whole.low);
    const double low = std::clamp(range.low + by, whole.low, whole.high - span);
    return {low, low + span};
}

}  // namespace echolux
