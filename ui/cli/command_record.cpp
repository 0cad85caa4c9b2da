// `echolux record --source ... -o scan.toml`: records every block of a source.
#include "ui/cli/command_record.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/live/record_job.h"
#include "engine/acquire/source.h"
#include "engine/io/atomic_file.h"
#include "engine/scan/settings.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"

namespace echolux {
namespace {

bool is_of(const std::string& assignment, const std::vector<std::string>& sections) {
    return std::ranges::any_of(sections, [&](const std::string& section) { return assignment.starts_with(section); });
}

}  // namespace

CLI::Option* add_source_options(CLI::App& command, SourceOptions& options) {
    CLI::Option* name = command.add_option("--source", options.name, source_names)->type_name("SOURCE");
    command.add_option("--scan", options.scan, "describes what a camera or plugin sends: sizes, calibration, recipe")
        ->type_name("scan.toml");
    add_recipe_option(command, options.assignments);
    add_set_option(command, options.assignments);
    SourceSettings source;
    Settings settings;
    settings.bind("source", source);
    add_setting_options(command, settings, "source", "Source (each also as --set source.KEY=VALUE)",
                        options.assignments);
    return name;
}

SourceRequest source_request(const SourceOptions& options, const std::vector<std::string>& besides) {
    SourceRequest wanted;
    wanted.name = options.name;
    wanted.scan = options.scan;
    Settings settings;
    settings.bind("source", wanted.settings);
    for (const std::string& assignment : options.assignments) {
        if (assignment.starts_with("source."))
            settings.set_assignment(assignment);
        else if (!is_of(assignment, besides))
            wanted.assignments.push_back(assignment);
    }
    return wanted;
}

std::vector<std::string> assignments_of(const SourceOptions& options, const std::vector<std::string>& sections) {
    std::vector<std::string> found;
    for (const std::string& assignment : options.assignments) {
        if (is_of(assignment, sections)) found.push_back(assignment);
    }
    return found;
}

void go(const AcquisitionJob& job, const std::function<LiveReport(Progress&, const EventCallback&)>& run) {
    TerminalProgress progress;
    const LiveReport report = run(progress, [](const LiveEvent& event) {
        if (!output_options().is_silent()) print_progress(fmt::format("{:7.2f} s  {}\n", event.time_s, event.line));
    });
    if (!job.report.empty()) write_text(job.report, json_of(report) + "\n");
    print_json(nlohmann::ordered_json::parse(json_of(report)));
    print_closing(text_of(report));
    if (const std::optional<Error> problem = problem_of(report)) throw Error(*problem);
}

void add_session_options(CLI::App& command, AcquisitionOptions& options, AcquisitionJob& job) {
    add_source_options(command, options.source)->required();
    command.add_option("--seconds", job.seconds, "end after this many seconds [0: when the source ends, or at Ctrl-C]")
        ->check(not_negative())
        ->type_name("S");
    command.add_option("--volumes", job.volumes, "end after this many volumes [0: no limit]")
        ->check(not_negative())
        ->type_name("N");
    command.add_option("--report", job.report, "write all statistics here as JSON")->type_name("FILE.json");
    add_overwrite_option(command, job.overwrites);
}

CLI::Option* add_stripe_option(CLI::App& command, AcquisitionJob& job) {
    return command
        .add_option("--stripe", job.stripes,
                    "folder on another disk: spectra are striped over the recording's folder and these")
        ->type_name("FOLDER");
}

VolumeOptions add_volume_options(CLI::App& command, AcquisitionJob& job) {
    CLI::Option* gpus = add_gpus_option(command, job.backend);
    return {command
                .add_option("--processed", job.processed,
                            "also write reconstructed volumes into this folder, which must not contain volumes yet")
                ->type_name("FOLDER"),
            add_backend_option(command, job.backend.backend), gpus};
}

// ---- the command ----------------------------------------------------------------------------------------------------

namespace {

struct RecordOptions : AcquisitionOptions {
    RecordJob job;
};

}  // namespace

void add_record(CLI::App& program) {
    auto options = std::make_shared<RecordOptions>();
    CLI::App* command = program.add_subcommand("record", "Record every block of a source as a scan");
    command->footer(examples_text({"echolux record --source sim --volumes 10 -o rec.toml"}));
    add_session_options(*command, *options, options->job);
    command
        ->add_option("-o,--output", options->job.record, "recording to write; spectra and index are written beside it")
        ->required()
        ->type_name("scan.toml");
    add_stripe_option(*command, options->job);
    const VolumeOptions volumes = add_volume_options(*command, options->job);
    volumes.backend->needs(volumes.processed);  // without --processed nothing is reconstructed
    volumes.gpus->needs(volumes.processed);
    command->callback([options] {
        options->job.source = source_request(options->source, {"view."});
        go(options->job,
           [&](Progress& progress, const EventCallback& on_event) { return run(options->job, progress, on_event); });
    });
}

}  // namespace echolux
