// Whether disks take spectra as fast as they come, measured before a recording begins: better known at once than by an
// hour full of gaps.
#pragma once

#include <optional>
#include <string>

#include "engine/live/disk_room.h"
#include "engine/live/recording_writer.h"

namespace echolux {

// Of spectra as they lie in the scan's file.
double bytes_per_s(const Scan& scan, double line_rate_hz);

// Writes and flushes for a few tenths of a second, to nameless files beside each of `files`, of stripes together.
// Nothing: `max_bytes` are too few to tell. Throws Error{output}.
std::optional<double> measured_disk_rate(const std::vector<std::filesystem::path>& files, std::int64_t stripe_bytes,
                                         std::int64_t max_bytes, const RecordingTools& tools);

// What is worth saying: both rates, and what follows where the disks are slower; "" where spectra come so slowly that
// no disk need be tried, or where there is no room to try one. Throws Error{output} where a recording of known length
// comes faster than the disks take it and the blocks that may be held do not make up for that.
std::string check_disk_rate(const RecordingWanted& wanted, const Scan& recorded, const std::vector<DiskRoom>& rooms,
                            const RecordingTools& tools);

}  // namespace echolux
