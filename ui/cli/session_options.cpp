#include "ui/cli/session_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "engine/io/atomic_file.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {

void go(const SessionJob& job, const std::function<LiveReport(Progress&, const HearEvent&)>& run) {
    TerminalProgress progress;
    const LiveReport report = run(progress, [](const SessionEvent& event) {
        if (!telling().is_silent()) print_progress(fmt::format("{:7.2f} s  {}\n", event.time_s, event.line));
    });
    if (!job.report.empty()) write_text(job.report, json_of(report) + "\n");
    give(nlohmann::ordered_json::parse(json_of(report)));
    print_closing(text_of(report));
    if (const std::optional<Error> problem = problem_of(report)) throw Error(*problem);
}

void add_session_options(CLI::App& command, SessionOptions& options, SessionJob& job) {
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

CLI::Option* add_stripe_option(CLI::App& command, SessionJob& job) {
    return command
        .add_option("--stripe", job.stripes,
                    "folder on another disk: spectra go in stripes beside the recording and into these, all at once")
        ->type_name("FOLDER");
}

VolumeOptions add_volume_options(CLI::App& command, SessionJob& job) {
    CLI::Option* gpus = add_gpus_option(command, job.backend);
    return {command
                .add_option("--processed", job.processed,
                            "also write reconstructed volumes into this folder, which must not contain volumes yet")
                ->type_name("FOLDER"),
            add_backend_option(command, job.backend.backend), gpus};
}

}  // namespace echolux
