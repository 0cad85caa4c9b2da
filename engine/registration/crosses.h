// Motion in depth by B-scans that run across the others (scan.protocol raster_cross): each of them shows all B-scans of
// the raster within a few milliseconds, so that the tissue's slope is in it and slow motion is not. One raster alone
// cannot tell the two from each other. With as many crosses as B-scans these are the x-fast and y-fast pair of M. F.
// Kraus et al., Biomed. Opt. Express 3(6), 2012.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/registration/registration.h"

namespace echolux {

// Of each B-scan of the raster: depth rows by which it lies higher than in the crosses; none where they do not fit.
// `features`: of the whole volume, the crosses first.
std::vector<std::optional<double>> depths_by_crosses(const RowFeatures& features, std::int64_t crosses,
                                                     std::int64_t axial_range);

}  // namespace echolux
