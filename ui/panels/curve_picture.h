// Picture of a transfer function over the histogram of the volume: positions and drawing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "ui/panels/curve_editing.h"
#include "ui/panels/panel.h"

namespace echolux {

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
    TransferNode shown_at(double value) const;   // colour and extinction as displayed
    std::vector<PlaceInPicture> places() const;  // positions of the points
    TransferCurve curve() const;                 // editable copy
};

void draw_curve(const CurvePicture& picture);  // draws histogram and colours
void draw_points(const CurvePicture& picture, std::optional<std::size_t> selected);
void draw_axis(const CurvePicture& picture);  // also draws the handles of the range

}  // namespace echolux
