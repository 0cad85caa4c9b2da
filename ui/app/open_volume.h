// Anything that holds a volume, as a volume: a volume file is read, a scan is reconstructed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "engine/reconstruction.h"

namespace echolux {

struct OpenedVolume {
    Volume volume;
    std::optional<Volume> flow;     // of a scan whose [flow] has a method
    ScanGeometry geometry;          // of a scan
    ReconstructionFigures figures;  // backend is empty for a volume file
    std::vector<std::string> warnings;
};

// `settings` ("recipe.window=hann") apply to scans. Throws what reading and reconstructing throw.
OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress);

}  // namespace echolux
