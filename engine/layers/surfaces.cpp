#include "engine/layers/surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numbers>
#include <sstream>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/own_files.h"
#include "engine/io/voxel_value.h"

namespace echolux {

double share_of(const Surfaces& surfaces, Reason reason) {
    std::int64_t count = 0;
    for (const Surface& surface : surfaces.all) count += std::ranges::count(surface.reasons, reason);
    const auto places = static_cast<double>(surfaces.lines()) * static_cast<double>(surfaces.all.size());
    return places > 0 ? static_cast<double>(count) / places : 0;
}

double share_found(const Surfaces& surfaces) {
    return share_of(surfaces, Reason::ok) + share_of(surfaces, Reason::ambiguous);
}

std::size_t index_of(const Surfaces& surfaces, const std::string& name) {
    std::vector<std::string_view> names;
    std::string list;
    for (std::size_t i = 0; i < surfaces.all.size(); ++i) {
        if (surfaces.all[i].name == name) return i;
        names.push_back(surfaces.all[i].name);
        list += (list.empty() ? "" : ", ") + surfaces.all[i].name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there is no surface '" + name + "'", "surface",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

void put_in_order(Surfaces& surfaces) {
    std::vector<float> deepest(static_cast<std::size_t>(surfaces.lines()), std::numeric_limits<float>::quiet_NaN());
    for (Surface& surface : surfaces.all) {
        for (std::size_t i = 0; i < surface.rows.size(); ++i) {
            float& row = surface.rows[i];
            if (row < deepest[i]) {
                row = deepest[i];
                ++surfaces.moved;
            }
            if (!std::isnan(row)) deepest[i] = row;
        }
    }
}

DepthScale::DepthScale(const VolumeGrid& grid)
    : is_known_(grid.spacing_um[0] > 0), first_(is_known_ ? grid.first_depth_um : 0),
      row_(is_known_ ? grid.spacing_um[0] : 1) {}

std::vector<float> thickness_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower,
                                     const VolumeGrid& grid) {
    const DepthScale scale(grid);
    const std::vector<float>&above = surfaces.all[upper].rows, &below = surfaces.all[lower].rows;
    std::vector<float> thickness(above.size());
    for (std::size_t i = 0; i < above.size(); ++i)
        thickness[i] = static_cast<float>(scale.thickness(below[i] - above[i]));
    return thickness;
}

namespace {

// Range of rows available to a surface in an A-scan: between the nearest surfaces above and below.
struct RoomInLine {
    float low, high;
};

RoomInLine room_in(const Surfaces& surfaces, std::size_t surface, std::size_t line, std::int64_t depth) {
    RoomInLine room{0, static_cast<float>(depth - 1)};
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        const float row = surfaces.all[k].rows[line];
        if (k == surface || !std::isfinite(row)) continue;
        if (k < surface)
            room.low = std::max(room.low, row);
        else
            room.high = std::min(room.high, row);
    }
    return room;
}

}  // namespace

double drag_share(std::int64_t distance, std::int64_t reach) {
    const std::int64_t away = std::abs(distance);
    if (away > reach) return 0;
    return 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(away) / static_cast<double>(reach + 1));
}

std::vector<PlaceEdit> dragged(const Surfaces& surfaces, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan,
                               float row, std::int64_t depth, const DragReach& reach) {
    const bool is_inside = surface < surfaces.all.size() && a_scan >= 0 && a_scan < surfaces.a_scans && b_scan >= 0 &&
                           b_scan < surfaces.b_scans;
    if (!is_inside) throw Error(ErrorCode::bad_setting, "there is no such place of a surface", "layers");
    const Surface& moved = surfaces.all[surface];
    const float before = moved.rows[static_cast<std::size_t>(b_scan * surfaces.a_scans + a_scan)];
    std::vector<PlaceEdit> edits;
    if (!std::isfinite(before) || !std::isfinite(row)) return edits;
    const double by = static_cast<double>(row) - static_cast<double>(before);
    const std::int64_t first_b = std::max<std::int64_t>(0, b_scan - reach.b_scans);
    const std::int64_t last_b = std::min(surfaces.b_scans - 1, b_scan + reach.b_scans);
    const std::int64_t first_a = std::max<std::int64_t>(0, a_scan - reach.a_scans);
    const std::int64_t last_a = std::min(surfaces.a_scans - 1, a_scan + reach.a_scans);
    for (std::int64_t b = first_b; b <= last_b; ++b) {
        for (std::int64_t a = first_a; a <= last_a; ++a) {
            const auto line = static_cast<std::size_t>(b * surfaces.a_scans + a);
            if (!std::isfinite(moved.rows[line])) continue;
            const double share = drag_share(b - b_scan, reach.b_scans) * drag_share(a - a_scan, reach.a_scans);
            const RoomInLine room = room_in(surfaces, surface, line, depth);
            const auto wanted = static_cast<float>(static_cast<double>(moved.rows[line]) + share * by);
            const float now = std::max(room.low, std::min(room.high, wanted));
            if (now != moved.rows[line])
                edits.push_back({line, moved.rows[line], now, moved.quality[line], moved.reasons[line]});
        }
    }
    return edits;
}

void apply(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits) {
    Surface& moved = surfaces.all.at(surface);
    for (const PlaceEdit& edit : edits) {
        moved.rows[edit.line] = edit.row;
        moved.quality[edit.line] = 0;
        moved.reasons[edit.line] = Reason::ok;
    }
}

void take_back(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits) {
    Surface& moved = surfaces.all.at(surface);
    for (const PlaceEdit& edit : edits) {
        moved.rows[edit.line] = edit.row_before;
        moved.quality[edit.line] = edit.quality_before;
        moved.reasons[edit.line] = edit.reason_before;
    }
}

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
