// Writes the volumes kept by a display or session as one series: the last seconds of a live source, saved after the
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
    VolumeGrid grid;                  // of each volume
    std::map<std::string, std::string> provenance;
    std::uint64_t plan = 0;  // number of the settings in `provenance`
};

// Returns those of `volumes` (oldest first) from the last `seconds`; 0: all.
std::vector<KeptVolume> last_of(const std::vector<KeptVolume>& volumes, double seconds);

// Writes the series. `voxels` returns the voxels of one volume after another and may wait. Time counts from the first
// volume. Provenance holds the time of acquisition, and the number of volumes started with other settings. Throws
// Error{output, cancelled} and what `voxels` throws; then no file is left.
void write_kept(const std::filesystem::path& path, const KeptSeries& series,
                const std::function<std::vector<std::byte>()>& voxels, Progress& progress);

}  // namespace echolux
