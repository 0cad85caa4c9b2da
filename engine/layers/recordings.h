// Surfaces in real recordings (docs/layers.md). Searches each B-scan alone, with methods that do not rely on
// exponential intensities, and chooses the method.
#pragma once

#include <optional>

#include "engine/analysis/stored_brightness.h"
#include "engine/layers/layers.h"
#include "engine/progress.h"

namespace echolux {

// Decided quantity and method of a volume.
struct SearchPlan : BrightnessLaw {
    SearchMethod method = SearchMethod::likelihood;  // never automatic
    bool is_checked = false;  // likelihood, to be compared with the method retina on a few B-scans
};

// Decides from up to 16 B-scans. The quantity of `volume` is used if it states one.
SearchPlan plan_search(const Volume& volume, const LayerRecipe& recipe);

// Finds surfaces with the method retina, surface or lumen. The quality of a place is its confidence: it is `ok` from 1
// on, `ambiguous` below. Throws Error{bad_setting} for names or lists that do not fit the method, and for retina if the
// depth of a row is unknown.
Surfaces surfaces_in_recording(const Volume& volume, const LayerRecipe& recipe, const SearchPlan& plan,
                               Progress& progress);

// Returns whether surfaces of the likelihood agree with the method retina in a few B-scans of the volume.
bool agrees_with_retina(const Volume& volume, const LayerRecipe& recipe, const SearchPlan& plan,
                        const Surfaces& surfaces);

// Returns the volume's linear intensity as planned; NaN where nothing was recorded.
std::vector<float> planned_intensity(const Volume& volume, const SearchPlan& plan);

}  // namespace echolux
