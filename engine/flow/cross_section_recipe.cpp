// Describes the settings of the cross-section and names the reasons for missing flow.
#include "compute/plan/describe.h"
#include "engine/flow/cross_section.h"

namespace echolux {

template <>
const std::vector<Field<CrossSectionRecipe>>& describe<CrossSectionRecipe>() {
    using R = CrossSectionRecipe;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<R>> fields{
        number("significance", &R::significance, 0.5, 100, "", effect,
               "standard deviations of noise that a velocity exceeds where it belongs to the lumen"),
        number("reach_um", &R::reach_um, 0.1, 1e4, "um", effect, "how far from the point the vessel is searched"),
        number("course_um", &R::course_um, 1, 1e5, "um", effect,
               "length, either way from the point, over which the course of the vessel is fitted"),
        number("thickness_um", &R::thickness_um, 0, 1e5, "um", effect,
               "length of the vessel over which flow is averaged; 0: a single plane"),
        number("margin_um", &R::margin_um, 0, 1000, "um", effect,
               "flow is summed over the lumen and so much around it: what the beam blurs"),
        number("min_tilt_deg", &R::min_tilt_deg, 0.1, 45, "deg", effect,
               "a vessel that is less tilted out of the plane at right angles to the beam has no value"),
        number("angle_error_deg", &R::angle_error_deg, 0, 45, "deg", effect,
               "what the course is uncertain by besides its fit: refraction, spacings"),
        number("min_snr_db", &R::min_snr_db, -20, 60, "dB", effect,
               "mean signal-to-noise ratio of the lumen, where the structure is given, below which there is no value"),
        number("heart_min_hz", &R::heart_min_hz, 0.01, 100, "Hz", effect, "minimum heart rate searched"),
        number("heart_max_hz", &R::heart_max_hz, 0.01, 100, "Hz", effect, "maximum heart rate searched"),
    };
    return fields;
}

const char* name_of(FlowReason reason) {
    switch (reason) {
        case FlowReason::ok: return "ok";
        case FlowReason::no_signal: return "no_signal";
        case FlowReason::angle: return "angle";
        case FlowReason::wrapped: return "wrapped";
        case FlowReason::out_of_range: return "out_of_range";
        case FlowReason::too_few: return "too_few";
    }
    return "";
}

}  // namespace echolux
