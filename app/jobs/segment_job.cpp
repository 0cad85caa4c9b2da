#include "app/jobs/segment_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "app/figure/figure_page.h"
#include "app/open/open_volume.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/angiography/flow_maps.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/output_rule.h"
#include "engine/layers/find_surfaces.h"
#include "engine/layers/layers.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- Volumes with surfaces

namespace {

[[noreturn]] void refuse_order(const Surfaces& surfaces, const LayerBounds& layer) {
    throw Error(
        ErrorCode::bad_setting,
        fmt::format("{} does not lie below {}", surfaces.all[layer.second].name, surfaces.all[layer.first].name),
        "between", "name the upper surface first, or one surface twice with `below_upper` less than `below_lower`");
}

LayerBounds bounds_of(const Surfaces& surfaces, const std::string& upper, const std::string& lower) {
    return {upper.empty() ? 0 : index_of(surfaces, upper),
            lower.empty() ? surfaces.all.size() - 1 : index_of(surfaces, lower)};
}

LayerBounds layer_named(const Surfaces& surfaces, const std::string& upper, const std::string& lower) {
    const LayerBounds layer = bounds_of(surfaces, upper, lower);
    if (layer.first >= layer.second) refuse_order(surfaces, layer);
    return layer;
}

std::string name_of_layer(const Surfaces& surfaces, const LayerBounds& layer) {
    return surfaces.all[layer.first].name + " to " + surfaces.all[layer.second].name;
}

Volume slab_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab, const std::vector<float>& map,
                const std::string& quantity, const std::string& unit) {
    Volume picture = volume_of_map(map, volume, quantity.c_str(), unit.c_str());
    picture.provenance["layers_shown"] = name_of_layer(surfaces, {slab.upper, slab.lower});
    return picture;
}

}  // namespace

SurfaceResult surfaces_in(const Volume& volume, const LayerRecipe& recipe, const BackendChoice& backend,
                          const std::string& name, Progress& progress) {
    check(recipe, "layers");
    if (is_angiogram(volume.grid)) {
        throw Error(ErrorCode::bad_setting, "layers are found in the structure, not in its flow", name,
                    "find them there, and name their file as `surfaces`");
    }
    SurfaceResult found;
    const auto start = std::chrono::steady_clock::now();
    found.surfaces = find_surfaces(volume, recipe, progress, backend);
    found.seconds = seconds_since(start);
    if (volume.grid.quantity.empty())
        found.warnings.push_back("layers: the volume does not say what its voxels hold; " + found.surfaces.stored.why);
    if (share_found(found.surfaces) > 0) return found;
    throw Error(ErrorCode::bad_setting, "nothing stands out from the noise, so no surface was found", name,
                "look at it with `render`; brighter tissue or more averaging may help");
}

std::vector<std::string> warnings_of(const Surfaces& surfaces) {
    std::vector<std::string> warnings;
    if (!surfaces.searched_on.refusal.empty()) warnings.push_back("layers: " + surfaces.searched_on.refusal);
    if (share_of(surfaces, Reason::weak_match) > 0.5)
        warnings.emplace_back("layers: more than half of all places have too little contrast; look for fewer surfaces");
    return warnings;
}

Volume with_origin(Volume volume, const SurfaceOrigin& origin) {
    if (origin.tail_gap_um > 0) volume.provenance["tail_gap_um"] = fmt::format("{:g}", origin.tail_gap_um);
    if (!origin.file.empty())
        volume.provenance["surfaces_of"] = origin.file;
    else
        volume.provenance["layers"] = section_toml("layers", origin.recipe);
    return volume;
}

SlabSpec slab_named(const Surfaces& surfaces, const SlabNames& names) {
    const LayerBounds layer = bounds_of(surfaces, names.upper, names.lower);
    const bool is_shifted = layer.first == layer.second && names.below_upper_um < names.below_lower_um;
    if (layer.first >= layer.second && !is_shifted) refuse_order(surfaces, layer);
    return {layer.first, layer.second, names.below_upper_um, names.below_lower_um, names.value};
}

std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const std::string& upper, const std::string& lower) {
    if (!upper.empty() || !lower.empty() || surfaces.all.size() < 2) return {layer_named(surfaces, upper, lower)};
    std::vector<LayerBounds> layers;
    for (std::size_t k = 0; k + 1 < surfaces.all.size(); ++k) layers.emplace_back(k, k + 1);
    return layers;
}

