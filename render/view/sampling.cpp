#include "render/view/sampling.h"

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<Sampling>>& describe<Sampling>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Sampling>> fields{
        number<Sampling>("step", &Sampling::step, 0.05, 10, "voxels", view,
                         "step along a ray in units of the smallest voxel edge; smaller is finer and slower")
            .soft(0.1, 4),
        flag<Sampling>("skip_empty", &Sampling::skip_empty, view, "skip empty space; does not change the picture"),
        flag<Sampling>("end_early", &Sampling::end_early, view, "end a ray where less than 0.2 % of the light passes"),
        flag<Sampling>("adaptive", &Sampling::adaptive, view, "take longer steps where little is visible"),
        integer<Sampling>(
            "samples", &Sampling::samples, 1, 4096, "rays", view,
            "rays per pixel of a saved picture, spread over pixel and step; 16 remove jagged edges and rings")
            .soft(1, 64),
        integer<Sampling>("rest_samples", &Sampling::rest_samples, 1, 4096, "rays", view,
                          "rays per pixel of a picture in a window once nothing has moved for a while")
            .soft(1, 256),
        number<Sampling>("frame_ms", &Sampling::frame_ms, 0.1, 1000, "ms", view,
                         "time that a picture in a window may take while it moves; pictures get coarser to keep it")
            .soft(5, 200),
    };
    return fields;
}

void check_part(const Sampling&) {}

}  // namespace echolux
