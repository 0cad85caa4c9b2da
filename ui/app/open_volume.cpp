#include "ui/app/open_volume.h"

#include <algorithm>
#include <array>

#include "compute/error.h"
#include "engine/scan.h"

namespace echolux {

bool is_volume_name(const std::filesystem::path& path) {
    constexpr std::array endings{".nrrd", ".nhdr", ".nii", ".nii.gz", ".tif", ".tiff", ".mha", ".mhd"};
    const std::string name = path.filename().string();
    return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return name.ends_with(ending); });
}

OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress) {
    if (!is_volume_name(path)) {
        Reconstruction reconstruction(open_scan(path, settings));
        Volume volume = reconstruction.run(part, progress);
        return {std::move(volume), reconstruction.figures(), reconstruction.warnings()};
    }
    if (!settings.empty()) {
        throw Error(ErrorCode::bad_setting, "a volume file is not reconstructed", settings.front(),
                    "give the scan instead, or leave the setting out");
    }
    return {read_volume(path), {}, {}};
}

}  // namespace echolux
