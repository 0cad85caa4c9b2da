#include "ui/app/open_volume.h"

#include "compute/error.h"
#include "engine/scan.h"

namespace echolux {

OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress) {
    if (!is_volume_name(path)) {
        Reconstruction reconstruction(open_scan(path, settings));
        if (reconstruction.grid(part).type == VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "a picture cannot show complex voxels", "recipe.quantity",
                        "choose db, intensity or amplitude");
        }
        FlowedVolume made = reconstruction.run_with_flow(part, progress);
        return {std::move(made.structure), std::move(made.flow), reconstruction.scan().geometry,
                reconstruction.figures(), reconstruction.warnings()};
    }
    if (part.volume != 0) {
        throw Error(ErrorCode::bad_setting, "a volume file holds one volume", "--volume", "leave it out");
    }
    if (!settings.empty()) {
        throw Error(ErrorCode::bad_setting, "a volume file is not reconstructed", settings.front(),
                    "give the scan instead, or leave the setting out");
    }
    return {read_volume(path), {}, {}, {}, {}};
}

}  // namespace echolux
