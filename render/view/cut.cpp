#include "render/view/cut.h"

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/view/planes.h"

namespace echolux {
namespace {

constexpr std::size_t max_planes = 6;

// Requires three numbers per corner and a box that is not empty.
void check_box(const Cut& cut) {
    constexpr const char* keys = "view.clip_low, view.clip_high";
    if (cut.clip_low.size() != 3 || cut.clip_high.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a corner of the clip box has three numbers", keys, "e.g. [0, 0.25, 0.5]");
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (cut.clip_low[axis] < cut.clip_high[axis]) continue;
        throw Error(ErrorCode::bad_setting, "the clip box is empty: clip_low is not below clip_high", keys,
                    "exchange them");
    }
}

}  // namespace

template <>
const std::vector<Field<Cut>>& describe<Cut>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Cut>> fields{
        numbers<Cut>("clip_low", &Cut::clip_low, 0, 1, "", view,
                     "start of the clip box, as fractions along depth, A-scans, B-scans"),
        numbers<Cut>("clip_high", &Cut::clip_high, 0, 1, "", view, "end of the clip box"),
        numbers<Cut>(
            "clip_planes", &Cut::clip_planes, -1e9, 1e9, "", view,
            "up to six planes beyond which nothing is shown, four numbers each: a normal along depth, A-scans, "
            "B-scans, and an offset along it in um from the middle of the volume"),
        text<Cut>("top_from", &Cut::top_from, view,
                  "what top_um counts from: \"\" zero delay, surface (found in the volume), or a height map (.csv or a "
                  "volume file)")
            .file(),
        number<Cut>("top_um", &Cut::top_um, above_all_um, below_all_um, "um", view,
                    "depth above which nothing is shown; all (-1e9): no limit, or no offset from what top_from names")
            .special(-1e9, "all"),
        text<Cut>("bottom_from", &Cut::bottom_from, view, "what bottom_um counts from, as for top_from").file(),
        number<Cut>("bottom_um", &Cut::bottom_um, above_all_um, below_all_um, "um", view,
                    "depth below which nothing is shown; all (1e9): no limit, or no offset")
            .special(1e9, "all"),
        flag<Cut>("heights_cut", &Cut::heights_cut, view,
                  "top and bottom cut the volume; false: they stay as they are set, and all of it is seen"),
        text<Cut>("flatten", &Cut::flatten, view,
                  "A-scans are shifted so that this lies flat: surface, or a height map; \"\": as recorded")
            .file(),
    };
    return fields;
}

void check_part(const Cut& cut) {
    check_box(cut);
    check_planes(cut.clip_planes, max_planes, "view.clip_planes");
    if (cut.top_from == cut.bottom_from && cut.top_um >= cut.bottom_um) {
        throw Error(ErrorCode::bad_setting, "the top is not above the bottom", "view.top_um, view.bottom_um",
                    "exchange them, or leave one out");
    }
}

}  // namespace echolux
