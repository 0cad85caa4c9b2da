// `echolux attenuation VOLUME|scan.toml -o COEFFICIENTS`: estimates the attenuation coefficient of each voxel in 1/mm.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/attenuation_job.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct AttenuationOptions {
    AttenuationJob job;
    std::string input, output;
    std::int64_t volume = 0;
    std::vector<std::string> assignments;
};

// `attenuation.*` settings configure the estimate; all other settings configure the reconstruction of a scan.
AttenuationJob job_from(const AttenuationOptions& options) {
    AttenuationJob job = options.job;
    job.input = input_named(options.input, ".npy");
    job.output = output_named(options.output, ".npy");
    job.part.volume = options.volume;
    Settings settings;
    settings.bind("attenuation", job.recipe);
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("attenuation."))
            settings.set_assignment(assignment);
        else
            job.settings.push_back(assignment);
    }
    return job;
}

void attenuation(const AttenuationOptions& options) {
    TerminalProgress progress;
    const AttenuationJob job = job_from(options);
    const AttenuationFile done = run(job, progress);
    print_warnings(done.warnings);
    close_with("{:.1f} % of the voxels have a value, over a noise floor of {:.1f} dB; found in {:.2f} s\n",
               100 * done.stats.known, done.stats.noise_floor_db, done.seconds);
    close_with("{}\n", job.output.string());
    give({{"files", names_of({job.output})},
          {"known", done.stats.known},
          {"no_tail", done.stats.no_tail},
          {"noise_floor_db", done.stats.noise_floor_db},
          {"seconds", done.seconds},
          {"warnings", lines_of(done.warnings)}});
}

}  // namespace

void add_attenuation(CLI::App& program) {
    auto options = std::make_shared<AttenuationOptions>();
    CLI::App* command =
        program.add_subcommand("attenuation", "Attenuation coefficients of tissue in 1/mm, voxel by voxel");
    command->add_option("INPUT", options->input, "volume file or scan; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "volume of f32, 1/mm; the ending decides the format: " + endings_written() +
                         "; - for standard output, as NumPy")
        ->required()
        ->type_name("VOLUME");
    command->add_option("--volume", options->volume, "volume of a scan or series, counted from 0 [0]")->type_name("N");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->job.overwrites);
    add_recipe_option(*command, options->assignments);
    add_set_option(*command, options->assignments);
    AttenuationRecipe defaults;
    Settings settings;
    settings.bind("attenuation", defaults);
    add_setting_options(*command, settings, "attenuation", "Attenuation (each also as --set attenuation.KEY=VALUE)",
                        options->assignments);
    command->callback([options] { attenuation(*options); });
}

}  // namespace echolux
