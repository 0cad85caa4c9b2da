#include "app/jobs/segment_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "app/figure/figure_format.h"
#include "app/figure/figure_page.h"
#include "app/figure/layer_panels.h"
#include "app/open/files_read.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/lower_case.h"
#include "engine/io/own_files.h"
#include "engine/layers/find_surfaces.h"
#include "engine/layers/surface_files.h"
#include "engine/scan/settings.h"
#include "engine/version.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

bool is_table(const Path& path) {
    return lower_ending(path) == ".csv";
}

bool is_figure(const Path& path) {
    return figure_format_of(path) != FigureFormat::none;
}

// ---- before work begins

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

void require_signal(const Surfaces& surfaces, const std::string& input) {
    if (share_found(surfaces) > 0) return;
    throw Error(ErrorCode::bad_setting, "nothing stands out from the noise, so no surface was found", input,
                "look at it with `render`; brighter tissue or more averaging may help");
}

Surfaces surfaces_for(const SegmentJob& job, const Volume& volume, SegmentedLayers& done, Progress& progress) {
    if (!job.surfaces.empty()) return read_surfaces(job.surfaces, volume.grid);
    if (is_angiogram(volume.grid)) {
        throw Error(ErrorCode::bad_setting, "layers are found in the structure, not in its flow",
                    job.input.filename().string(), "find them there, and name their file as `surfaces`");
    }
    if (volume.grid.quantity.empty())
        done.warnings.push_back("layers: the volume does not say what its voxels hold; they are taken as intensities");
    const auto start = std::chrono::steady_clock::now();
    Surfaces surfaces = find_surfaces(volume, job.recipe, progress, job.backend);
    done.seconds = seconds_since(start);
    require_signal(surfaces, job.input.filename().string());
    return surfaces;
}

std::pair<std::size_t, std::size_t> between(const SegmentJob& job, const Surfaces& surfaces) {
    const std::size_t upper = job.upper.empty() ? 0 : index_of(surfaces, job.upper);
    const std::size_t lower = job.lower.empty() ? surfaces.all.size() - 1 : index_of(surfaces, job.lower);
    if (upper < lower) return {upper, lower};
    if (upper == lower && job.below_upper_um < job.below_lower_um && job.thickness.empty()) return {upper, lower};
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} does not lie below {}", surfaces.all[lower].name, surfaces.all[upper].name), "between",
                "name the upper surface first, or one surface twice with `below_upper` less than `below_lower`");
}

// ---- what is written

std::string length_unit(const VolumeGrid& grid) {
    return DepthScale(grid).is_known() ? "µm" : "rows";
}

PictureTexts texts_of(const SegmentJob& job) {
    LayerRecipe recipe = job.recipe;
    Settings settings;
    settings.bind("layers", recipe);
    return {{text_program, version}, {"source", job.input.filename().string()}, {"layers", settings.toml(true)}};
}

Volume with_recipe(Volume volume, const SegmentJob& job) {
    if (job.tail_gap_um > 0) volume.provenance["tail_gap_um"] = fmt::format("{:g}", job.tail_gap_um);
    if (!job.surfaces.empty()) {
        volume.provenance["surfaces_of"] = job.surfaces.filename().string();
        return volume;
    }
    LayerRecipe recipe = job.recipe;
    Settings settings;
    settings.bind("layers", recipe);
    volume.provenance["layers"] = settings.toml(true);
    return volume;
}

// Several maps as slices of one volume.
Volume joined(std::vector<Volume> maps, const std::string& names) {
    Volume all = std::move(maps.front());
    for (std::size_t i = 1; i < maps.size(); ++i)
        all.voxels.insert(all.voxels.end(), maps[i].voxels.begin(), maps[i].voxels.end());
    all.grid.b_scans = std::ssize(maps);
    all.provenance["layers_shown"] = names;
    return all;
}

void write_thickness(const SegmentJob& job, const Volume& volume, const Surfaces& surfaces) {
    constexpr std::size_t beside = 3;  // maps in a row
    std::vector<std::pair<std::size_t, std::size_t>> layers;
    if (job.upper.empty() && job.lower.empty() && surfaces.all.size() > 1) {
        for (std::size_t k = 0; k + 1 < surfaces.all.size(); ++k) layers.emplace_back(k, k + 1);
    } else {
        layers.push_back(between(job, surfaces));
    }
    std::vector<FigureRow> rows;
    std::vector<Volume> maps;
    std::string names;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto [upper, lower] = layers[i];
        const std::string name = surfaces.all[upper].name + " to " + surfaces.all[lower].name;
        const std::vector<float> map = thickness_between(surfaces, upper, lower, volume.grid);
        if (i % beside == 0) rows.emplace_back();
        rows.back().push_back(map_panel(map, volume.grid, name, length_unit(volume.grid), job.style));
        maps.push_back(volume_of_map(map, volume, "thickness", DepthScale(volume.grid).unit()));
        names += (names.empty() ? "" : ", ") + name;
    }
    if (is_figure(job.thickness)) return write_figure(job.thickness, rows, job.style, texts_of(job));
    write_volume(job.thickness, with_recipe(joined(std::move(maps), names), job));
}

SlabSpec slab_of(const SegmentJob& job, const Surfaces& surfaces) {
    const auto [upper, lower] = between(job, surfaces);
    return {upper, lower, job.below_upper_um, job.below_lower_um, job.value};
}

struct SlabMap {
    const std::vector<float>& values;
    const std::string quantity, unit;
};

void write_slab_map(const Path& path, const SegmentJob& job, const Volume& volume, const Surfaces& surfaces,
                    const SlabMap& map) {
    const SlabSpec slab = slab_of(job, surfaces);
    const std::string name = surfaces.all[slab.upper].name + " to " + surfaces.all[slab.lower].name;
    if (is_figure(path)) {
        const std::string unit = map.unit.empty() ? map.quantity : map.unit;
        return write_figure(path, {{map_panel(map.values, volume.grid, name, unit, job.style)}}, job.style,
                            texts_of(job));
    }
    Volume picture = volume_of_map(map.values, volume, map.quantity.c_str(), map.unit.c_str());
    picture.provenance["layers_shown"] = name;
    write_volume(path, with_recipe(std::move(picture), job));
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
    const VesselMaps maps = vessel_maps(volume, surfaces, slab_of(job, surfaces), job.vessel_spec);
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
    const Surface& surface = surfaces.all[job.level.empty() ? 0 : index_of(surfaces, job.level)];
    Volume moved = volume;
    flatten_to(moved, surface, back);
    moved.provenance[back ? "unflattened_from" : "flattened_to"] =
        fmt::format("{}, row {:g}", surface.name, flat_row_of(surface));
    write_volume(path, with_recipe(std::move(moved), job));
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

// Also of those that nothing is made of.
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
    const Surfaces surfaces = surfaces_for(job, volume, done, progress);
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
    if (!done.used.refusal.empty()) done.warnings.push_back("layers: " + done.used.refusal);
    done.ambiguous = share_of(surfaces, Reason::ambiguous);
    done.weak = share_of(surfaces, Reason::weak_match);
    done.missing = std::max(0.0, 1 - share_found(surfaces));
    if (done.weak > 0.5)
        done.warnings.push_back(
            "layers: more than half of all places have too little contrast; look for fewer surfaces");
    return done;
}

}  // namespace echolux
