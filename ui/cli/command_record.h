// Options that `echolux record` shares with other commands: live sources (--source, --scan, --set and every setting of
// a source; live, view, serve) and sessions (live).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/live/session_run.h"
#include "engine/acquire/source.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace echolux {

struct SourceOptions {
    std::string name, scan;
    std::vector<std::string> assignments;  // assignments from --set and the source's options, as "section.key=value"
};

// Adds the options. Returns --source, so that a command can require it.
CLI::Option* add_source_options(CLI::App& command, SourceOptions& options);

// Builds the description of a source. `source.*` assignments configure the source, those of the sections `besides`
// ("view.") are ignored, and all others configure its scan. Throws Error{bad_setting}.
SourceRequest source_request(const SourceOptions& options, const std::vector<std::string>& besides);

// Returns the assignments of these sections in their original order.
std::vector<std::string> assignments_of(const SourceOptions& options, const std::vector<std::string>& sections);

struct AcquisitionOptions {
    SourceOptions source;
};

// Adds --source (required) and its settings, --seconds, --volumes, --report and --overwrite.
void add_session_options(CLI::App& command, AcquisitionOptions& options, AcquisitionJob& job);

// Adds `--stripe FOLDER`: spectra of a recording are distributed over several disks.
CLI::Option* add_stripe_option(CLI::App& command, AcquisitionJob& job);

// Options for reconstructed volumes, returned so that commands can declare dependencies between them.
struct VolumeOptions {
    CLI::Option* processed;
    CLI::Option* backend;
    CLI::Option* gpus;
};
// Adds --processed, --backend and --gpus.
VolumeOptions add_volume_options(CLI::App& command, AcquisitionJob& job);

// Runs a session. Prints events as they occur and the report at the end. Throws the error of problem_of(report).
void go(const AcquisitionJob& job, const std::function<LiveReport(Progress&, const EventCallback&)>& run);

}  // namespace echolux
