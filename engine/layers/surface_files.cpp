#include "engine/layers/surface_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/own_files.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

constexpr const char* names_key = "surfaces";
constexpr std::string_view heading = "b_scan,a_scan,surface,depth_";
constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Returns the names stored with the surfaces, or numbers if their count does not match.
std::vector<std::string> names_in(const Volume& volume) {
    std::vector<std::string> names;
    if (const auto text = volume.provenance.find(names_key); text != volume.provenance.end()) {
        std::istringstream stream(text->second);
        for (std::string name; stream >> name;) names.push_back(name);
    }
    if (std::ssize(names) == volume.grid.b_scans) return names;
    names.clear();
    for (std::int64_t i = 1; i <= volume.grid.b_scans; ++i) names.push_back(std::to_string(i));
    return names;
}

// Returns whether depths are in rows. Throws if they are in um and the volume's spacing is unknown.
bool is_in_rows(const VolumeGrid& maps, const DepthScale& scale, const std::filesystem::path& path) {
    if (maps.unit == "um" && !scale.is_known()) {
        throw Error(ErrorCode::bad_file, "holds depths in um, and the volume does not know how deep its voxels are",
                    path.string(), "give the volume its spacing, or surfaces in rows");
    }
    return maps.unit == "rows";
}

}  // namespace

// The fastest axis in memory is the rows of a slice, which are B-scans.
Volume volume_of(const Surfaces& surfaces, const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    const DepthScale scale(grid);
    Volume maps;
    maps.provenance = volume.provenance;
    maps.grid.depth = surfaces.b_scans;
    maps.grid.a_scans = surfaces.a_scans;
    maps.grid.b_scans = std::ssize(surfaces.all);
    maps.grid.spacing_um = {grid.spacing_um[2], grid.spacing_um[1], 0};
    maps.grid.unit = scale.unit();
    maps.grid.quantity = "depth";
    maps.voxels.resize(static_cast<std::size_t>(maps.grid.bytes()));
    auto* depths = reinterpret_cast<float*>(maps.voxels.data());
    std::string names;
    for (const Surface& surface : surfaces.all) {
        names += (names.empty() ? "" : " ") + surface.name;
        for (std::int64_t a = 0; a < surfaces.a_scans; ++a) {
            for (std::int64_t b = 0; b < surfaces.b_scans; ++b) {
                const float row = surface.rows[static_cast<std::size_t>(b * surfaces.a_scans + a)];
                *depths++ = static_cast<float>(scale.depth(row));
            }
        }
    }
    maps.provenance[names_key] = names;
    return maps;
}

std::string csv_of(const Surfaces& surfaces, const VolumeGrid& grid) {
    const DepthScale scale(grid);
    std::string text(heading);
    text += scale.is_known() ? "um" : "row";
    text += ",quality,reason\n";
    for (std::int64_t b = 0; b < surfaces.b_scans; ++b) {
        for (std::int64_t a = 0; a < surfaces.a_scans; ++a) {
            const auto i = static_cast<std::size_t>(b * surfaces.a_scans + a);
            for (const Surface& surface : surfaces.all) {
                const float row = surface.rows[i];
                const std::string depth = std::isnan(row) ? "" : fmt::format("{:.3f}", scale.depth(row));
                fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.2f},{}\n", b, a, surface.name, depth,
                               surface.quality[i], name_of(surface.reasons[i]));
            }
        }
    }
    return text;
}

bool is_own_surface_table(const std::filesystem::path& path) {
    return begins_with(path, heading);
}

Surfaces read_surfaces(const std::filesystem::path& path, const VolumeGrid& grid) {
    const Volume maps = read_volume(path);
    if (maps.grid.a_scans != grid.a_scans || maps.grid.depth != grid.b_scans ||
        maps.grid.type == VoxelType::complex64) {
        throw Error(
            ErrorCode::bad_file,
            fmt::format("holds {} of {} x {}, the volume has {} x {} A-scans", counted(maps.grid.b_scans, "surfaces"),
                        maps.grid.a_scans, maps.grid.depth, grid.a_scans, grid.b_scans),
            path.string(), "give the surfaces of this volume");
    }
    const DepthScale scale(grid);
    const bool in_rows = is_in_rows(maps.grid, scale, path);
    Surfaces surfaces{grid.a_scans, grid.b_scans, {}, 0};
    with_voxels(maps, [&](const auto* codes) {
        for (const std::string& name : names_in(maps)) {
            const auto lines = static_cast<std::size_t>(surfaces.lines());
            Surface surface{name, std::vector<float>(lines, none), std::vector<float>(lines),
                            std::vector<Reason>(lines, Reason::no_signal)};
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                for (std::int64_t b = 0; b < grid.b_scans; ++b) {
                    const double depth = static_cast<double>(*codes++) * maps.grid.scale + maps.grid.offset;
                    if (!std::isfinite(depth)) continue;
                    const auto i = static_cast<std::size_t>(b * grid.a_scans + a);
                    surface.rows[i] = static_cast<float>(in_rows ? depth : scale.row(depth));
                    surface.reasons[i] = Reason::ok;
                }
            }
            surfaces.all.push_back(std::move(surface));
        }
    });
    put_in_order(surfaces);
    return surfaces;
}

}  // namespace echolux