Volume thickness_maps(const Volume& volume, const Surfaces& surfaces, const std::vector<LayerBounds>& layers) {
    Volume all;
    std::string names;
    for (const LayerBounds& layer : layers) {
        const std::vector<float> map = thickness_between(surfaces, layer.first, layer.second, volume.grid);
        Volume one = volume_of_map(map, volume, "thickness", DepthScale(volume.grid).unit());
        if (names.empty())
            all = std::move(one);
        else
            all.voxels.insert(all.voxels.end(), one.voxels.begin(), one.voxels.end());
        names += (names.empty() ? "" : ", ") + name_of_layer(surfaces, layer);
    }
    all.grid.b_scans = std::ssize(layers);
    all.provenance["layers_shown"] = names;
    return all;
}

Volume en_face_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab) {
    return slab_map(volume, surfaces, slab, en_face_between(volume, surfaces, slab), volume.grid.quantity,
                    volume.grid.unit);
}

Volume flattened(Volume volume, const Surfaces& surfaces, const std::string& level, bool back) {
    const Surface& surface = surfaces.all[level.empty() ? 0 : index_of(surfaces, level)];
    flatten_to(volume, surface, back);
    volume.provenance[back ? "unflattened_from" : "flattened_to"] =
        fmt::format("{}, row {:g}", surface.name, flat_row_of(surface));
    return volume;
}

// ---- Job

namespace {

using Path = std::filesystem::path;

bool is_table(const Path& path) {
    return lower_ending(path) == ".csv";
}

bool is_figure(const Path& path) {
    return figure_format_of(path) != FigureFormat::none;
}

// ---- checks before the work

void check_volume_or(bool is_other, const Path& path) {
    if (!path.empty() && !is_other) check_volume_output(path, VoxelType::f32);
}

void check_names(const SegmentJob& job) {
    const auto own_map = [](const Path& path) { return is_figure(path) ? is_own_figure(path) : is_own_volume(path); };
    const auto own_surfaces = [](const Path& path) {
        return is_table(path) ? is_own_surface_table(path) : is_own_volume(path);
    };
    FileNames inputs = files_read(job);
    inputs.push_back(job.surfaces);
    check_outputs({{job.output, own_surfaces},
                   {job.picture, is_own_figure},
                   {job.thickness, own_map},
                   {job.en_face, own_map},
                   {job.density, own_map},
                   {job.flux, own_map},
                   {job.vessels, is_own_vessel_table},
                   {job.flat, is_own_volume},
                   {job.unflat, is_own_volume}},
                  inputs, job.overwrites);
    check_volume_or(is_table(job.output), job.output);
    if (!job.output.empty() && is_table(job.output)) check_can_be_written(job.output);
    if (!job.picture.empty()) check_figure_name(job.picture);
    if (!job.vessels.empty() && !is_table(job.vessels)) {
        throw Error(ErrorCode::bad_setting, "the numbers of vessels are a table", job.vessels.string(),
                    "name it *.csv");
    }
    if (!job.vessels.empty()) check_can_be_written(job.vessels);
    for (const Path& map : {job.thickness, job.en_face, job.density, job.flux}) {
        if (is_figure(map)) check_figure_name(map);
        check_volume_or(is_figure(map), map);
    }
    check_volume_or(false, job.flat);
    check_volume_or(false, job.unflat);
}

void check_wanted(const SegmentJob& job) {
    const std::array outputs{job.output, job.picture, job.thickness, job.en_face, job.flat,
                             job.unflat, job.density, job.flux,      job.vessels};
    if (std::ranges::all_of(outputs, [](const Path& path) { return path.empty(); })) {
        throw Error(ErrorCode::bad_setting, "nothing is to be written", "output",
                    "name a file for the surfaces, or for what follows from them");
    }
    constexpr double max_um = 1e6;
    const auto require = [](bool is_fit, const char* key, double value, const char* expected) {
        if (!is_fit) throw Error(ErrorCode::bad_setting, fmt::format("expected {}, got {}", expected, value), key);
    };
    const VesselSpec& vessels = job.vessel_spec;
    require(vessels.window_um > 0 && vessels.window_um <= max_um, "window", vessels.window_um, "a length up to 1e6 um");
    require(job.tail_gap_um >= 0 && job.tail_gap_um <= max_um, "tail_gap", job.tail_gap_um,
            "0 or a length up to 1e6 um");
    require(std::isfinite(vessels.above) && vessels.above >= 0, "flow_above", vessels.above, "0 or more");
    check(job.recipe, "layers");
    check(job.style, "figure");
}

// ---- surfaces

SurfaceResult surfaces_for(const SegmentJob& job, const Volume& volume, Progress& progress) {
    if (!job.surfaces.empty()) return {read_surfaces(job.surfaces, volume.grid), {}, 0};
    return surfaces_in(volume, job.recipe, job.backend, job.input.filename().string(), progress);
}

// ---- outputs

std::string length_unit(const VolumeGrid& grid) {
    return DepthScale(grid).is_known() ? "µm" : "rows";
}

PictureTexts texts_of(const SegmentJob& job) {
    return {{text_program, version},
            {"source", job.input.filename().string()},
            {"layers", section_toml("layers", job.recipe)}};
}

Volume with_recipe(Volume volume, const SegmentJob& job) {
    return with_origin(std::move(volume), {job.recipe, job.surfaces.filename().string(), job.tail_gap_um});
}

void write_thickness(const SegmentJob& job, const Volume& volume, const Surfaces& surfaces) {
    constexpr std::size_t beside = 3;  // maps per row
    const std::vector<LayerBounds> layers = layers_between(surfaces, job.upper, job.lower);
    if (!is_figure(job.thickness))
        return write_volume(job.thickness, with_recipe(thickness_maps(volume, surfaces, layers), job));
    std::vector<FigureRow> rows;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::vector<float> map = thickness_between(surfaces, layers[i].first, layers[i].second, volume.grid);
        const auto ambiguous = ambiguous_between(surfaces, layers[i].first, layers[i].second);
        if (i % beside == 0) rows.emplace_back();
        rows.back().push_back(map_panel({map, ambiguous, name_of_layer(surfaces, layers[i]), length_unit(volume.grid)},
                                        volume.grid, job.style));
    }
    write_figure(job.thickness, rows, job.style, texts_of(job));
}

