// `echolux segment VOLUME|scan.toml [-o SURFACES] [--thickness MAPS] [--en-face MAP] [--flatten VOLUME]`: finds the
// surfaces between tissue layers and derives maps from them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/jobs/segment_job.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct SegmentOptions {
    SegmentJob job;
    std::string input, preset = "retina", between, projection = "mean";
    std::int64_t volume = 0;
    std::vector<std::string> assignments;
};

// Settings of the preset come first, so that options override them. `layers.*` and `figure.*` settings configure this
// command; all others configure the reconstruction of a scan.
SegmentJob job_from(const SegmentOptions& options) {
    SegmentJob job = options.job;
    job.input = input_named(options.input, ".npy");
    job.part.volume = options.volume;
    job.value = options.projection == "max"    ? SlabValue::max
                : options.projection == "top3" ? SlabValue::top3
                                               : SlabValue::mean;
    if (!options.between.empty()) {
        const std::size_t colon = options.between.find(':');
        if (colon == std::string::npos) {
            throw UsageError("expected UPPER:LOWER, got " + options.between, "--between",
                             "name two surfaces, e.g. ILM:RPE-bottom");
        }
        job.upper = options.between.substr(0, colon);
        job.lower = options.between.substr(colon + 1);
    }
    Settings settings;
    settings.bind("layers", job.recipe);
    settings.bind("figure", job.style);
    for (const std::string& assignment : layer_preset_named(options.preset).assignments)
        settings.set_assignment(assignment);
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("layers.") || assignment.starts_with("figure."))
            settings.set_assignment(assignment);
        else
            job.settings.push_back(assignment);
    }
    return job;
}

nlohmann::ordered_json object_of(const VesselStats& vessels) {
    return {{"area_mm2", vessels.area_mm2},
            {"measured_percent", vessels.measured_percent},
            {"density_percent", vessels.density_percent},
            {"skeleton_mm", vessels.skeleton_mm},
            {"skeleton_per_mm", vessels.skeleton_per_mm},
            {"flux", vessels.flux}};
}

void segment(const SegmentOptions& options) {
    TerminalProgress progress;
    const SegmentedLayers done = run(job_from(options), progress);
    print_warnings(done.warnings);
    close_with("{} in {} x {} A-scans: {}\n", counted(std::ssize(done.names), "surfaces"), done.a_scans, done.b_scans,
               fmt::join(done.names, ", "));
    if (done.seconds > 0) {
        close_with(
            "found in {:.2f} s on the {}; {:.1f} % ambiguous; {:.1f} % without a surface, {:.1f} % for too little "
            "contrast\n",
            done.seconds, name_of(done.used.processor), 100 * done.ambiguous, 100 * done.missing, 100 * done.weak);
    }
    if (done.vessels) {
        close_with("vessels: {:.1f} % of {:.3g} mm2, {:.3g} mm/mm2, relative flux {:.3g}\n",
                   done.vessels->density_percent, done.vessels->area_mm2, done.vessels->skeleton_per_mm,
                   done.vessels->flux);
    }
    for (const auto& file : done.files) close_with("{}\n", file.string());
    nlohmann::ordered_json told = {{"files", names_of(done.files)},
                                   {"surfaces", done.names},
                                   {"ambiguous", done.ambiguous},
                                   {"weak", done.weak},
                                   {"missing", done.missing},
                                   {"moved", done.moved},
                                   {"seconds", done.seconds},
                                   {"backend", word_for(done.used.processor)},
                                   {"warnings", lines_of(done.warnings)}};
    if (done.vessels) told["vessels"] = object_of(*done.vessels);
    give(told);
}

void add_results(CLI::App& command, SegmentOptions& options) {
    SegmentJob& job = options.job;
    command.add_option("-o,--output", job.output, "depths of the surfaces: a volume file, or a table")
        ->type_name("FILE.nrrd|.csv");
    command.add_option("--picture", job.picture, "a B-scan with the surfaces drawn into it")
        ->type_name("FILE.pdf|.svg|.png");
    command.add_option("--b-scan", job.b_scan, "B-scan of --picture, counted from 0 [the middle one]")->type_name("N");
    command
        .add_option("--thickness", job.thickness,
                    "maps of the thickness of each layer, or from one surface of --between to the other")
        ->type_name("FIGURE|VOLUME");
    command.add_option("--en-face", job.en_face, "what lies between the surfaces of --between, seen from above")
        ->type_name("FIGURE|VOLUME");
    command.add_option("--flatten", job.flat, "the volume, moved in depth until the surface of --level lies flat")
        ->type_name("VOLUME");
    command.add_option("--unflatten", job.unflat, "a volume made by --flatten, moved back by the same --surfaces")
        ->type_name("VOLUME");
    command.add_option("--between", options.between, "two surfaces by name [the first and the last]")
        ->type_name("UPPER:LOWER");
    command.add_option("--below-upper", job.below_upper_um, "the slab begins so far below the upper surface [0]")
        ->type_name("UM");
    command.add_option("--below-lower", job.below_lower_um, "the slab ends so far below the lower surface [0]")
        ->type_name("UM");
    command
        .add_option("--projection", options.projection,
                    "what --en-face shows of each A-scan; top3: the mean of its three greatest values [mean]")
        ->check(one_of({"mean", "max", "top3"}))
        ->type_name("mean|max|top3");
    command.add_option("--level", job.level, "surface that --flatten makes flat [the first]")->type_name("NAME");
}

void add_vessels(CLI::App& command, SegmentOptions& options) {
    SegmentJob& job = options.job;
    const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
        command.add_option(name, value, help)->type_name(type)->group("Vessels (INPUT is a volume of angiography)");
    };
    add("--density", job.density, "map of the share of vessels between the surfaces, in %", "FIGURE|VOLUME");
    add("--flux", job.flux, "map of the mean value of what flows between them: relative", "FIGURE|VOLUME");
    add("--vessels", job.vessels, "table of density, length of vessels and flux of the whole slab", "FILE.csv");
    add("--flow-above", job.vessel_spec.above,
        "values that count as flow are greater; 0.15 is for the decorrelation methods [0.15]", "VALUE");
    add("--window", job.vessel_spec.window_um, "side of the square over which --density counts [100]", "UM");
    add("--tail-gap", job.tail_gap_um,
        "remove projection tails: zero each voxel that decorrelates no more than one at least this far above it; about "
        "a capillary's thickness, 12 [0: off]",
        "UM");
}

}  // namespace

void add_segment(CLI::App& program) {
    auto options = std::make_shared<SegmentOptions>();
    CLI::App* command =
        program.add_subcommand("segment", "Find the surfaces between layers; thickness, en-face maps, flat volumes");
    command->add_option("INPUT", options->input, "volume file or scan; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("--preset", options->preset,
                     "what is looked for; `echolux info --presets` lists them, --count and others override [retina]")
        ->type_name("NAME|FILE.toml");
    command
        ->add_option("--surfaces", options->job.surfaces,
                     "take the surfaces of this file, made by -o, instead of looking for them")
        ->type_name("VOLUME");
    add_results(*command, *options);
    add_vessels(*command, *options);
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->job.overwrites);
    add_backend_option(*command, options->job.backend.backend, "finds the surfaces");
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    LayerRecipe recipe;
    Settings settings;
    settings.bind("layers", recipe);
    add_setting_options(*command, settings, "layers", "Layers (each also as --set layers.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { segment(*options); });
}

}  // namespace echolux
