#include "app/jobs/layered_volume.h"

#include <fmt/format.h>

#include <chrono>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/angiography/flow_maps.h"
#include "engine/layers/find_surfaces.h"
#include "engine/scan/settings.h"

namespace echolux {
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

}  // namespace

FoundSurfaces surfaces_in(const Volume& volume, const LayerRecipe& recipe, const BackendChoice& backend,
                          const std::string& name, Progress& progress) {
    check(recipe, "layers");
    if (is_angiogram(volume.grid)) {
        throw Error(ErrorCode::bad_setting, "layers are found in the structure, not in its flow", name,
                    "find them there, and name their file as `surfaces`");
    }
    FoundSurfaces found;
    if (volume.grid.quantity.empty())
        found.warnings.emplace_back(
            "layers: the volume does not say what its voxels hold; they are taken as intensities");
    const auto start = std::chrono::steady_clock::now();
    found.surfaces = find_surfaces(volume, recipe, progress, backend);
    found.seconds = seconds_since(start);
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

LayerBounds layer_named(const Surfaces& surfaces, const std::string& upper, const std::string& lower) {
    const LayerBounds layer = bounds_of(surfaces, upper, lower);
    if (layer.first >= layer.second) refuse_order(surfaces, layer);
    return layer;
}

std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const std::string& upper, const std::string& lower) {
    if (!upper.empty() || !lower.empty() || surfaces.all.size() < 2) return {layer_named(surfaces, upper, lower)};
    std::vector<LayerBounds> layers;
    for (std::size_t k = 0; k + 1 < surfaces.all.size(); ++k) layers.emplace_back(k, k + 1);
    return layers;
}

std::string name_of_layer(const Surfaces& surfaces, const LayerBounds& layer) {
    return surfaces.all[layer.first].name + " to " + surfaces.all[layer.second].name;
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

Volume slab_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab, const std::vector<float>& map,
                const std::string& quantity, const std::string& unit) {
    Volume picture = volume_of_map(map, volume, quantity.c_str(), unit.c_str());
    picture.provenance["layers_shown"] = name_of_layer(surfaces, {slab.upper, slab.lower});
    return picture;
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

}  // namespace echolux
