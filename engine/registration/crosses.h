// Motion in depth and along B-scans by a few others that run across them (scan.protocol raster_cross). One raster alone
// cannot tell slow motion from the tissue's slope; a B-scan across shows the tissue along all of them within a few
// milliseconds. With as many crosses as B-scans this is the pair of an x-fast and a y-fast raster (M. F. Kraus et al.,
// Biomed. Opt. Express 3(6), 2012).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/registration/registration.h"

namespace echolux {

// `rows`: what neighbours say (align_neighbours) of all B-scans of `features`, of which the first settings.crosses run
// across and stay where they are. Others get depth and place along the B-scan from them; y stays 0. Where no B-scan
// across fits, neighbours bridge a gap of a few B-scans; longer ones are no match. Throws Error{bad_setting}: too many
// crosses for the B-scans.
void align_to_crosses(std::vector<RowShift>& rows, const RowFeatures& features, const RegistrationSettings& settings,
                      Progress& progress);

// How many of the first B-scans run across, by the scan that a volume was made of; 0 where it says nothing. Throws
// Error{bad_file}: no number that a scan may have.
std::int64_t crosses_of(const std::map<std::string, std::string>& provenance);

// Without its first B-scans. Throws Error{bad_setting}: too few are left.
PowerVolume without_crosses(PowerVolume volume, std::int64_t crosses);

// Without those that crosses_of() tells of. Throws what these and power_of() throw.
PowerVolume raster_of(const Volume& volume);

// In the provenance of what is left, so that nothing takes the first of the others for crosses.
void forget_crosses(std::map<std::string, std::string>& provenance);

}  // namespace echolux
