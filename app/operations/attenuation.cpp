// Operation `attenuation`: estimates the attenuation coefficient of each voxel in 1/mm.
#include "engine/attenuation/attenuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

struct Attenuation {
    VolumeInput input;
    OperationOutput output;
    AttenuationRecipe attenuation;

    AttenuationStats stats;
    double seconds = 0;

    static void describe(OperationParts<Attenuation>& parts);

    void run(Context& context) {
        check(attenuation, "attenuation");
        const std::shared_ptr<const Volume> volume = context.volume(input);
        const auto start = std::chrono::steady_clock::now();
        Volume made = with_file_context(input.name(), "volume",
                                        [&] { return attenuation_of(*volume, attenuation, stats, context.progress); });
        seconds = seconds_since(start);
        if (stats.known == 0) {
            throw Error(ErrorCode::bad_setting, "no signal exceeds the noise, so no attenuation was found",
                        input.name(), "look at it with `render`, or set attenuation.noise_floor_db");
        }
        warn(context, volume->grid);
        context.say(
            fmt::format("{:.1f} % of the voxels have a value, over a noise floor of {:.1f} dB; found in {:.2f} s",
                        100 * stats.known, stats.noise_floor_db, seconds));
        made.provenance["attenuation"] = section_toml("attenuation", attenuation);
        made.provenance["attenuation_noise_floor_db"] = fmt::format("{:.2f}", stats.noise_floor_db);
        made.provenance["attenuation_corrected"] = corrections();
        context.write(output, std::move(made));
    }

    void warn(Context& context, const VolumeGrid& grid) const {
        constexpr std::int64_t min_looks = 20;
        constexpr double many = 0.5;
        const std::int64_t looks =
            std::min(attenuation.window_a_scans, grid.a_scans) * std::min(attenuation.window_b_scans, grid.b_scans);
        if (looks < min_looks) {
            context.warn(
                {"attenuation.window_a_scans: the mean of fewer than 20 A-scans leaves speckle in the result"});
        }
        if (attenuation.roll_off_db_per_mm == 0 && attenuation.rayleigh_um == 0) {
            context.warn(
                {"attenuation.roll_off_db_per_mm: neither roll-off nor focus is corrected, and both count as "
                 "attenuation"});
        }
        if (stats.no_tail > many) {
            context.warn(
                {fmt::format("attenuation.tail_rows: {:.0f} % of the A-scans do not get darker towards their end, so "
                             "their values are uncertain",
                             100 * stats.no_tail)});
        }
    }

    std::string corrections() const {
        if (attenuation.roll_off_db_per_mm == 0) return attenuation.rayleigh_um == 0 ? "nothing" : "focus";
        return attenuation.rayleigh_um == 0 ? "roll-off" : "roll-off, focus";
    }
};

void Attenuation::describe(OperationParts<Attenuation>& parts) {
    parts.info.summary = "Attenuation coefficients of tissue in 1/mm, voxel by voxel";
    parts.info.examples = {"input=v.nrrd output=attenuation.nrrd"};
    parts.info.details =
        "Depth-resolved model of single scattering after K. A. Vermeer et al., Biomed. Opt. Express 5(1), 2014. Voxels "
        "above and below the tissue have no value, nor do those "
        "whose light may come from below the end of the A-scan. See docs/angiography.md.";
    parts.input({.name = "input", .help = "volume file or scan"}, &Attenuation::input)
        .output({.name = "output", .help = "volume of f32, 1/mm", .is_required = true}, &Attenuation::output)
        .section("attenuation", "Attenuation", &Attenuation::attenuation)
        .result("known", "", "share of voxels with a value", [](const Attenuation& one) { return one.stats.known; })
        .result("no_tail", "", "share of A-scans with tissue that do not get darker towards their end",
                [](const Attenuation& one) { return one.stats.no_tail; })
        .result("noise_floor_db", "dB", "noise floor above which tissue begins",
                [](const Attenuation& one) { return one.stats.noise_floor_db; })
        .result("seconds", "s", "time of the computation alone", &Attenuation::seconds);
}

}  // namespace

ECHOLUX_OPERATION(attenuation, Attenuation)

}  // namespace echolux
