// Settings of the tissue analyses, and helpers shared by the functions of tissue.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/attenuation/attenuation.h"
#include "engine/flow/cross_section.h"
#include "engine/layers/layers.h"
#include "engine/registration/registration.h"
#include "engine/speckle/speckle_filter.h"
#include "library/call.h"
#include "library/convert.h"

namespace echolux::library {

// A copy of all settings, so that the handle may change while a call runs.
struct TissueRecipes {
    SpeckleFilter filter;
    LayerRecipe layers;
    RegistrationSettings registration;
    AttenuationRecipe attenuation;
    CrossSectionRecipe cross_section;
};

// NULL returns the defaults. Throws BadArgument.
TissueRecipes recipes_of(const echolux_tissue* tissue);

// Throws BadArgument if there are none or one of them is NULL.
std::vector<const echolux_volume*> volumes_argument(const echolux_volume* const* volumes, std::size_t count,
                                                    const char* name);

// Copies to an array of the caller unless it is NULL.
template <class T, class From>
void copy_to(T* to, const From& from) {
    if (to != nullptr) std::ranges::copy(from, to);
}

// Throws BadArgument if the caller's arrays have a different length.
void require_count(std::int64_t given, std::size_t wanted);

}  // namespace echolux::library

struct echolux_tissue : echolux::library::Handle<echolux::library::Kind::tissue> {
    echolux_tissue(const std::string& layers, const std::vector<std::string>& assignments);

    echolux::library::TissueRecipes recipes;
    echolux_settings settings;
};
