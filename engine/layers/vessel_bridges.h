// Bridges surfaces across vessels. Blood is as bright as the nerve fibres above it. Where a vessel crosses the lower
// end of a layer, there is no edge, and the search finds the vessel's far wall instead. The boundary is then continued
// straight.
#pragma once

#include <array>

#include "engine/layers/surfaces.h"

namespace echolux {

// A surface of second order is fitted to the boundary within a vessel's width. Parts narrower than a vessel that leave
// this surface towards the dark side (polarity as in WantedBoundary) are moved onto it and marked `ambiguous`.
// `spacing_um` is that of A-scans and B-scans; does nothing if one is unknown.
void bridge_vessels(Surface& surface, std::int64_t a_scans, std::int64_t b_scans, int polarity, double vessel_um,
                    const std::array<double, 2>& spacing_um);

}  // namespace echolux
