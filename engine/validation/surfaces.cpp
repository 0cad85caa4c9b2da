// Validates surfaces between layers against painted boundaries, by the mean absolute error in voxels as in
// publications.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/layers/find_surfaces.h"
#include "engine/validation/tissue_scene.h"
#include "engine/validation/topics.h"

namespace echolux {
namespace {

struct MeanErrors {
    double all = 0, worst = 0;  // mean over all surfaces, and of the worst one, in rows
    double missing = 0;         // share of all positions
};

// Searches the surfaces of a scene and compares them with the painted boundaries.
MeanErrors errors_of(const LayeredScene& scene) {
    SurfaceSearch search;
    for (std::size_t k = 0; k < retina_polarities.size(); ++k)
        search.wanted.push_back({std::to_string(k + 1), retina_polarities[k], k == 0 ? 0.0 : 3.0, 0, 1});
    SilentProgress silent;
    const Surfaces surfaces = find_surfaces(scene.intensity, scene.size, search, silent);
    MeanErrors errors;
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        double sum = 0, count = 0;
        for (std::size_t i = 0; i < scene.boundaries[k].size(); ++i) {
            const auto row = static_cast<double>(surfaces.all[k].rows[i]);
            if (std::isnan(row)) continue;  // reported as not found
            sum += std::abs(row - static_cast<double>(scene.boundaries[k][i]));
            ++count;
        }
        const double mean = sum / count;
        errors.all += mean / static_cast<double>(surfaces.all.size());
        errors.worst = std::max(errors.worst, mean);
    }
    errors.missing = 1 - share_found(surfaces);
    return errors;
}

}  // namespace

CheckTable validated_surfaces(ValidationRun& run) {
    constexpr double most = 0.8, most_of_worst = 1.2;  // rows
    constexpr double most_missing = 0.02;
    const unsigned seeds = run.quick() ? 1 : 5;
    CheckTable table{"Surfaces between layers",
                     "Retinas painted with speckle, 256 x 128 x 64 voxels, ten boundaries with a foveal pit and a "
                     "waviness of one voxel. Mean absolute error, the\ngreatest of all seeds. Expected: a float64 "
                     "model of the same search.",
                     {}};
    for (const auto& [snr_db, expected, expected_worst] :
         {std::tuple{25.0, 0.71, 1.21}, std::tuple{15.0, 0.64, 1.21}}) {
        MeanErrors greatest;
        for (unsigned seed = 1; seed <= seeds; ++seed) {
            const MeanErrors errors = errors_of(retina_scene({256, 128, 64}, seed, snr_db));
            greatest = {std::max(greatest.all, errors.all), std::max(greatest.worst, errors.worst),
                        std::max(greatest.missing, errors.missing)};
            run.progress().advance(0);
        }
        const std::string at = fmt::format("{:g} dB: ", snr_db);
        table.checks.push_back(at_most(at + "over all surfaces", "voxels", greatest.all, most, expected));
        table.checks.push_back(at_most(at + "worst surface", "voxels", greatest.worst, most_of_worst, expected_worst));
        table.checks.push_back(at_most(at + "places without a surface", "", greatest.missing, most_missing));
    }
    return table;
}

}  // namespace echolux
