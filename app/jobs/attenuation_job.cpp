#include "app/jobs/attenuation_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "app/open/open_volume.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/io/output_rule.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

std::vector<std::string> warnings_of(const AttenuationRecipe& recipe, const AttenuationStats& stats,
                                     const VolumeGrid& grid) {
    constexpr std::int64_t min_looks = 20;
    constexpr double many = 0.5;
    std::vector<std::string> warnings;
    if (std::min(recipe.window_a_scans, grid.a_scans) * std::min(recipe.window_b_scans, grid.b_scans) < min_looks)
        warnings.push_back(
            "attenuation.window_a_scans: the mean of fewer than 20 A-scans leaves speckle in the result");
    if (recipe.roll_off_db_per_mm == 0 && recipe.rayleigh_um == 0) {
        warnings.push_back(
            "attenuation.roll_off_db_per_mm: neither roll-off nor focus is corrected, and both count as attenuation");
    }
    if (stats.no_tail > many) {
        warnings.push_back(
            fmt::format("attenuation.tail_rows: {:.0f} % of the A-scans get no darker at their end, so that little is "
                        "known of them",
                        100 * stats.no_tail));
    }
    return warnings;
}

std::string corrections_of(const AttenuationRecipe& recipe) {
    if (recipe.roll_off_db_per_mm == 0) return recipe.rayleigh_um == 0 ? "nothing" : "focus";
    return recipe.rayleigh_um == 0 ? "roll-off" : "roll-off, focus";
}

}  // namespace

AttenuatedVolume attenuated_volume(const Volume& volume, const AttenuationRecipe& recipe, const std::string& name,
                                   Progress& progress) {
    check(recipe, "attenuation");
    AttenuatedVolume done;
    const auto start = std::chrono::steady_clock::now();
    done.volume =
        with_file_context(name, "volume", [&] { return attenuation_of(volume, recipe, done.stats, progress); });
    done.seconds = seconds_since(start);
    if (done.stats.known == 0) {
        throw Error(ErrorCode::bad_setting, "nothing stands out from the noise, so no attenuation was found", name,
                    "look at it with `render`, or set attenuation.noise_floor_db");
    }
    done.warnings = warnings_of(recipe, done.stats, volume.grid);
    done.volume.provenance["attenuation"] = section_toml("attenuation", recipe);
    done.volume.provenance["attenuation_noise_floor_db"] = fmt::format("{:.2f}", done.stats.noise_floor_db);
    done.volume.provenance["attenuation_corrected"] = corrections_of(recipe);
    return done;
}

AttenuationFile run(const AttenuationJob& job, Progress& progress) {
    check(job.recipe, "attenuation");
    check_outputs({{job.output, is_own_volume}}, files_read(job), job.overwrites);
    check_volume_output(job.output, VoxelType::f32);
    const OpenedVolume opened = open_volume(job, progress);
    AttenuatedVolume made = attenuated_volume(opened.volume, job.recipe, job.input.filename().string(), progress);
    AttenuationFile done{opened.warnings, made.stats, made.seconds};
    std::ranges::move(made.warnings, std::back_inserter(done.warnings));
    write_volume(job.output, made.volume, progress);
    return done;
}

}  // namespace echolux
