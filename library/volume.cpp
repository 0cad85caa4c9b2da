// Volumes and series from files, from the caller and from reconstructions.
#include <cmath>
#include <sstream>

#include "compute/indexing.h"
#include "engine/analysis/intensity.h"
#include "engine/io/output_rule.h"
#include "engine/memory.h"
#include "engine/offline/recoder.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

namespace {

// Returns the text in a fixed array, which need not end with 0 if it is full.
std::string text_in(const char* text, std::size_t capacity) {
    return {text, std::find(text, text + capacity, '\0')};
}

// Throws BadArgument for sizes or numbers that no volume can have. A scale of 0 means 1, so that a zeroed grid is
// valid.
VolumeGrid grid_from(const echolux_grid& given) {
    constexpr std::int64_t max_edge = std::int64_t{1} << 31;
    VolumeGrid grid;
    grid.depth = given.depth;
    grid.a_scans = given.a_scans;
    grid.b_scans = given.b_scans;
    for (const std::int64_t edge : {grid.depth, grid.a_scans, grid.b_scans}) {
        if (edge < 1 || edge > max_edge) throw BadArgument("has no size of " + std::to_string(edge), "grid");
    }
    grid.type = voxel_type_of(given.voxel);
    // The product could exceed 64 bits, so compare as floating point before computing bytes.
    if (static_cast<double>(grid.depth) * static_cast<double>(grid.a_scans) * static_cast<double>(grid.b_scans) >
        1e15) {
        throw BadArgument("is larger than the available memory", "grid");
    }
    for (int i = 0; i < 3; ++i) grid.spacing_um[index(i)] = given.spacing_um[i];
    grid.first_depth_um = given.first_depth_um;
    grid.scale = given.scale == 0 ? 1 : given.scale;
    grid.offset = given.offset;
    grid.v_max = given.v_max_mm_s;
    grid.quantity = text_in(given.quantity, sizeof given.quantity);
    grid.unit = text_in(given.unit, sizeof given.unit);
    for (const double number : {grid.spacing_um[0], grid.spacing_um[1], grid.spacing_um[2], grid.first_depth_um,
                                grid.scale, grid.offset, grid.v_max}) {
        if (!std::isfinite(number)) throw BadArgument("contains a value that is not finite", "grid");
    }
    return grid;
}

// Copies the caller's voxels without gaps. `bytes` bounds the memory that is read; strides of 0: there are no gaps.
std::vector<std::byte> packed(const VolumeGrid& grid, const std::byte* from, std::int64_t bytes, std::int64_t a_bytes,
                              std::int64_t b_bytes) {
    const std::int64_t line = grid.depth * bytes_of(grid.type);
    const std::int64_t a_stride = a_bytes == 0 ? line : a_bytes;
    if (!fits(grid.a_scans, line, a_stride, bytes)) throw BadArgument("do not hold a B-scan", "bytes");
    const std::int64_t slice = (grid.a_scans - 1) * a_stride + line,
                       b_stride = b_bytes == 0 ? grid.a_scans * a_stride : b_bytes;
    if (!fits(grid.b_scans, slice, b_stride, bytes)) throw BadArgument("do not hold the volume", "bytes");
    // Check before allocating, since the size comes from the caller.
    require_memory(grid.bytes(), "volume", "pass it in parts");
    std::vector<std::byte> voxels(index(grid.bytes()));
    std::byte* to = voxels.data();
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a, to += line) {
            std::memcpy(to, from + b * b_stride + a * a_stride, index(line));
        }
    }
    return voxels;
}

// Parses lines such as "recipe.window = \"hann\"".
std::map<std::string, std::string> provenance_from(const char* text) {
    std::map<std::string, std::string> all;
    std::istringstream lines(text == nullptr ? "" : text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find(" = ");
        if (at == 0 || at == std::string::npos) throw BadArgument("has a line without \" = \"", "provenance");
        all[line.substr(0, at)] = off_one_line(std::string_view(line).substr(at + 3));
    }
    return all;
}

void take_facts(const echolux_volume_facts& facts, echolux_volume& volume) {
    if (!std::isfinite(facts.time_s)) throw BadArgument("is not finite", "time_s");
    volume.time_s = facts.time_s;
    volume.number = facts.number;
    std::istringstream lines(facts.warnings == nullptr ? "" : facts.warnings);
    for (std::string line; std::getline(lines, line);) volume.warnings.push_back(line);
}

// Returns the range of values that integer codes cover. Returns std::nullopt if it is empty or if the type needs none.
std::optional<std::pair<double, double>> range_for(VoxelType type, double low, double high) {
    if (type != VoxelType::u8 && type != VoxelType::u16 && type != VoxelType::i16) return std::nullopt;
    if (!std::isfinite(low) || !std::isfinite(high)) throw BadArgument("must be finite", "low, high");
    return low < high ? std::optional(std::pair(low, high)) : std::nullopt;
}

}  // namespace

