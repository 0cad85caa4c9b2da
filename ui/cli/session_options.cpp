#include "ui/cli/session_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "engine/io/atomic_file.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
void go(const SessionOptions& options, const std::function<LiveReport(Progress&, const HearEvent&)>& run) {
    if (!options.report.empty()) check_can_be_written(options.report);
    TerminalProgress progress;
    const LiveReport report = run(
        progress, [](const SessionEvent& event) { fmt::print(stderr, "{:7.2f} s  {}\n", event.time_s, event.line); });
    if (!options.report.empty()) write_text(options.report, json_of(report) + "\n");
    fmt::print("{}", text_of(report));
}

void add_session_options(CLI::App& command, SessionOptions& options, SessionJob& job) {
    add_source_options(command, options.source)->required();
    command.add_option("--seconds", job.seconds, "end after this many seconds [0: when the source ends, or at Ctrl-C]")
        ->check(not_negative())
        ->type_name("S");
    command.add_option("--volumes", job.volumes, "end after this many volumes [0: no limit]")
        ->check(not_negative())
        ->type_name("N");
    command.add_option("--report", options.report, "write all statistics here as JSON")->type_name("FILE.json");
}

void add_volume_options(CLI::App& command, SessionJob& job, std::string& device, bool needs_processed) {
    CLI::Option* backend = add_backend_option(command, job.backend.backend);
    CLI::Option* named =
        command.add_option("--device", device, "part of the Vulkan device's name [the GPU's own]")->type_name("NAME");
    CLI::Option* processed =
        command.add_option("--processed", job.processed, "also write reconstructed volumes into this folder")
            ->type_name("FOLDER");
    for (CLI::Option* option : {backend, named}) {
        if (needs_processed) option->needs(processed);
    }
}

}  // namespace echolux
