// The volumes that a display or a session keeps, written as one series: the last seconds of a live source, after the
// event.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"
#include "engine/live/volume_ring.h"
#include "engine/progress.h"

namespace echolux {

struct KeptSeries {
    std::vector<KeptVolume> volumes;  // oldest first
    VolumeGrid grid;                  // of each
    std::map<std::string, std::string> provenance;
    std::uint64_t plan = 0;  // number of the settings that it tells of
};

// Of `volumes`, oldest first, those of the last `seconds`; 0: all.
std::vector<KeptVolume> last_of(const std::vector<KeptVolume>& volumes, double seconds);

// `voxels` waits for those of the volumes, one after the other. Time counts from the first of them; when the source
// acquired it stands in the provenance, and how many were begun with other settings. Throws Error{output, cancelled}
// and what `voxels` throws; nothing is left then.
void write_kept(const std::filesystem::path& path, const KeptSeries& series,
                const std::function<std::vector<std::byte>()>& voxels, Progress& progress);

}  // namespace echolux
