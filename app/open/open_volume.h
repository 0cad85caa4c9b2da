// Opens volumes of all kinds: reads volume files, or reconstructs scans.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/io/volume_file.h"
#include "engine/offline/reconstruction.h"
#include "engine/progress.h"
#include "render/transfer_function.h"

namespace echolux {

struct OpenedVolume {
    Volume volume;
    std::optional<Volume> flow;  // of a scan with flow.method
    ScanGeometry geometry;       // of a scan
    std::optional<Scan> scan;    // the reconstructed scan, with the measured noise floor
    ReconstructionStats stats;   // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::optional<ValueRange> chosen{};  // copied from the source
};

// Returns true if the name is that of a scan, not of a volume, or of a folder or pattern (scan_*.nrrd) of volumes.
bool is_scan_name(const std::filesystem::path& path);

// Input of a job: a volume file, a scan, or a volume in memory.
struct VolumeSource {
    std::filesystem::path input;
    std::function<std::shared_ptr<const Volume>()> shown;  // called once on the job's thread; empty: `input` is opened
    std::vector<std::string> settings;                     // for reconstructing a scan
    ScanPart part;                                         // part of a scan; for volumes, the time point
    std::optional<ValueRange> chosen{};                    // range of the series; std::nullopt: this volume's own
};

OpenedVolume open_volume(const VolumeSource& source, Progress& progress);

// `settings` ("recipe.window=hann") apply to scans. Throws what reading and reconstructing throw.
OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress);

}  // namespace echolux
