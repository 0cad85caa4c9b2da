// `echolux live --source …`
#include <CLI/CLI.hpp>
#include <memory>

#include "app/live/live_job.h"
#include "compute/error.h"
#include "engine/scan/settings.h"
#include "ui/cli/commands.h"
#include "ui/cli/parse_text.h"
#include "ui/cli/session_options.h"
#include "ui/cli/setting_options.h"

namespace echolux {
namespace {

struct Options : SessionOptions {
    LiveJob job;
    std::string size, view_file;
    bool rolling = false, headless = false;
};

// `--set view.…` shapes the picture, `--set source.…` the source, every other setting what comes from it.
LiveJob job_from(const Options& options) {
    LiveJob job = options.job;
    job.source = source_wanted(options.source, {"view."});
    Settings settings;
    settings.bind("view", job.view);
    if (!options.view_file.empty()) settings.read_toml(options.view_file);
    for (const std::string& assignment : assignments_of(options.source, {"view."})) settings.set_assignment(assignment);
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        settings.set("view.width", std::to_string(width), "--size");
        settings.set("view.height", std::to_string(height), "--size");
    }
    job.publishing = options.rolling ? Publishing::rolling : Publishing::whole;
    return job;
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
    add_session_options(*command, *options, options->job);
    add_volume_options(*command, options->job, options->job.device.name, false);
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
    add_setting_options(*command, settings, "view", "View (each also as --set view.KEY=VALUE)",
                        options->source.assignments, {"width", "height"});
    command->callback([options] {
        if (!options->headless) {
            throw Error(ErrorCode::bad_setting, "draws without a window only", "live",
                        "give --headless, or use `echolux view --source ...` for a window");
        }
        const LiveJob job = job_from(*options);
        go(*options, [&](Progress& progress, const HearEvent& heard) { return run(job, progress, heard); });
    });
}

}  // namespace echolux
