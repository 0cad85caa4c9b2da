// What `echolux live` and `echolux record` have in common on the command line.
#pragma once

#include <string>

#include "app/live/session_run.h"
#include "ui/cli/source_options.h"

namespace echolux {

struct SessionOptions {
    SourceOptions source;
    std::string report;
};

void add_session_options(CLI::App& command, SessionOptions& options, SessionJob& job);

// Who makes volumes, on which Vulkan device, and where they go. `needs_processed`: without that nobody would.
void add_volume_options(CLI::App& command, SessionJob& job, std::string& device, bool needs_processed);

// Events are told as they come, the report at the end.
void go(const SessionOptions& options, const std::function<LiveReport(Progress&, const HearEvent&)>& run);

}  // namespace echolux
