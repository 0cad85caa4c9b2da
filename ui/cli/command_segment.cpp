// `echolux segment VOLUME|scan.toml [-o SURFACES] [--thickness MAPS] [--en-face MAP] [--flatten VOLUME]`
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

struct Options {
    SegmentJob job;
    std::string input, preset = "retina", between, projection = "mean";
    std::int64_t volume = 0;
    std::vector<std::string> assignments;
};

SegmentJob job_from(const Options& options) {
    SegmentJob job = options.job;
    job.input = input_named(options.input, ".npy");
    job.part.volume = options.volume;
    job.value = options.projection == "max" ? SlabValue::max : SlabValue::mean;
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

void segment(const Options& options) {
    TerminalProgress progress;
    const SegmentedLayers done = run(job_from(options), progress);
    print_warnings(done.warnings);
    close_with("{} in {} x {} A-scans: {}\n", counted(std::ssize(done.names), "surfaces"), done.a_scans, done.b_scans,
               fmt::join(done.names, ", "));
    if (done.seconds > 0) {
        close_with(
            "found in {:.2f} s; {:.1f} % ambiguous; {:.1f} % without a surface, {:.1f} % for too little contrast\n",
            done.seconds, 100 * done.ambiguous, 100 * done.missing, 100 * done.weak);
    }
    for (const auto& file : done.files) close_with("{}\n", file.string());
    give({{"files", names_of(done.files)},
          {"surfaces", done.names},
          {"ambiguous", done.ambiguous},
          {"weak", done.weak},
          {"missing", done.missing},
          {"moved", done.moved},
          {"seconds", done.seconds},
          {"warnings", lines_of(done.warnings)}});
}

void add_results(CLI::App& command, Options& options) {
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
    command.add_option("--below-upper", job.below_upper_um, "--en-face begins so far below the upper surface [0]")
        ->type_name("UM");
    command.add_option("--below-lower", job.below_lower_um, "--en-face ends so far below the lower surface [0]")
        ->type_name("UM");
    command.add_option("--projection", options.projection, "what --en-face shows of each A-scan [mean]")
        ->check(one_of({"mean", "max"}))
        ->type_name("mean|max");
    command.add_option("--level", job.level, "surface that --flatten makes flat [the first]")->type_name("NAME");
}

}  // namespace

void add_segment(CLI::App& program) {
    auto options = std::make_shared<Options>();
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
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->job.overwrites);
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
