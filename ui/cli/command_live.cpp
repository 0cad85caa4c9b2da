// `echolux live --source …` and `echolux record --source … -o scan.toml`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/live/live_job.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/source_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    LiveJob job;
    SourceOptions source;
    std::string size, report, view_file;
    bool rolling = false, headless = false;
    std::vector<std::string> view;
};

// `--set view.…` shapes the picture, `--set source.…` the source, every other setting what comes from it.
LiveJob job_from(const Options& options) {
    LiveJob job = options.job;
    job.source = source_wanted(options.source, {"view."});
    Settings settings;
    settings.bind("view", job.view);
    if (!options.view_file.empty()) settings.read_toml(options.view_file);
    for (const std::string& assignment : assignments_of(options.source, {"view."})) settings.set_assignment(assignment);
    for (const std::string& assignment : options.view) settings.set_assignment(assignment);
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        settings.set("view.width", std::to_string(width), "--size");
        settings.set("view.height", std::to_string(height), "--size");
    }
    job.publishing = options.rolling ? Publishing::rolling : Publishing::whole;
    return job;
}

void go(const Options& options) {
    const LiveJob job = job_from(options);
    if (!options.report.empty()) check_can_be_written(options.report);
    TerminalProgress progress;
    const LiveReport report = run(job, progress, [](const SessionEvent& event) {
        fmt::print(stderr, "{:7.2f} s  {}\n", event.time_s, event.line);
    });
    if (!options.report.empty()) write_text(options.report, json_of(report) + "\n");
    fmt::print("{}", text_of(report));
}

void add_session_options(CLI::App& command, Options& options) {
    add_source_options(command, options.source)->required();
    command.add_option("--seconds", options.job.seconds, "ends after so many [0: when the source does, or at Ctrl-C]")
        ->check(CLI::NonNegativeNumber.description(""))
        ->type_name("S");
    command.add_option("--volumes", options.job.volumes, "ends after so many [0: as many as come]")
        ->check(CLI::NonNegativeNumber.description(""))
        ->type_name("N");
    command.add_option("--report", options.report, "writes all figures here, for programs")->type_name("FILE.json");
}

// Who makes volumes, and where they go. `needs_processed`: without that nobody would.
void add_volume_options(CLI::App& command, Options& options, bool needs_processed) {
    CLI::Option* backend = add_backend_option(command, options.job.backend.backend);
    CLI::Option* device =
        command.add_option("--device", options.job.device.name, "part of the Vulkan device's name [the GPU's own]")
            ->type_name("NAME");
    CLI::Option* processed =
        command.add_option("--processed", options.job.processed, "also writes volumes into this folder")
            ->type_name("FOLDER");
    for (CLI::Option* option : {backend, device}) {
        if (needs_processed) option->needs(processed);
    }
}

void add_picture_options(CLI::App& command, Options& options) {
    command.add_flag("--rolling", options.rolling, "show each part of a volume as it comes, not whole volumes only");
    command.add_option("--pictures-per-s", options.job.pictures_per_s, "drawn at most [60]")
        ->check(CLI::Range(0.01, 1000.0).description(""))
        ->type_name("N");
    command.add_option("--size", options.size, "of the pictures [1024x1024]")->type_name("WxH");
}

}  // namespace

void add_live(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("live", "Acquire, reconstruct and draw, as long as spectra come");
    add_session_options(*command, *options);
    add_volume_options(*command, *options, false);
    add_picture_options(*command, *options);
    command->add_flag("--headless", options->headless, "without a window");
    command->add_option("-o,--output", options->job.picture, "writes the last picture")->type_name("PICTURE.png");
    command->add_option("--record", options->job.record, "also records every block; the spectra go beside it")
        ->type_name("scan.toml");
    command->add_flag("--overwrite", options->job.overwrites, "in place of an earlier recording");
    command->add_option("--view", options->view_file, "a file with a section [view]; options given besides go first")
        ->type_name("FILE.toml");
    View view;
    Settings settings;
    settings.bind("view", view);
    add_setting_options(*command, settings, "view", "View (each also as --set view.KEY=VALUE)", options->view,
                        {"width", "height"});
    command->callback([options] {
        if (!options->headless) {
            throw Error(ErrorCode::bad_setting, "draws without a window only", "live",
                        "give --headless, or use `echolux view --source ...` for a window");
        }
        go(*options);
    });
}

void add_record(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand("record", "Record every block of a source as a scan");
    add_session_options(*command, *options);
    command->add_option("-o,--output", options->job.record, "the recording; spectra and index go beside it")
        ->required()
        ->type_name("scan.toml");
    command->add_flag("--overwrite", options->job.overwrites, "in place of an earlier recording");
    add_volume_options(*command, *options, true);
    command->callback([options] {
        options->job.displays = !options->job.processed.empty();
        options->job.view.width = options->job.view.height = 16;  // volumes come with pictures, which nobody sees
        go(*options);
    });
}

}  // namespace echolux
