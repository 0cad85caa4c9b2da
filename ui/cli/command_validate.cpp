// `echolux validate [-o FILE.md] [--mirrors SCAN...]`: every method against what formulas and publications say of it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/validation/validation.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

struct Options {
    ValidationJob job;
    std::string output;
};

void validate(const Options& options) {
    if (!options.output.empty()) check_can_be_written(options.output);
    TerminalProgress progress;
    const ValidationReport report = run(options.job, progress);
    const std::string page = markdown_of(report);
    if (options.output.empty()) {
        fmt::print("{}", page);
    } else {
        write_text(options.output, page);
    }
    const std::vector<const Check*> failed = report.failures();
    if (!options.output.empty()) fmt::print("{}: {} failed\n", options.output, counted(failed.size(), "checks"));
    if (failed.empty()) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} check{} failed, the first: {}", failed.size(), failed.size() == 1 ? "" : "s",
                            failed.front()->what),
                options.output.empty() ? "validate" : options.output, "see the rows marked FAILED");
}

}  // namespace

void add_validate(CLI::App& program) {
    auto options = std::make_shared<Options>();
    CLI::App* command = program.add_subcommand(
        "validate", "Check every method against formulas, published figures and recorded mirrors");
    command->add_option("-o,--output", options->output, "write the report here instead of printing it")
        ->type_name("FILE.md");
    CLI::Option* mirrors = command
                               ->add_option("--mirrors", options->job.mirrors,
                                            "also check these scans of one mirror each, with k map and background")
                               ->type_name("SCAN");
    command->add_flag("--quick", options->job.quick, "use fewer depths, kernels and scenes");
    add_backend_option(*command, options->job.backend);
    add_set_option(*command, options->job.settings)->needs(mirrors);
    command->callback([options] { validate(*options); });
}

}  // namespace echolux
