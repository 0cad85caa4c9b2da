// Surfaces between layers, and volumes derived from them.
#include "engine/layers/layers.h"
#include "app/jobs/layered_volume.h"
#include "library/tissue.h"

using namespace echolux;
using namespace echolux::library;

// A handle of surfaces, with what is needed to write and convert them later.
struct echolux_surfaces : Handle<Kind::surfaces> {
    Surfaces surfaces;
    SurfaceOrigin origin;
    Volume about;  // the segmented volume, without its voxels
    std::vector<std::string> warnings;

    std::size_t places() const { return surfaces.all.size() * static_cast<std::size_t>(surfaces.lines()); }
    Volume told(Volume made) const { return with_origin(std::move(made), origin); }
};

namespace {

// Returns empty surfaces with the grid and provenance of `volume`.
std::unique_ptr<echolux_surfaces> lying_in(const Volume& volume) {
    auto made = std::make_unique<echolux_surfaces>();
    made->about.grid = volume.grid;
    made->about.provenance = volume.provenance;
    return made;
}

std::string optional_text(const char* text) {
    return text == nullptr ? "" : text;
}

// The volume must have the size and depths of the segmented one.
const echolux_volume& volume_of_size(const echolux_volume* volume, const echolux_surfaces& surfaces) {
    const echolux_volume& one = live_handle(volume, "volume");
    const VolumeGrid &theirs = one.volume->grid, &ours = surfaces.about.grid;
    if (theirs.depth == ours.depth && theirs.a_scans == ours.a_scans && theirs.b_scans == ours.b_scans &&
        theirs.spacing_um[0] == ours.spacing_um[0] && theirs.first_depth_um == ours.first_depth_um) {
        return one;
    }
    throw BadArgument("differs in size or depths from the one in which the surfaces lie", "volume",
                      "give a volume of the same reconstruction");
}

SlabNames slab_of(const echolux_slab& given) {
    if (given.value < ECHOLUX_SLAB_MEAN || given.value > ECHOLUX_SLAB_TOP3)
        throw BadArgument("is not a value of a slab", "value", "ECHOLUX_SLAB_MEAN, _MAX or _TOP3");
    for (const double um : {given.below_upper_um, given.below_lower_um}) {
        if (!std::isfinite(um)) throw BadArgument("is not a length", "below_upper_um, below_lower_um");
    }
    return {optional_text(given.upper), optional_text(given.lower), given.below_upper_um, given.below_lower_um,
            static_cast<SlabValue>(given.value)};
}

// Writes the arrays `of(surface)` of all surfaces one after another.
template <class T, class Of>
void give_places(T* to, const Surfaces& surfaces, const Of& of) {
    for (const Surface& surface : surfaces.all) {
        copy_to(to, of(surface));
        if (to != nullptr) to += surfaces.lines();
    }
}

std::vector<float> depths_of(const Surface& surface, const DepthScale& scale) {
    std::vector<float> depths;
    for (const float row : surface.rows) depths.push_back(static_cast<float>(scale.depth(row)));
    return depths;
}

}  // namespace

echolux_status echolux_segment(const echolux_volume* volume, const echolux_tissue* tissue, const echolux_device* device,
                               echolux_progress progress, void* user, echolux_surfaces** surfaces,
                               echolux_error* error) {
    return guarded(error, [&] {
        required(surfaces, "surfaces") = nullptr;
        const Volume& from = *live_handle(volume, "volume").volume;
        auto made = lying_in(from);
        made->origin.recipe = recipes_of(tissue).layers;
        CallerProgress told(progress, user);
        FoundSurfaces found = surfaces_in(from, made->origin.recipe, backend_of(device), "volume", told);
        made->surfaces = std::move(found.surfaces);
        made->warnings = std::move(found.warnings);
        for (const std::string& warning : warnings_of(made->surfaces)) made->warnings.push_back(warning);
        *surfaces = made.release();
    });
}

echolux_status echolux_surfaces_open(const char* path, const echolux_volume* volume, echolux_surfaces** surfaces,
                                     echolux_error* error) {
    return guarded(error, [&] {
        required(surfaces, "surfaces") = nullptr;
        const std::filesystem::path file = text_argument(path, "path");
        // The file must have been made for a volume of this size.
        auto made = lying_in(*live_handle(volume, "volume").volume);
        made->surfaces = read_surfaces(file, made->about.grid);
        made->origin.file = file.filename().string();
        *surfaces = made.release();
    });
}

echolux_status echolux_surfaces_free(echolux_surfaces* surfaces) {
    return free_handle(surfaces);
}