SlabSpec slab_of(const SegmentJob& job, const Surfaces& surfaces) {
    return slab_named(surfaces, {job.upper, job.lower, job.below_upper_um, job.below_lower_um, job.value});
}

struct SlabMap {
    const std::vector<float>& values;
    const std::string quantity, unit;
};

void write_slab_map(const Path& path, const SegmentJob& job, const Volume& volume, const Surfaces& surfaces,
                    const SlabMap& map) {
    const SlabSpec slab = slab_of(job, surfaces);
    if (!is_figure(path)) {
        return write_volume(path,
                            with_recipe(slab_map(volume, surfaces, slab, map.values, map.quantity, map.unit), job));
    }
    const std::string unit = map.unit.empty() ? map.quantity : map.unit;
    const std::string name = name_of_layer(surfaces, {slab.upper, slab.lower});
    const auto ambiguous = ambiguous_between(surfaces, slab.upper, slab.lower);
    write_figure(path, {{map_panel({map.values, ambiguous, name, unit}, volume.grid, job.style)}}, job.style,
                 texts_of(job));
}

void write_en_face(const SegmentJob& job, const Volume& volume, const Surfaces& surfaces) {
    const std::vector<float> map = en_face_between(volume, surfaces, slab_of(job, surfaces));
    write_slab_map(job.en_face, job, volume, surfaces, {map, volume.grid.quantity, volume.grid.unit});
}

std::string slab_name(const SegmentJob& job, const Surfaces& surfaces) {
    const SlabSpec slab = slab_of(job, surfaces);
    return surfaces.all[slab.upper].name + ":" + surfaces.all[slab.lower].name;
}

void write_vessels(const SegmentJob& job, const Volume& volume, const Surfaces& surfaces, SegmentedLayers& done) {
    if (job.density.empty() && job.flux.empty() && job.vessels.empty()) return;
    const VesselMaps maps = with_file_context(job.input.filename().string(), "volume", [&] {
        return vessel_maps(volume, surfaces, slab_of(job, surfaces), job.vessel_spec);
    });
    done.vessels = vessel_stats(maps, volume.grid);
    const auto wrote = [&](const Path& path) { done.files.push_back(path); };
    if (!job.density.empty()) {
        write_slab_map(job.density, job, volume, surfaces, {maps.density, "vessel density", "%"});
        wrote(job.density);
    }
    if (!job.flux.empty()) {
        write_slab_map(job.flux, job, volume, surfaces, {maps.flux, "relative flux", volume.grid.unit});
        wrote(job.flux);
    }
    if (!job.vessels.empty()) {
        write_text(job.vessels, vessel_table(*done.vessels, slab_name(job, surfaces)));
        wrote(job.vessels);
    }
    if (done.vessels->measured_percent < 100)
        done.warnings.push_back(
            fmt::format("vessels: {:.1f} % of the area was measured", done.vessels->measured_percent));
}

