// Editor for the transfer function, drawn over the histogram of the volume. Mouse: drag points; double click to add,
// right click to remove a point; drag the limits of the range below the picture; wheel to zoom; middle button to pan.
#pragma once

#include <optional>

#include "compute/plan/describe.h"
#include "ui/panels/curve_picture.h"
#include "ui/panels/panel.h"

namespace echolux {

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
    enum class Held { nothing, point, low, high };

    void take_hold(const CurvePicture& picture);
    void drag(const CurvePicture& picture);
    void let_go(const CurvePicture& picture);
    void add_or_remove(const CurvePicture& picture);
    void look_around(const CurvePicture& picture);
    void draw_selected(const CurvePicture& picture);

    ValueRange whole_{0, 0};  // range of the value axis
    ValueRange shown_{0, 0};  // visible part of it
    std::optional<std::size_t> selected_;
    Held held_ = Held::nothing;
    bool has_moved_ = false;
};

}  // namespace echolux