echolux_status echolux_surfaces_describe(const echolux_surfaces* surfaces, echolux_surfaces_facts* facts,
                                         echolux_error* error) {
    return guarded(error, [&] {
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        echolux_surfaces_facts out{};
        out.count = std::ssize(one.surfaces.all);
        out.b_scans = one.surfaces.b_scans;
        out.a_scans = one.surfaces.a_scans;
        out.moved = one.surfaces.moved;
        out.ambiguous = share_of(one.surfaces, Reason::ambiguous);
        out.weak = share_of(one.surfaces, Reason::weak_match);
        // Ambiguous positions have a depth; all others that are not ok lack one.
        out.missing = std::max(0.0, 1 - share_found(one.surfaces));
        out.is_in_um = DepthScale(one.about.grid).is_known() ? 1 : 0;
        out.was_on_gpu = one.surfaces.searched_on.processor == Backend::cuda ? 1 : 0;
        give(facts, out, "facts");
    });
}

echolux_status echolux_surfaces_name(const echolux_surfaces* surfaces, size_t index, char* buffer, size_t size,
                                     size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const Surfaces& all = live_handle(surfaces, "surfaces").surfaces;
        if (index >= all.all.size()) throw BadArgument("there are fewer surfaces", "index");
        give_text(all.all[index].name, buffer, size, needed);
    });
}

echolux_status echolux_surfaces_read(const echolux_surfaces* surfaces, const echolux_surface_places* places,
                                     echolux_error* error) {
    return guarded(error, [&] {
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        const echolux_surface_places to = taken(places, "places");
        require_count(to.count, one.places());
        const DepthScale scale(one.about.grid);
        give_places(to.depths, one.surfaces, [&](const Surface& surface) { return depths_of(surface, scale); });
        give_places(to.rows, one.surfaces, [](const Surface& surface) { return surface.rows; });
        give_places(to.quality, one.surfaces, [](const Surface& surface) { return surface.quality; });
        give_places(to.reasons, one.surfaces, [](const Surface& surface) {
            std::vector<std::uint8_t> codes;
            for (const Reason reason : surface.reasons) codes.push_back(static_cast<std::uint8_t>(reason));
            return codes;
        });
    });
}

const char* echolux_surface_reason(int32_t reason) {
    if (reason < 0 || reason > static_cast<int32_t>(Reason::too_few)) return nullptr;
    return name_of(static_cast<Reason>(reason));
}

echolux_status echolux_surfaces_warnings(const echolux_surfaces* surfaces, char* buffer, size_t size, size_t* needed,
                                         echolux_error* error) {
    return guarded(error,
                   [&] { give_text(lines_of(live_handle(surfaces, "surfaces").warnings), buffer, size, needed); });
}

echolux_status echolux_surfaces_table(const echolux_surfaces* surfaces, char* buffer, size_t size, size_t* needed,
                                      echolux_error* error) {
    return guarded(error, [&] {
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        give_text(csv_of(one.surfaces, one.about.grid), buffer, size, needed);
    });
}

echolux_status echolux_surfaces_volume(const echolux_surfaces* surfaces, echolux_volume** volume,
                                       echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        *volume = new_volume(one.told(volume_of(one.surfaces, one.about)));
    });
}

echolux_status echolux_surfaces_thickness(const echolux_surfaces* surfaces, const char* upper, const char* lower,
                                          echolux_volume** maps, echolux_error* error) {
    return guarded(error, [&] {
        required(maps, "maps") = nullptr;
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        const auto layers = layers_between(one.surfaces, optional_text(upper), optional_text(lower));
        *maps = new_volume(one.told(thickness_maps(one.about, one.surfaces, layers)));
    });
}

echolux_status echolux_surfaces_en_face(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                        const echolux_slab* slab, echolux_volume** map, echolux_error* error) {
    return guarded(error, [&] {
        required(map, "map") = nullptr;
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        const Volume& from = *volume_of_size(volume, one).volume;
        const SlabSpec spec = slab_named(one.surfaces, slab_of(taken_or_default(slab, "slab")));
        *map = new_volume(one.told(en_face_map(from, one.surfaces, spec)));
    });
}

echolux_status echolux_surfaces_flatten(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                        const char* level, int32_t back, echolux_volume** flat, echolux_error* error) {
    return guarded(error, [&] {
        required(flat, "flat") = nullptr;
        const echolux_surfaces& one = live_handle(surfaces, "surfaces");
        const echolux_volume& from = volume_of_size(volume, one);
        Volume made = flattened(*from.volume, one.surfaces, optional_text(level), back != 0);
        *flat = derived_volume(from, one.told(std::move(made)));
    });
}
