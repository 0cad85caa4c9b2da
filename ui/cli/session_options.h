// What `echolux live` and `echolux record` have in common on the command line.
#pragma once

#include <string>

#include "app/live/session_run.h"
#include "ui/cli/source_options.h"

namespace echolux {

struct SessionOptions {
    SourceOptions source;
};

void add_session_options(CLI::App& command, SessionOptions& options, SessionJob& job);

// `--stripe FOLDER`, of a recording.
CLI::Option* add_stripe_option(CLI::App& command, SessionJob& job);

// Where processed volumes go, and who makes them.
struct VolumeOptions {
    CLI::Option* processed;
    CLI::Option* backend;
    CLI::Option* gpus;
};
VolumeOptions add_volume_options(CLI::App& command, SessionJob& job);

// Events are told as they come, the report at the end. Throws problem_of() it.
void go(const SessionJob& job, const std::function<LiveReport(Progress&, const HearEvent&)>& run);

}  // namespace echolux