void write_moved(const Path& path, bool back, const SegmentJob& job, const Volume& volume, const Surfaces& surfaces) {
    write_volume(path, with_recipe(flattened(volume, surfaces, job.level, back), job));
}

void write_surfaces(const SegmentJob& job, const Volume& volume, const Surfaces& surfaces) {
    if (is_table(job.output))
        write_text(job.output, csv_of(surfaces, volume.grid));
    else
        write_volume(job.output, with_recipe(volume_of(surfaces, volume), job));
}

void write_picture(const SegmentJob& job, const Volume& volume, const Surfaces& surfaces) {
    const FigurePanel panel =
        layered_b_scan_panel(volume, job.b_scan.value_or(volume.grid.b_scans / 2), surfaces, job.style);
    write_figure(job.picture, {{panel}}, job.style, texts_of(job));
}

// Checks also the names that no output uses.
void check_names_of_surfaces(const SegmentJob& job, const Surfaces& surfaces, SegmentedLayers& done) {
    for (const std::string& name : {job.upper, job.lower, job.level}) {
        if (!name.empty()) index_of(surfaces, name);
    }
    const std::array maps{job.thickness, job.en_face, job.density, job.flux, job.vessels};
    const bool makes_none = std::ranges::all_of(maps, [](const Path& path) { return path.empty(); });
    if (makes_none && !(job.upper + job.lower).empty())
        done.warnings.push_back("between: has no effect without a map of what lies between (thickness, en face, ...)");
    if (!job.level.empty() && job.flat.empty() && job.unflat.empty())
        done.warnings.push_back("level: has no effect without a volume that is flattened to it");
}

}  // namespace

SegmentedLayers run(const SegmentJob& job, Progress& progress) {
    check_wanted(job);
    check_names(job);
    require_backend(job.backend);
    OpenedVolume opened = open_volume(job, progress);
    Volume& volume = opened.volume;
    if (job.tail_gap_um > 0) remove_tails(volume, job.tail_gap_um);
    if (!job.picture.empty()) check_b_scan(volume.grid, job.b_scan.value_or(volume.grid.b_scans / 2));
    SegmentedLayers done;
    done.warnings = opened.warnings;
    const SurfaceResult found = surfaces_for(job, volume, progress);
    const Surfaces& surfaces = found.surfaces;
    const auto warn = [&](const std::vector<std::string>& warnings) {
        done.warnings.insert(done.warnings.end(), warnings.begin(), warnings.end());
    };
    warn(found.warnings);
    done.seconds = found.seconds;
    check_names_of_surfaces(job, surfaces, done);
    progress.begin("write", 0, "");
    const auto write = [&](const Path& path, const auto& how) {
        if (path.empty()) return;
        how();
        done.files.push_back(path);
    };
    write(job.output, [&] { write_surfaces(job, volume, surfaces); });
    write(job.picture, [&] { write_picture(job, volume, surfaces); });
    write(job.thickness, [&] { write_thickness(job, volume, surfaces); });
    write(job.en_face, [&] { write_en_face(job, volume, surfaces); });
    write_vessels(job, volume, surfaces, done);
    write(job.flat, [&] { write_moved(job.flat, false, job, volume, surfaces); });
    write(job.unflat, [&] { write_moved(job.unflat, true, job, volume, surfaces); });
    progress.end();
    for (const Surface& surface : surfaces.all) done.names.push_back(surface.name);
    done.a_scans = surfaces.a_scans;
    done.b_scans = surfaces.b_scans;
    done.moved = surfaces.moved;
    done.used = surfaces.searched_on;
    done.method = surfaces.method;
    done.stored = surfaces.stored;
    done.ambiguous = share_of(surfaces, Reason::ambiguous);
    done.weak = share_of(surfaces, Reason::weak_match);
    done.missing = std::max(0.0, 1 - share_found(surfaces));
    warn(warnings_of(surfaces));
    return done;
}

}  // namespace echolux
