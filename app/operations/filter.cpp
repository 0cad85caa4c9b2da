// Operation `filter`: reduces speckle of a volume or scan, or averages several looks at the same tissue.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/plural.h"
#include "engine/scan/settings.h"
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
    SelectedBackend used{};

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
            fmt::format("mean of {}, equivalent to {:.1f} independent ones", plural(looks, "looks"), effective_looks));
        Volume mean = compound.mean(filter.stored_as);
        mean.provenance["looks"] = fmt::format("{}, as {:.2f} independent ones", looks, effective_looks);
        return mean;
    }

    void add_series(Compound& compound, Progress& progress) {
        if (input.size() != 1 || input.is_in_memory())
            throw Error(ErrorCode::bad_setting, "needs one series", "all_volumes", "name one input, or leave it out");
        const TimePoints series(input.names.front());
        if (series.count() == 1) {
            throw Error(ErrorCode::bad_setting, "holds a single volume: there is nothing to average",
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
        with_file_context(input.name(), "volume", [&] { filter_in_place(volume, context); });
        if (!used.refusal.empty()) context.warn({"filter: " + used.refusal});
        context.say(fmt::format("filtered in {:.2f} s on the {}", seconds, name_of(used.backend)));
        volume.provenance["filter"] = section_toml("filter", filter);
        volume.provenance["filter.backend"] = word_for(used.backend);
        return volume;
    }

    void filter_in_place(Volume& volume, Context& context) {
        const std::vector<float> power = power_of(volume, filter.stored_as);
        if (std::ranges::none_of(power, [](float value) { return value > 0; })) {
            throw Error(ErrorCode::bad_setting, "is empty: no voxel is above zero", "volume", "choose another volume");
        }
        const auto start = std::chrono::steady_clock::now();
        used = filter_volume(volume, filter, context.progress, context.backend);
        seconds = seconds_since(start);
    }
};

void Filter::describe(OperationParts<Filter>& parts) {
    parts.info.summary = "Reduce speckle, or average several volumes";
    parts.info.examples = {"input=v.nrrd output=smooth.nrrd", "input=look1.nrrd input=look2.nrrd output=mean.nrrd"};
    parts.info.details =
        "Filters work on linear power; voxels without a value are unchanged. Non-local means after C. Cuartas-Velez et "
        "al., "
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