echolux_status echolux_volume_open(const char* path, echolux_volume** volume, echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        *volume = new_volume(read_volume(text_argument(path, "path")));
    });
}

echolux_status echolux_volume_create(const echolux_grid* grid, const void* voxels, size_t bytes, int64_t a_scan_bytes,
                                     int64_t b_scan_bytes, const echolux_volume_facts* facts, echolux_volume** volume,
                                     echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const echolux_volume_facts known = copy_in_or_default(facts, "facts");
        const VolumeGrid wanted = grid_from(copy_in(grid, "grid"));
        const auto* from = &required(static_cast<const std::byte*>(voxels), "voxels");
        const std::int64_t size =
            bytes_argument(static_cast<std::int64_t>(std::min<size_t>(bytes, INT64_MAX)), "bytes");
        auto provenance = provenance_from(known.provenance);
        Volume made{wanted, packed(wanted, from, size, a_scan_bytes, b_scan_bytes), std::move(provenance)};
        std::unique_ptr<echolux_volume> one(new_volume(std::move(made)));
        take_facts(known, *one);
        *volume = one.release();
    });
}

echolux_status echolux_volume_free(echolux_volume* volume) {
    return free_handle(volume);
}

echolux_status echolux_volume_grid(const echolux_volume* volume, echolux_grid* grid, echolux_error* error) {
    return guarded(error, [&] { copy_out(grid, grid_of(checked_handle(volume, "volume").volume->grid), "grid"); });
}

echolux_status echolux_volume_data(const echolux_volume* volume, const void** voxels, size_t* bytes,
                                   echolux_error* error) {
    return guarded(error, [&] {
        const Volume& held = *checked_handle(volume, "volume").volume;
        required(voxels, "voxels") = held.voxels.data();
        if (bytes != nullptr) *bytes = held.voxels.size();
    });
}

echolux_status echolux_volume_time(const echolux_volume* volume, double* time_s, int64_t* number,
                                   echolux_error* error) {
    return guarded(error, [&] {
        const echolux_volume& held = checked_handle(volume, "volume");
        if (time_s != nullptr) *time_s = held.time_s;
        if (number != nullptr) *number = held.number;
    });
}

echolux_status echolux_volume_provenance(const echolux_volume* volume, char* buffer, size_t size, size_t* needed,
                                         echolux_error* error) {
    return guarded(error, [&] {
        copy_text_out(lines_of(checked_handle(volume, "volume").volume->provenance), buffer, size, needed);
    });
}

echolux_status echolux_volume_warnings(const echolux_volume* volume, char* buffer, size_t size, size_t* needed,
                                       echolux_error* error) {
    return guarded(error,
                   [&] { copy_text_out(lines_of(checked_handle(volume, "volume").warnings), buffer, size, needed); });
}

echolux_status echolux_volume_convert(const echolux_volume* volume, int32_t voxel, double low, double high,
                                      echolux_volume** converted, echolux_error* error) {
    return guarded(error, [&] {
        required(converted, "converted") = nullptr;
        const echolux_volume& from = checked_handle(volume, "volume");
        const VoxelType type = voxel_type_of(voxel);
        const Recoder recoder(from.volume->grid, type, range_for(type, low, high));
        *converted = derived_volume(from, std::make_shared<const Volume>(Volume{
                                              recoder.grid(), recoder(from.volume->voxels), from.volume->provenance}));
    });
}

echolux_status echolux_volume_velocities(const echolux_volume* flow, echolux_volume** velocities,
                                         echolux_error* error) {
    return guarded(error, [&] {
        required(velocities, "velocities") = nullptr;
        const echolux_volume& from = checked_handle(flow, "flow");
        const VoxelType type = from.volume->grid.type;
        if (type != VoxelType::phasor8 && type != VoxelType::f16) {
            throw Error(ErrorCode::bad_setting, "holds no flow", "flow", "give the flow of a reconstruction");
        }
        *velocities = derived_volume(from, std::make_shared<const Volume>(flow_values(*from.volume)));
    });
}

echolux_status echolux_volume_write(const echolux_volume* volume, const char* path, int32_t overwrite,
                                    echolux_progress progress, void* user, echolux_error* error) {
    return guarded(error, [&] {
        const Volume& held = *checked_handle(volume, "volume").volume;
        const std::string file = text_argument(path, "path");
        // Everything that can be rejected is checked before the file is created.
        check_volume_name(file, held.grid.type);
        check_outputs({{.path = file, .is_own = is_own_volume}}, {}, overwrite != 0);
        check_volume_output(file, held.grid.type);
        CallerProgress progress_shown(progress, user);
        write_volume(file, held, progress_shown);
    });
}

