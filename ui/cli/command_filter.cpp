// `echolux filter VOLUME|scan.toml -o FILTERED` reduces speckle. `echolux filter A B C ... -o MEAN` averages volumes of
// the same tissue in linear power.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/filter_job.h"
#include "compute/counted.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct FilterOptions {
    std::vector<std::string> inputs;
    std::string output;
    std::int64_t volume = 0;
    bool all_volumes = false, overwrites = false;
    Backend backend = Backend::automatic;
    std::vector<std::string> assignments;
};

// `filter.*` settings configure the filter; all other settings configure the reconstruction of a scan.
FilterJob job_from(const FilterOptions& options) {
    FilterJob job;
    job.input = input_named(options.inputs.front(), ".npy");
    job.others.assign(options.inputs.begin() + 1, options.inputs.end());
    job.output = output_named(options.output, ".npy");
    job.part.volume = options.volume;
    job.all_volumes = options.all_volumes;
    job.overwrites = options.overwrites;
    job.backend.backend = options.backend;
    Settings settings;
    settings.bind("filter", job.filter);
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("filter."))
            settings.set_assignment(assignment);
        else
            job.settings.push_back(assignment);
    }
    if (job.all_volumes && !job.others.empty())
        throw UsageError("needs one series", "--all-volumes", "name one input, or leave it out");
    return job;
}

void filter(const FilterOptions& options) {
    TerminalProgress progress;
    const FilterJob job = job_from(options);
    const FilteredFile done = run(job, progress);
    print_warnings(done.warnings);
    if (done.looks > 1)
        close_with("mean of {}, as good as {:.1f} independent ones\n", counted(done.looks, "looks"),
                   done.effective_looks);
    else if (done.seconds > 0)
        close_with("filtered in {:.2f} s on the {}\n", done.seconds, name_of(done.used.processor));
    close_with("{}\n", job.output.string());
    give({{"files", names_of({job.output})},
          {"looks", done.looks},
          {"effective_looks", done.effective_looks},
          {"seconds", done.seconds},
          {"backend", word_for(done.used.processor)},
          {"warnings", lines_of(done.warnings)}});
}

}  // namespace

void add_filter(CLI::App& program) {
    auto options = std::make_shared<FilterOptions>();
    CLI::App* command = program.add_subcommand("filter", "Less speckle in a volume; the mean of several looks");
    command
        ->add_option(
            "INPUT", options->inputs,
            "volume file or scan; several registered volumes of the same tissue are averaged, in linear power, "
            "and not filtered; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "volume of the same kind of voxels; the ending decides the format: " + endings_written() +
                         "; - for standard output, as NumPy")
        ->required()
        ->type_name("VOLUME");
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    command->add_flag("--all-volumes", options->all_volumes, "average all volumes of a series");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->overwrites);
    add_backend_option(*command, options->backend, "filters");
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    SpeckleFilter defaults;
    Settings settings;
    settings.bind("filter", defaults);
    add_setting_options(*command, settings, "filter", "Filter (each also as --set filter.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { filter(*options); });
}

}  // namespace echolux
