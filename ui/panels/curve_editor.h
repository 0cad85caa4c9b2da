// The picture of a transfer function over the histogram of the volume, edited by mouse: points are dragged, added by a
// double click, taken away by a right click; the ends of the range are dragged below; the wheel enlarges, the middle
// button moves.
#pragma once

#include <optional>

#include "ui/panels/curve_picture.h"
#include "ui/panels/panel.h"

namespace echolux {

class CurveEditor {
  public:
    // `shown`: the function as it colours; `bare`: the same without view.colour_map, whose points are edited.
    void draw(const PanelContext& context, const TransferFunction& shown, const TransferFunction& bare,
              const std::optional<Histogram>& histogram, const VolumeGrid& grid);

    // In the same room, where there is no volume yet: nothing moves when it comes.
    static void draw_without_volume(const PanelContext& context);

    std::optional<std::size_t> selected() const { return selected_; }  // point

  private:
    enum class Held { nothing, point, low, high };

    void take_hold(const CurvePicture& picture);
    void drag(const CurvePicture& picture);
    void let_go(const CurvePicture& picture);
    void add_or_remove(const CurvePicture& picture);
    void look_around(const CurvePicture& picture);
    void draw_selected(const CurvePicture& picture);

    ValueRange whole_{0, 0};  // of the value axis
    ValueRange shown_{0, 0};  // part of it
    std::optional<std::size_t> selected_;
    Held held_ = Held::nothing;
    bool has_moved_ = false;
};

}  // namespace echolux
