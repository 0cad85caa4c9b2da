// Editing a transfer function, as plain functions from curve to curve: points are dragged between their neighbours,
// added on the line, taken away, coloured; and how values and extinctions lie in the picture of it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "render/stats.h"
#include "render/transfer_function.h"
#include "ui/panels/number_scale.h"

namespace echolux {

// How high an extinction stands, from 0 to 1: evenly near zero, by factors above, since 5 and 10 look as different as
// 50 and 100.
class ExtinctionScale {
  public:
    explicit ExtinctionScale(const std::vector<TransferNode>& nodes);

    double height_of(double extinction) const;
    double extinction_at(double height) const;  // of 0 to 1

  private:
    double max_;
};

// The curve as it is in use, in the volume's values, to be edited.
TransferCurve editable(const TransferFunction& function, const std::string& unit, double length_um);

struct PointAdded {
    TransferCurve curve;
    std::size_t point;
};

// On the line; beyond the ends as the end is.
PointAdded with_point(TransferCurve curve, double value);

// Kept between its neighbours and above zero.
TransferCurve with_point_moved(TransferCurve curve, std::size_t point, double value, double extinction);

// Two points stay at least.
TransferCurve without_point(TransferCurve curve, std::size_t point);

// Of surfaces in traced light. Where the curve has none yet, its other points take `of_others`.
TransferCurve with_roughness(TransferCurve curve, std::size_t point, double roughness, double of_others);

TransferCurve with_colour(TransferCurve curve, std::size_t point, const std::array<double, 3>& colour);

// The point within `reach` of the place `at` that is nearest to it, where places() of all points are known.
using PlaceInPicture = std::array<double, 2>;
std::optional<std::size_t> nearest_point(const std::vector<PlaceInPicture>& places, const PlaceInPicture& at,
                                         double reach);

// `shown` enlarged `factor` times around `value`; never beyond `whole`, never closer than a ten-thousandth of it.
ValueRange zoomed(const ValueRange& shown, const ValueRange& whole, double value, double factor);
ValueRange panned(const ValueRange& shown, const ValueRange& whole, double by);

// `wanted`, or what was taken before where that fits nearly as well: an axis does not move with every volume.
ValueRange steady(const ValueRange& before, const ValueRange& wanted);

// How high the histogram stands in each of `columns` between the ends of `shown`, from 0 to 1, by factors.
std::vector<float> histogram_heights(const Histogram& histogram, const ValueRange& shown, std::size_t columns);

}  // namespace echolux
