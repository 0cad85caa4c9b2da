// Whether disks take spectra as fast as they come, measured before a recording begins: better refused at once than full
// of gaps an hour later.
#pragma once

#include <string>

#include "engine/live/recording_writer.h"

namespace echolux {

// Of the scan's spectra; 0: the line rate is unknown.
double bytes_per_s(const Scan& scan);

// Writes for a fraction of a second to a file beside each of `files`, and removes them again; of stripes together.
// Throws Error{output}.
double measured_disk_rate(const std::vector<std::filesystem::path>& files, std::int64_t stripe_bytes,
                          const RecordingTools& tools);

// What is worth saying: both rates; "" where spectra come so slowly that no disk need be asked. Throws Error{output}
// with them where the disks are slower and the blocks that may be held do not make up for it.
std::string check_disk_rate(const RecordingWanted& wanted, const Scan& recorded, const RecordingTools& tools);

}  // namespace echolux
