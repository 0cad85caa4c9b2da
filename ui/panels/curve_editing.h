// Editing of transfer functions as pure functions from curve to curve: move, add, remove and colour points. Also maps
// values and extinctions to positions in the editor.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "compute/plan/describe.h"
#include "render/picture.h"
#include "render/transfer_function.h"
#include "ui/panels/number_scale.h"

namespace echolux {

// Maps extinctions to heights from 0 to 1: linear near zero and logarithmic above, because 5 and 10 differ visually as
// much as 50 and 100.
class ExtinctionScale {
  public:
    explicit ExtinctionScale(const std::vector<TransferNode>& nodes);

    double height_of(double extinction) const;
    double extinction_at(double height) const;  // height in 0 to 1

  private:
    double max_;
};

// Returns the curve in use as an editable copy, in units of the volume. `length_um` is the reference length of
// extinctions.
TransferCurve editable(const TransferFunction& function, const std::string& unit, double length_um);

// Curve and index of the added point.
struct PointAdded {
    TransferCurve curve;
    std::size_t point;
};

// Adds a point on the curve, or at the level of the nearest end outside its range.
PointAdded with_point(TransferCurve curve, double value);

// Moves a point. Its value stays between its neighbours, its extinction at or above 0.
TransferCurve with_point_moved(TransferCurve curve, std::size_t point, double value, double extinction);

// Removes a point. The last two points cannot be removed.
TransferCurve without_point(TransferCurve curve, std::size_t point);

// Sets the roughness of a surface for path tracing. If the curve has no roughness yet, its other points are set to
// `of_others`.
TransferCurve with_roughness(TransferCurve curve, std::size_t point, double roughness, double of_others);

TransferCurve with_colour(TransferCurve curve, std::size_t point, const std::array<double, 3>& colour);

// Returns the point nearest to `at` within `reach`; all in pixels. `places` holds the positions of all points.
using PlaceInPicture = std::array<double, 2>;
std::optional<std::size_t> nearest_point(const std::vector<PlaceInPicture>& places, const PlaceInPicture& at,
                                         double reach);

// Zooms `shown` by `factor` around `value`, within `whole` and to at least 1/10000 of it.
ValueRange zoomed(const ValueRange& shown, const ValueRange& whole, double value, double factor);
// Shifts `shown` by `by` within `whole`.
ValueRange panned(const ValueRange& shown, const ValueRange& whole, double by);

// Returns `before` if it fits almost as well as `wanted`, so that an axis does not move with every volume.
ValueRange steady(const ValueRange& before, const ValueRange& wanted);

// Returns the height of the histogram from 0 to 1 in each of `columns` across `shown`, on a logarithmic scale.
std::vector<float> histogram_heights(const Histogram& histogram, const ValueRange& shown, std::size_t columns);

}  // namespace echolux
