#include "ui/app/description.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/reconstructor.h"
#include "engine/io/volume_file.h"
#include "engine/scan.h"
#include "engine/voxel_value.h"
#include "ui/app/open_volume.h"

namespace echolux {
namespace {

std::string size_text(double bytes) {
    const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
    return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string spacing_text(double um) {
    return um > 0 ? fmt::format("{:.4g} um", um) : "unknown";
}

std::vector<Fact> grid_facts(const VolumeGrid& grid) {
    const auto extent = [](std::int64_t count, double um) {
        return um > 0 ? fmt::format("{:.4g} um", static_cast<double>(count) * um) : "extent unknown";
    };
    std::vector<Fact> facts{
        {"volume", fmt::format("{} depth x {} A-scans x {} B-scans", grid.depth, grid.a_scans, grid.b_scans),
         size_text(static_cast<double>(grid.bytes()))},
        {"depth pitch", spacing_text(grid.spacing_um[0]), extent(grid.depth, grid.spacing_um[0])},
        {"A-scan spacing", spacing_text(grid.spacing_um[1]), extent(grid.a_scans, grid.spacing_um[1])},
        {"B-scan spacing", spacing_text(grid.spacing_um[2]), extent(grid.b_scans, grid.spacing_um[2])},
    };
    if (grid.spacing_um[0] > 0) {
        const double last = grid.first_depth_um + static_cast<double>(grid.depth - 1) * grid.spacing_um[0];
        facts.push_back({"depth range", fmt::format("{:.4g} to {:.4g} um", grid.first_depth_um, last), ""});
    }
    if (!grid.quantity.empty()) facts.push_back({"quantity", grid.quantity, grid.unit});
    return facts;
}

std::vector<std::string> missing_of(const Scan& scan, const VolumeGrid& grid) {
    const Calibration& calibration = scan.calibration;
    std::vector<std::string> missing;
    const bool mapped =
        !calibration.k_positions.empty() || !calibration.wavelengths_nm.empty() || !calibration.k_polynomial.empty();
    if (!mapped) missing.push_back("k map: spectra are taken as linear in k (calibration.wavelengths or k_map)");
    if (grid.spacing_um[0] == 0) {
        missing.push_back("depth scale: depth is in bins (calibration.wavelengths or depth_pitch_um)");
    }
    if (scan.geometry.spacing_a_um == 0 || scan.geometry.spacing_b_um == 0) {
        missing.push_back("lateral spacing: proportions are a guess (scan.spacing_a_um, scan.spacing_b_um)");
    }
    if (calibration.background.empty()) {
        missing.push_back(
            "background: the mean of each B-scan is taken, which removes flat objects "
            "(calibration.background)");
    }
    const bool dispersed = !calibration.dispersion_rad.empty() || scan.recipe.a2_rad != 0 || scan.recipe.gdd_fs2 != 0;
    if (!dispersed) missing.push_back("dispersion: none is compensated (calibration.dispersion or recipe.a2_rad)");
    if (scan.geometry.line_rate_hz == 0) missing.push_back("line rate: velocities stay in rad (scan.line_rate_hz)");
    return missing;
}

Description described_scan(const std::filesystem::path& path, const std::vector<std::string>& assignments) {
    auto scan = std::make_shared<Scan>(open_scan(path, assignments));
    const VolumeGrid grid = planned_grid(scan->plan(1));
    const ScanGeometry& geometry = scan->geometry;
    Description description;
    description.kind = "scan";
    description.keeper = scan;
    const std::int64_t lines = geometry.lines_per_b_scan() * geometry.frames_per_volume() * geometry.volumes;
    description.facts = {
        {"spectra", scan->spectra.string(), size_text(static_cast<double>(std::filesystem::file_size(scan->spectra)))},
        {"lines", fmt::format("{} of {} samples", lines, geometry.samples),
         fmt::format("{} volume{}", geometry.volumes, geometry.volumes == 1 ? "" : "s")}};
    for (Fact& fact : grid_facts(grid)) description.facts.push_back(std::move(fact));
    description.facts.push_back({"depth is",
                                 geometry.refractive_index > 1
                                     ? fmt::format("geometric, n = {}", geometry.refractive_index)
                                     : "optical, in air",
                                 ""});
    description.missing = missing_of(*scan, grid);
    Settings settings;
    bind(settings, *scan);
    description.settings = settings.fields();
    return description;
}

Description described_volume(const std::filesystem::path& path) {
    const Volume volume = read_volume(path);
    Description description;
    description.kind = "volume";
    description.facts = grid_facts(volume.grid);
    if (volume.grid.type != VoxelType::complex64) {
        with_voxels(volume, [&](const auto* voxels) {
            const auto [least, most] = std::minmax_element(voxels, voxels + volume.grid.voxels());
            const auto value = [&](auto code) {
                return static_cast<double>(code) * volume.grid.scale + volume.grid.offset;
            };
            description.facts.push_back({"values", fmt::format("{:.6g} to {:.6g}", value(*least), value(*most)), ""});
        });
    }
    for (const auto& [key, value] : volume.provenance) description.facts.push_back({key, value, ""});
    return description;
}

}  // namespace

Description described(const std::filesystem::path& path, const std::vector<std::string>& assignments) {
    return is_volume_name(path) ? described_volume(path) : described_scan(path, assignments);
}

}  // namespace echolux
