// Editor for the transfer function, drawn over the histogram of the volume. Mouse: drag points; double click to add,
// right click to remove a point; drag the limits of the range below the picture; wheel to zoom; middle button to pan.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "render/picture.h"
#include "render/transfer_function.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"

namespace echolux {

// ---- Editing of transfer functions as pure functions from curve to curve: move, add, remove and colour points. Also
// maps values and extinctions to positions in the editor.

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
using PicturePoint = std::array<double, 2>;
std::optional<std::size_t> nearest_point(const std::vector<PicturePoint>& places, const PicturePoint& at, double reach);

// Zooms `shown` by `factor` around `value`, within `whole` and to at least 1/10000 of it.
ValueRange zoomed(const ValueRange& shown, const ValueRange& whole, double value, double factor);
// Shifts `shown` by `by` within `whole`.
ValueRange panned(const ValueRange& shown, const ValueRange& whole, double by);

// Returns `before` if it fits almost as well as `wanted`, so that an axis does not move with every volume.
ValueRange steady(const ValueRange& before, const ValueRange& wanted);

// Returns the height of the histogram from 0 to 1 in each of `columns` across `shown`, on a logarithmic scale.
std::vector<float> histogram_heights(const Histogram& histogram, const ValueRange& shown, std::size_t columns);

// ---- Picture of a transfer function over the histogram of the volume: positions and drawing.

struct CurvePicture {
    const PanelContext& context;
    const TransferFunction& shown;  // function as displayed
    const TransferFunction& bare;   // without view.colour_map; its points are edited
    const std::optional<Histogram>& histogram;
    std::string unit;  // unit of the volume
    ExtinctionScale extinctions;
    ValueRange values;  // visible range of values
    ImVec2 low, high;   // corners in pixels; the axis is drawn below

    float x_of(double value) const;
    double value_at(float x) const;
    float y_of(double extinction) const;
    double extinction_at(float y) const;
    TransferNode shown_at(double value) const;  // colour and extinction as displayed
    std::vector<PicturePoint> places() const;   // positions of the points
    TransferCurve curve() const;                // editable copy
};

void draw_curve(const CurvePicture& picture);  // draws histogram and colours
void draw_points(const CurvePicture& picture, std::optional<std::size_t> selected);
void draw_axis(const CurvePicture& picture);  // also draws the handles of the range

class CurveEditor {
  public:
    // `shown` is the function as displayed. `bare` is the function without view.colour_map, whose points are edited.
    void draw(const PanelContext& context, const TransferFunction& shown, const TransferFunction& bare,
              const std::optional<Histogram>& histogram, const VolumeGrid& grid);

    // Fills the same space without a volume, so that the layout does not change when one arrives.
    static void draw_without_volume(const PanelContext& context);

    std::optional<std::size_t> selected() const { return selected_; }  // index of the selected point

  private:
    // The dragged part; low and high are the limits of the range.
    enum class DragPart { nothing, point, low, high };

    void begin_drag(const CurvePicture& picture);
    void drag(const CurvePicture& picture);
    void end_drag(const CurvePicture& picture);
    void add_or_remove(const CurvePicture& picture);
    void look_around(const CurvePicture& picture);
    void draw_selected(const CurvePicture& picture);

    ValueRange whole_{0, 0};  // range of the value axis
    ValueRange shown_{0, 0};  // visible part of it
    std::optional<std::size_t> selected_;
    DragPart held_ = DragPart::nothing;
    bool has_moved_ = false;
};

}  // namespace echolux
