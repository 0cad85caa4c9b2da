// Operation `filter`: reduces speckle of a volume or scan, or averages several looks at the same tissue.
#include <fmt/format.h>

#include <utility>

#include "app/jobs/filter_job.h"
#include "app/operations/operation.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/scan/time_points.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {
namespace {

struct Filter {
    VolumeInput input;
    bool all_volumes = false;
    OperationOutput output;
    SpeckleFilter filter;

    std::int64_t looks = 1;
    double effective_looks = 1, seconds = 0;
    BackendUsed used{};

    static void describe(OperationParts<Filter>& parts);

    void run(Context& context) {
        check_filter(filter);
        const bool averages = all_volumes || input.names.size() + input.held.size() > 1;
        context.write(output, averages ? averaged(context) : filtered(context));
    }

    Volume averaged(Context& context) {
        Compound compound;
        if (all_volumes)
            add_series(compound, context.progress);
        else
            for (std::size_t i = 0; i < input.size(); ++i) compound.add(*context.volume(input, i), filter.stored_as);
        looks = compound.looks();
        effective_looks = compound.effective_looks(filter.looks);
        context.say(
            fmt::format("mean of {}, as good as {:.1f} independent ones", plural(looks, "looks"), effective_looks));
        return mean_of(compound, filter);
    }

    void add_series(Compound& compound, Progress& progress) {
        if (input.size() != 1 || input.is_in_memory())
            throw Error(ErrorCode::bad_setting, "needs one series", "all_volumes", "name one input, or leave it out");
        const TimePoints series(input.names.front());
        if (series.count() == 1) {
            throw Error(ErrorCode::bad_setting, "holds one volume, which has no mean with others",
                        input.name() + ", all_volumes", "leave it out to filter the volume");
        }
        progress.begin("average", series.count(), "volumes");
        for (std::int64_t t = 0; t < series.count(); ++t) {
            compound.add(series.read(t), filter.stored_as);
            progress.advance(1);
        }
        progress.end();
    }

    Volume filtered(Context& context) {
        Volume volume = context.volume_to_change(input);
        FilteredVolume made = with_file_context(input.name(), "volume", [&] {
            return filtered_volume(std::move(volume), filter, context.backend, context.progress);
        });
        context.warn(made.warnings);
        seconds = made.seconds;
        used = made.used;
        context.say(fmt::format("filtered in {:.2f} s on the {}", seconds, name_of(used.backend)));
        return std::move(made.volume);
    }
};

void Filter::describe(OperationParts<Filter>& parts) {
    parts.info.summary = "Less speckle in a volume; the mean of several looks";
    parts.info.details =
        "Filters work on linear power; voxels without a value stay so. Non-local means after C. Cuartas-Velez et al., "
        "Biomed. Opt. Express 9, 3354, 2018; bilateral filter after C. Tomasi and R. Manduchi, ICCV 1998. Several "
        "inputs are averaged and not filtered. See docs/filters.md.";
    parts
        .input({.name = "input",
                .help = "volume file or scan; several registered volumes of the same tissue are averaged, in linear "
                        "power, and not filtered",
                .takes_many = true,
                .has_stored_as = false},  // section filter has it
               &Filter::input)
        .argument(flag("all_volumes", &Filter::all_volumes, Effect::file, "average all volumes of a series"))
        .output({.name = "output", .help = "volume of the same kind of voxels", .is_required = true}, &Filter::output)
        .section("filter", "Filter", &Filter::filter)
        .uses_backend("filters")
        .result("looks", "", "number of volumes that were averaged", &Filter::looks)
        .result("effective_looks", "", "equivalent number of independent looks", &Filter::effective_looks)
        .result("seconds", "s", "time of filtering alone", &Filter::seconds)
        .result("backend", "", "device that filtered", [](const Filter& one) { return word_for(one.used.backend); });
}

}  // namespace

ECHOLUX_OPERATION(filter, Filter)

}  // namespace echolux