// ---- series

// Throws BadArgument unless the series has this time point.
static const TimePoints& points_with(const echolux_series* series, std::int64_t time_point) {
    const TimePoints& points = checked_handle(series, "series").points;
    if (time_point < 0 || time_point >= points.count())
        throw BadArgument("is not a time point of the series", "time_point");
    return points;
}

// Returns the grid of a resolution level, and the number of levels.
static VolumeGrid level_of(const TimePoints& points, std::int64_t time_point, std::int64_t level,
                           std::int64_t* levels) {
    const std::vector<VolumeGrid> all = points.levels(time_point);
    if (levels != nullptr) *levels = std::ssize(all);
    if (level < 0 || level >= std::ssize(all)) {
        throw BadArgument("the file has levels 0 to " + std::to_string(std::ssize(all) - 1), "level");
    }
    return all[index(level)];
}

// Voxels [begin, end) of a region; an `end` of 0 means all up to the last.
static Interval part_of(std::int64_t begin, std::int64_t end, std::int64_t size, const char* name) {
    const Interval part{begin, end == 0 ? size : end};
    if (part.begin >= 0 && part.begin < part.end && part.end <= size) return part;
    throw BadArgument("is not within 0 and " + std::to_string(size), name);
}

echolux_status echolux_series_open(const char* path, echolux_series** series, echolux_error* error) {
    return guarded(error, [&] {
        required(series, "series") = nullptr;
        *series = new echolux_series(text_argument(path, "path"));
    });
}

echolux_status echolux_series_free(echolux_series* series) {
    return free_handle(series);
}

echolux_status echolux_series_describe(const echolux_series* series, int64_t* count, double* step_s,
                                       echolux_error* error) {
    return guarded(error, [&] {
        const TimePoints& points = checked_handle(series, "series").points;
        if (count != nullptr) *count = points.count();
        if (step_s != nullptr) *step_s = points.step_s();
    });
}

echolux_status echolux_series_read(const echolux_series* series, int64_t time_point, echolux_volume** volume,
                                   echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const TimePoints& points = points_with(series, time_point);
        auto one = std::make_unique<echolux_volume>(std::make_shared<const Volume>(points.read(time_point)));
        one->number = time_point;
        one->time_s = points.time_s(time_point);
        *volume = one.release();
    });
}

echolux_status echolux_series_grid(const echolux_series* series, int64_t time_point, int64_t level, echolux_grid* grid,
                                   int64_t* levels, echolux_error* error) {
    return guarded(error, [&] {
        copy_out(grid, grid_of(level_of(points_with(series, time_point), time_point, level, levels)), "grid");
    });
}

echolux_status echolux_series_time(const echolux_series* series, int64_t time_point, double* time_s,
                                   echolux_error* error) {
    return guarded(error, [&] { required(time_s, "time_s") = points_with(series, time_point).time_s(time_point); });
}

echolux_status echolux_series_provenance(const echolux_series* series, int64_t time_point, char* buffer, size_t size,
                                         size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const TimePoints& points = points_with(series, time_point);
        copy_text_out(lines_of(points.provenance({time_point, time_point + 1})), buffer, size, needed);
    });
}

echolux_status echolux_series_read_region(const echolux_series* series, int64_t time_point,
                                          const echolux_region* region, void* voxels, size_t bytes,
                                          echolux_error* error) {
    return guarded(error, [&] {
        const TimePoints& points = points_with(series, time_point);
        const echolux_region wanted = copy_in_or_default(region, "region");
        const VolumeGrid grid = level_of(points, time_point, wanted.level, nullptr);
        const VolumeBox box{part_of(wanted.depth_begin, wanted.depth_end, grid.depth, "depth"),
                            part_of(wanted.a_scan_begin, wanted.a_scan_end, grid.a_scans, "a_scan"),
                            part_of(wanted.b_scan_begin, wanted.b_scan_end, grid.b_scans, "b_scan")};
        const std::int64_t needed = (box.depth.end - box.depth.begin) * (box.a_scans.end - box.a_scans.begin) *
                                    (box.b_scans.end - box.b_scans.begin) * bytes_of(grid.type);
        auto* to = &required(static_cast<std::byte*>(voxels), "voxels");
        // Exactly as many bytes, because another size means that the caller assumes another level or voxel type.
        if (bytes != index(needed)) throw BadArgument("are not those of the region", "bytes", std::to_string(needed));
        std::ranges::copy(points.read_part(time_point, index(wanted.level), box), to);
    });
}
