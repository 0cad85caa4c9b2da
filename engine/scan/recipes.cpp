#include "engine/scan/recipes.h"

#include <algorithm>

#include "compute/error.h"

namespace echolux {

// Costs: processor time of 2048 samples on one core, beside that of a plain reconstruction without dispersion.
const std::vector<ShippedRecipe>& shipped_recipes() {
    static const std::vector<ShippedRecipe> recipes{
        {"ao-oct",
         "Zero-pads to a power of two, up-samples twice, interpolates in wavelength; frame mean removed. Cost: 3.",
         "Spectrometers with a wavelength file, above all adaptive-optics OCT with 832 pixels.",
         {"recipe.background=frame_mean", "recipe.upsample_pad=true", "recipe.upsample=2", "recipe.resample=linear",
          "recipe.window=rect"}},
        {"ss-oct",
         "Reference spectrum removed, third-order Lagrange from an index file, Hann window, real transform. Cost: 1.",
         "Swept sources with a k map of sample positions: the fastest way with little loss.",
         {"recipe.background=stored", "recipe.resample=lagrange3", "recipe.window=hann", "recipe.dispersion=false"}},
        {"defr",
         "Dispersion-encoded full range: 10 iterations find the sharp images and take the false ones away. Cost: 25.",
         "Samples on both sides of zero delay, with tens of rad of dispersion: mirrors and layers, not dense speckle.",
         {"recipe.method=defr", "recipe.upsample=2", "recipe.resample=linear", "recipe.window=hann",
          "recipe.zero_padding=1", "recipe.depth_begin=0", "recipe.depth_end=0", "defr.iterations=10",
          "defr.delta=0.5"}},
        {"nufft",
         "Samples are transformed where they lie, through a grid twice as fine (Kaiser-Bessel, 3 points). Cost: 3.5.",
         "Deep reflectors without interpolation loss or side lobes, at a fraction of the exact transform's cost.",
         {"recipe.resample=nufft", "nufft.kernel=kaiser_bessel", "nufft.oversampling=2", "nufft.width=3"}},
        {"nudft",
         "The exact transform of the samples where they lie, as one matrix product. Cost: 30 (a GPU: 3).",
         "The reference for the quality of all others, and any zoom into depth.",
         {"recipe.resample=nudft"}},
        {"compressive",
         "The fewest reflectors that explain 30 % of the samples: 15 steps of SpaRSA through the NUFFT. Cost: 70.",
         "Cameras read in part, and quieter backgrounds; calibration.background is needed for its variable mask.",
         {"recipe.method=compressive", "compressive.transform=nufft", "compressive.mask=variable",
          "compressive.share=0.3", "compressive.iterations=15", "compressive.continuation=true"}},
        {"doppler",
         "Structure and axial velocity: phase steps between neighbouring A-scans, averaged over 3 x 4 voxels. Cost: 2.",
         "Blood flow, with scan.line_rate_hz known and A-scans closer than a third of the beam's width.",
         {"flow.method=doppler", "flow.window_depth=3", "flow.window_lines=4"}},
    };
    return recipes;
}

const std::vector<std::string>& assignments_of_recipe(std::string_view name) {
    const auto found = std::ranges::find(shipped_recipes(), name, &ShippedRecipe::name);
    if (found != shipped_recipes().end()) return found->assignments;
    std::string names;
    for (const ShippedRecipe& recipe : shipped_recipes()) names += (names.empty() ? "" : ", ") + recipe.name;
    throw Error(ErrorCode::bad_setting, "there is no recipe '" + std::string(name) + "'", "--recipe",
                "choose one of " + names);
}

}  // namespace echolux
