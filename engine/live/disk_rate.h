// Measures whether the disks are fast enough for the spectra before a recording begins, so that the user does not find
// out afterwards.
#pragma once

#include <optional>
#include <string>

#include "engine/live/disk_room.h"
#include "engine/live/recording_writer.h"

namespace echolux {

// Returns the data rate of spectra as stored in the scan's file.
double bytes_per_s(const Scan& scan, double line_rate_hz);

// Writes and flushes for a fraction of a second to unnamed files next to each of `files`, which are stripes if there
// are several. Returns bytes per second, or nullopt if `max_bytes` is too small for a measurement. Throws
// Error{output}.
std::optional<double> measured_disk_rate(const std::vector<std::filesystem::path>& files, std::int64_t stripe_bytes,
                                         std::int64_t max_bytes, const RecordingTools& tools);

// Returns a message with both rates, and the consequence if the disks are slower. Empty if the data rate is so low that
// any disk is fast enough, or if there is no room for a test. Throws Error{output} if a recording of known length
// arrives faster than the disks can write and the held blocks cannot buffer the difference.
std::string check_disk_rate(const RecordingWanted& wanted, const Scan& recorded, const std::vector<DiskRoom>& rooms,
                            const RecordingTools& tools);

}  // namespace echolux
