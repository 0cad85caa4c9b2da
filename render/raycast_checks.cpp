#include "render/raycast_checks.h"

#include "compute/error.h"
#include "render/heights.h"

namespace echolux {
namespace {

// Curves over the distance to a surface need a surface.
void check_second_axis(const Shot& shot) {
    const TransferCurve& curve = curve_of(shot.view, shot.scene.grid());
    if (!curve.plane || curve.plane->second != SecondAxis::distance || !shot.view.top_from.empty()) return;
    throw Error(ErrorCode::bad_setting, "the transfer function goes by the distance to a surface, and there is none",
                "view.top_from", "name a surface, for example \"surface\", and let heights cut");
}

}  // namespace

void check_scene(const Shot& shot) {
    if (shot.view.mode == ViewMode::traced && shot.scene.field != nullptr) {
        throw Error(ErrorCode::bad_setting, "B-scans that are planes in space are not traced", "view.mode",
                    "choose another mode, for example composite");
    }
    check_second_axis(shot);
    if (!has_height_maps(shot.view) || shot.scene.heights != nullptr) return;
    throw Error(ErrorCode::bad_setting, "no heights were set", "view.top_from, view.bottom_from",
                "set the maps before the picture is made, or give constant depths");
}

}  // namespace echolux
