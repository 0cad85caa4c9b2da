// Extracts a plane's part of the lumen and of velocities, and measures it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/grid_planes.h"
#include "engine/flow/plane_unwrap.h"

namespace echolux {

// Return plane `number` of a volume of marks or of values, [height][width].
LumenMask mask_in(const std::vector<std::uint8_t>& inside, const GridPlanes& planes, std::int64_t number);
std::vector<float> values_in(const std::vector<float>& all, const GridPlanes& planes, std::int64_t number);

// Returns the connected piece that contains the pixel nearest to (column, row); empty if the nearest is more than
// `reach` pixels away.
LumenMask piece_near(const LumenMask& mask, double column, double row, double reach);

// Centre of a lumen in pixels, weighted by velocities of the given sign. `sum` is the total weight.
struct LumenCentre {
    double column = 0, row = 0, sum = 0;
};
// Returns the ring of each counted pixel of the lumen: twice the number of steps of `step_um` from its edge, negative
// outside. Pixels whose nearest edge is above or below get 1 more, because beams and windows are wider than deep. Other
// pixels are `nowhere`.
constexpr std::int32_t nowhere = -1'000'000;
std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um);

// Removes pixels that are slow compared with the fastest, and those that flow the other way.
void keep_faster(LumenMask& lumen, const std::vector<float>& velocities, double sign);

// Returns the velocity-weighted centre of the mask.
LumenCentre centre_of(const LumenMask& mask, const std::vector<float>& velocities, double sign);

}  // namespace echolux
