// What a plane through a volume has of a lumen and of velocities.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/flow/grid_planes.h"
#include "engine/flow/plane_unwrap.h"

namespace echolux {

LumenMask mask_in(const std::vector<std::uint8_t>& inside, const GridPlanes& planes, std::int64_t number);
std::vector<float> values_in(const std::vector<float>& all, const GridPlanes& planes, std::int64_t number);

// The connected piece that holds the pixel nearest to (column, row); empty where none is within `reach` pixels.
LumenMask piece_near(const LumenMask& mask, double column, double row, double reach);

// Weighted by velocities of the given sign.
struct LumenCentre {
    double column = 0, row = 0, sum = 0;
};
// In which ring of the lumen each pixel lies that counts: twice the steps from its edge, negative outside, and 1 more
// where that edge lies above or below and not beside it, since beams and windows are wider than deep.
constexpr std::int32_t nowhere = -1'000'000;
std::vector<std::int32_t> rings_of(const LumenMask& lumen, const LumenMask& counted, const GridPlanes& planes,
                                   double step_um);

// Leaves out what is slow beside the fastest, and vessels that run the other way.
void keep_faster(LumenMask& lumen, const std::vector<float>& velocities, double sign);

LumenCentre centre_of(const LumenMask& mask, const std::vector<float>& velocities, double sign);

}  // namespace echolux
