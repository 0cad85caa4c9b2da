#include "app/open/open_volume.h"

#include <fmt/format.h>

#include "compute/error.h"
#include "engine/scan/scan.h"
#include "engine/scan/time_points.h"

namespace echolux {
namespace {

Volume time_point_of(const std::filesystem::path& path, std::int64_t time_point) {
    if (time_point == 0 && is_volume_name(path)) return read_volume(path);
    const TimePoints series(path);
    if (time_point >= 0 && time_point < series.count()) return series.read(time_point);
    throw Error(ErrorCode::bad_setting, fmt::format("there is no volume {}", time_point), "part.volume",
                fmt::format("there are volumes 0 to {}", series.count() - 1));
}

}  // namespace

bool is_scan_name(const std::filesystem::path& path) {
    std::error_code problem;
    return !is_volume_name(path) && !is_pattern(path) && !std::filesystem::is_directory(path, problem);
}

OpenedVolume open_volume(const VolumeSource& source, Progress& progress) {
    OpenedVolume opened;
    if (source.shown) {
        progress.begin("fetch the volume", 0, "");
        opened.volume = *source.shown();
        progress.end();
    } else {
        opened = open_volume(source.input, source.settings, source.part, progress);
    }
    opened.chosen = source.chosen;
    return opened;
}

OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress) {
    if (is_scan_name(path)) {
        Reconstruction reconstruction(open_scan(path, settings));
        if (reconstruction.grid(part).type == VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "a picture cannot show complex voxels", "recipe.quantity",
                        "choose db, intensity or amplitude");
        }
        FlowedVolume made = reconstruction.run_with_flow(part, progress);
        return {std::move(made.structure), std::move(made.flow),   reconstruction.scan().geometry,
                reconstruction.scan(),     reconstruction.stats(), reconstruction.warnings()};
    }
    if (!settings.empty()) {
        throw Error(ErrorCode::bad_setting, "has no effect on a volume file", settings.front(),
                    "give the scan instead, or leave the setting out");
    }
    return {time_point_of(path, part.volume), {}, {}, {}, {}, {}};
}

}  // namespace echolux
