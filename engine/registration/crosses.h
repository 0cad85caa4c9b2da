// Aligns B-scans in depth and along the fast axis to a few B-scans that run across them (scan.protocol raster_cross). A
// single raster cannot distinguish slow motion from the slope of the tissue. A crossing B-scan shows the tissue along
// all others within a few milliseconds. With as many crosses as B-scans, this is the pair of an x-fast and a y-fast
// raster of M. F. Kraus et al., Biomed. Opt. Express 3(6), 2012.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/registration/registration.h"

namespace echolux {

// Replaces the shifts of align_neighbours() in `rows` by those relative to the crosses. The first settings.crosses
// B-scans of `features` are the crosses and keep a shift of 0. The others get z and x; y is 0. Gaps of a few B-scans
// without a match are bridged by the neighbours' shifts, longer gaps are invalid. Throws Error{bad_setting} if too few
// other B-scans are left.
void align_to_crosses(std::vector<RowShift>& rows, const RowFeatures& features, const RegistrationSettings& settings,
                      Progress& progress);

// Returns the number of leading crosses according to a volume's provenance, 0 if it does not mention them. Throws
// Error{bad_file} if the number is out of range.
std::int64_t crosses_of(const std::map<std::string, std::string>& provenance);

// Returns the volume without its first `crosses` B-scans. Throws Error{bad_setting} if too few are left.
PowerVolume without_crosses(PowerVolume volume, std::int64_t crosses);

// Returns the linear power of a volume without its crosses. Throws as crosses_of(), without_crosses() and power_of()
// do.
PowerVolume raster_of(const Volume& volume);

// Removes the crosses from the provenance of a volume without them, so that they are not removed twice.
void forget_crosses(std::map<std::string, std::string>& provenance);

}  // namespace echolux
