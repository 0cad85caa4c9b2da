// Where the points of a curve and the marks of an axis come to lie. A curve never has more than two points in a column
// of pixels, its least and its greatest there: fine lines and peaks stay as sharp as the screen is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echolux {

struct PlotRange {
    double low = 0;
    double high = 1;

    double share(double value) const { return (value - low) / (high - low); }
    double at(double share) const { return low + share * (high - low); }
};

// y over x = first + i * step.
struct PlotCurve {
    std::span<const float> values;
    double first = 0;
    double step = 1;  // above 0
};

struct PlotPoint {
    double column = 0;  // of `columns` pixels
    double value = 0;
};

// The part of the curve within `shown`, and one point beyond on either side; numbers that are not finite are left out.
std::vector<PlotPoint> points_of(const PlotCurve& curve, const PlotRange& shown, double columns);

// Between two curves with the same places: one part a column of pixels, from the least of `low` to the greatest of
// `high`.
struct PlotSpan {
    double column = 0;
    double low = 0;
    double high = 0;
};
std::vector<PlotSpan> spans_between(const PlotCurve& low, const PlotCurve& high, const PlotRange& shown,
                                    double columns);

// Round numbers within the range, about so many: steps of 1, 2 or 5 times a power of ten.
std::vector<double> ticks(const PlotRange& range, std::int64_t about);

// As many decimals as tell neighbouring ticks apart.
std::string tick_text(double value, double step);

// Smallest range with round ends around all finite values; 0..1 for none.
PlotRange fitting_range(const std::vector<std::span<const float>>& curves);

// `range` zoomed by `factor` (below 1: closer) around a share of it, kept inside `whole`.
PlotRange zoomed(const PlotRange& range, double factor, double around_share, const PlotRange& whole);
PlotRange moved(const PlotRange& range, double by, const PlotRange& whole);

}  // namespace echolux
