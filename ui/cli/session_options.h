// Options and output shared by `echolux live` and `echolux record`.
#pragma once

#include <string>

#include "app/live/session_run.h"
#include "ui/cli/source_options.h"

namespace echolux {

struct SessionOptions {
    SourceOptions source;
};

// Adds --source (required) and its settings, --seconds, --volumes, --report and --overwrite.
void add_session_options(CLI::App& command, SessionOptions& options, SessionJob& job);

// Adds `--stripe FOLDER`: spectra of a recording are distributed over several disks.
CLI::Option* add_stripe_option(CLI::App& command, SessionJob& job);

// Options for reconstructed volumes, returned so that commands can declare dependencies between them.
struct VolumeOptions {
    CLI::Option* processed;
    CLI::Option* backend;
    CLI::Option* gpus;
};
// Adds --processed, --backend and --gpus.
VolumeOptions add_volume_options(CLI::App& command, SessionJob& job);

// Runs a session. Prints events as they occur and the report at the end. Throws the error of problem_of(report).
void go(const SessionJob& job, const std::function<LiveReport(Progress&, const HearEvent&)>& run);

}  // namespace echolux
