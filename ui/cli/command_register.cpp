// `echolux register IN... -o OUT`: removes motion from volumes, against a reference, a crossing volume or neighbouring
// B-scans.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/jobs/register_job.h"
#include "compute/counted.h"
#include "engine/io/volume_file.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct RegisterOptions {
    std::vector<std::string> inputs;
    std::string output, table, reference, across;
    RegisterJob job;
};

// Returns a summary such as "1490 of 1536 B-scans have a place (40 saccade, 6 weak_match)".
std::string told(const RegisteredVolumes& result) {
    std::string others;
    std::int64_t placed = 0;
    for (const auto& [reason, count] : result.reasons) {
        if (reason == name_of(RowReason::ok)) {
            placed = count;
            continue;
        }
        others += fmt::format("{}{} {}", others.empty() ? " (" : ", ", count, reason);
    }
    if (!others.empty()) others += ")";
    return fmt::format("{} of {} have a place{}", placed, counted(result.b_scans, "B-scans"), others);
}

void register_volumes(RegisterOptions& options) {
    RegisterJob& job = options.job;
    for (const std::string& input : options.inputs) job.inputs.push_back(input_named(input, ".npy"));
    job.reference = options.reference;
    job.across = options.across;
    if (!options.output.empty()) job.output = output_named(options.output, ".npy");
    if (!options.table.empty()) job.table = output_named(options.table, ".csv", false);
    TerminalProgress progress;
    const RegisteredVolumes result = run(job, progress);
    print_warnings(result.warnings);
    close_with("{}\n", told(result));
    close_with("registered in {:.2f} s on the {}\n", result.seconds, name_of(result.used.processor));
    close_with("{}\n", !result.is_within ? "motion of the reference itself stays"
                       : result.crosses > 0
                           ? fmt::format("aligned to {} that run across", counted(result.crosses, "B-scans"))
                           : "aligned to neighbours: slopes of the tissue and slow motion stay");
    for (const auto& file : {job.output, job.table}) {
        if (!file.empty()) close_with("{}\n", file.string());
    }
    give({{"files", names_of({job.output, job.table})},
          {"volumes", result.volumes},
          {"b_scans", result.b_scans},
          {"reasons", result.reasons},
          {"saccades", result.saccades},
          {"seconds", result.seconds},
          {"backend", word_for(result.used.processor)},
          {"warnings", lines_of(result.warnings)}});
}

}  // namespace

void add_register(CLI::App& program) {
    auto options = std::make_shared<RegisterOptions>();
    CLI::App* command = program.add_subcommand(
        "register", "Take motion out of volumes: to a reference, or between neighbouring B-scans");
    command
        ->add_option("IN", options->inputs,
                     "volumes, series, folders or patterns (\"scan_*.nrrd\") of one size; a single volume is aligned "
                     "to its own neighbours; - for standard input")
        ->required()
        ->type_name("");
    command
        ->add_option("-o,--output", options->output,
                     "mean of the registered volumes, NaN where nothing came; the ending decides the format: " +
                         endings_written() + "; - for standard output, as NumPy")
        ->type_name("OUT");
    command->add_option("--table", options->table, "place, quality and reason of every B-scan; - for standard output")
        ->type_name("FILE.csv");
    command->add_option("--reference", options->reference, "volume that all are registered to [one of them]")
        ->type_name("FILE");
    command
        ->add_option("--reference-volume", options->job.reference_volume,
                     "number of the volume that is the reference, counted from 0 [0]")
        ->check(not_negative())
        ->excludes("--reference")
        ->type_name("N");
    command
        ->add_option("--across", options->across,
                     "volume of the same place whose B-scans run across those of IN (scan.protocol raster_y): a single "
                     "volume is aligned to it")
        ->excludes("--reference")
        ->excludes("--reference-volume")
        ->type_name("FILE");
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->job.overwrites);
    add_backend_option(*command, options->job.backend.backend, "registers");
    RegistrationSettings registration;
    Settings settings;
    settings.bind("registration", registration);
    add_setting_options(*command, settings, "registration", "Registration (each also as --set registration.KEY=VALUE)",
                        options->job.settings);
    add_set_option(*command, options->job.settings);
    command->callback([options] { register_volumes(*options); });
}

}  // namespace echolux
