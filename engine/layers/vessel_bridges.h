// Blood is as bright as the nerve fibres above it: where a vessel lies across the lower end of a layer, no edge shows
// that end, and the search takes the vessel's far wall for it. There the boundary goes straight on.
#pragma once

#include <array>

#include "engine/layers/surfaces.h"

namespace echolux {

// What is narrower than a vessel and leaves the surface of second order that most of the tissue within a vessel's width
// around it lies on, towards the dark side (polarity as of WantedBoundary), is put onto that surface and marked
// `ambiguous`. `spacing_um`: along A-scans and B-scans; nothing happens where one of them is unknown.
void bridge_vessels(Surface& surface, std::int64_t a_scans, std::int64_t b_scans, int polarity, double vessel_um,
                    const std::array<double, 2>& spacing_um);

}  // namespace echolux
