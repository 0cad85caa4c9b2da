// Anything that holds a volume, as a volume: a volume file is read, a scan is reconstructed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"
#include "engine/offline/reconstruction.h"
#include "engine/progress.h"
#include "render/transfer_function.h"

namespace echolux {

struct OpenedVolume {
    Volume volume;
    std::optional<Volume> flow;  // of a scan whose [flow] has a method
    ScanGeometry geometry;       // of a scan
    std::optional<Scan> scan;    // that was reconstructed, with the noise floor that was measured
    ReconstructionStats stats;   // backend is empty for a volume file
    std::vector<std::string> warnings;
    std::optional<ValueRange> chosen{};  // as the source has it
};

// Whether spectra stand there, not volumes: neither a volume's name, nor a folder or pattern (scan_*.nrrd) of them.
bool is_scan_name(const std::filesystem::path& path);

// What a job is about: a volume file or a scan, or what is in memory of one.
struct VolumeSource {
    std::filesystem::path input;
    std::function<std::shared_ptr<const Volume>()> shown;  // called once, on the job's thread; empty: it is opened
    std::vector<std::string> settings;                     // of the reconstruction, where the input is a scan
    ScanPart part;                                         // of a scan; of volumes the time point
    std::optional<ValueRange> chosen{};  // of values, by the first volume of a series; nothing: by the volume itself
};

OpenedVolume open_volume(const VolumeSource& source, Progress& progress);

// `settings` ("recipe.window=hann") apply to scans. Throws what reading and reconstructing throw.
OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress);

}  // namespace echolux
