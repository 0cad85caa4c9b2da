// `echolux live --source ...`: acquires, reconstructs and renders without a window until the source ends.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/jobs/render_job.h"
#include "app/live/live_job.h"
#include "engine/scan/settings.h"
#include "ui/cli/command_record.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"
#ifdef ECHOLUX_NET
#include "ui/cli/command_view.h"
#include "ui/control/live_control.h"
#endif

namespace echolux {
namespace {

struct LiveOptions : AcquisitionOptions {
    LiveJob job;
    std::string size, view_file, picture, shifts, kept;
    bool rolling = false;
#ifdef ECHOLUX_NET
    IgtlOptions igtl;
#endif
};

// Sections that do not configure the scan of the source.
const std::vector<std::string> of_pictures{"view.", "filter.", "registration."};

// Distributes `--set SECTION.KEY=VALUE` by section:
//   view.                    picture
//   filter., registration.   processing of volumes before rendering
//   source.                  the source
//   others                   the scan that the source delivers
LiveJob job_from(const LiveOptions& options) {
    LiveJob job = options.job;
    job.source = source_request(options.source, of_pictures);
    Settings settings;
    settings.bind("view", job.view);
    bind(settings, job.tissue);
    if (!options.view_file.empty()) settings.read_toml(options.view_file);
    for (const std::string& assignment : assignments_of(options.source, of_pictures))
        settings.set_assignment(assignment);
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        settings.set("view.width", std::to_string(width), "--size");
        settings.set("view.height", std::to_string(height), "--size");
    }
    job.may_be_smaller = options.size.empty() && has_default_size(job.view, options.source.assignments);
    job.made_from = {options.view_file};
    job.picture = output_named(options.picture, ".png");
    job.kept = options.kept;
    job.shifts = output_named(options.shifts, ".csv");
    check_tissue(live_tissue(job.tissue));
    job.publishing = options.rolling ? Publishing::rolling : Publishing::whole;
#ifdef ECHOLUX_NET
    job.link = link_of(options.igtl);
    job.answer_program = [may_steer = options.igtl.may_steer](LiveSteering& session, const igtl::Request& request) {
        return live_answer(session, request, may_steer);
    };
#endif
    return job;
}

void add_picture_options(CLI::App& command, LiveOptions& options) {
    command.add_flag("--rolling", options.rolling, "show volumes while they arrive, not only whole ones");
    command.add_option("--pictures-per-s", options.job.pictures_per_s, "maximum picture rate [60]")
        ->check(between(0.01, 1000))
        ->type_name("N");
    command.add_option("--size", options.size, "size of the pictures [1024x1024; 400x400 on software Vulkan]")
        ->type_name("WxH");
}

}  // namespace

void add_live(CLI::App& program) {
    auto options = std::make_shared<LiveOptions>();
    CLI::App* command = program.add_subcommand("live", "Acquire, reconstruct and draw for as long as spectra arrive");
    command->footer(examples_text({"echolux live --source sim --seconds 10 -o last.png",
                                   "echolux live --source replay:rec.toml --size 800x600"}));
    add_session_options(*command, *options, options->job);
    add_volume_options(*command, options->job);
    command->add_option("--device", options->job.device.name, "part of the Vulkan device's name [the GPU's own]")
        ->type_name("NAME");
    add_picture_options(*command, *options);
    command->add_flag_function(
        "--headless", [](std::int64_t) {},
        "no effect, kept for compatibility: `live` never opens a window (`echolux view --source ...` does)");
    command->add_option("-o,--output", options->picture, "write the last picture here")->type_name("PICTURE.png");
    CLI::Option* record =
        command
            ->add_option("--record", options->job.record, "also record every block; the spectra are written beside it")
            ->type_name("scan.toml");
    add_stripe_option(*command, options->job)->needs(record);
    command
        ->add_option("--kept", options->kept,
                     "at the end, write the last volumes here as one series, with `--set source.keep_gb=N`")
        ->type_name("SERIES.nrrd");
    command
        ->add_option("--shifts", options->shifts,
                     "write the measured position of each B-scan here, with `--set registration.shown=true`")
        ->type_name("TABLE.csv");
    command
        ->add_option("--view", options->view_file,
                     "a file with sections [view], [filter] and [registration]; options override it")
        ->type_name("FILE.toml");
#ifdef ECHOLUX_NET
    add_igtl_options(*command, options->igtl);
#endif
    View view;
    Settings settings;
    settings.bind("view", view);
    add_setting_options(*command, settings, "view", "View (each also as --set view.KEY=VALUE)",
                        options->source.assignments, {"width", "height"});
    command->callback([options] {
        const LiveJob job = job_from(*options);
        go(job, [&](Progress& progress, const EventCallback& on_event) { return run(job, progress, on_event); });
    });
}

}  // namespace echolux
