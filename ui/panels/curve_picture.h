// The picture of a transfer function over the histogram of the volume: where everything lies in it, and drawing it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ui/panels/curve_editing.h"
#include "ui/panels/panel.h"

namespace echolux {

struct CurvePicture {
    const PanelContext& context;
    const TransferFunction& shown;  // as it colours
    const TransferFunction& bare;   // without view.colour_map: its points are edited
    const std::optional<Histogram>& histogram;
    std::string unit;  // of the volume
    ExtinctionScale extinctions;
    ValueRange values;  // that are seen
    ImVec2 low, high;   // corners, in pixels; the axis stands below

    float x_of(double value) const;
    double value_at(float x) const;
    float y_of(double extinction) const;
    double extinction_at(float y) const;
    TransferNode shown_at(double value) const;
    std::vector<PlaceInPicture> places() const;  // of the points
    TransferCurve curve() const;                 // to be edited
};

void draw_curve(const CurvePicture& picture);  // histogram, colours
void draw_points(const CurvePicture& picture, std::optional<std::size_t> selected);
void draw_axis(const CurvePicture& picture);  // with the handles of the range

}  // namespace echolux
