// `echolux record --source ... -o scan.toml`: records every block of a source.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/live/record_job.h"
#include "ui/cli/commands.h"
#include "ui/cli/session_options.h"

namespace echolux {
namespace {

struct RecordOptions : SessionOptions {
    RecordJob job;
};

}  // namespace

void add_record(CLI::App& program) {
    auto options = std::make_shared<RecordOptions>();
    CLI::App* command = program.add_subcommand("record", "Record every block of a source as a scan");
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
        options->job.source = source_wanted(options->source, {"view."});
        go(options->job,
           [&](Progress& progress, const HearEvent& heard) { return run(options->job, progress, heard); });
    });
}

}  // namespace echolux
