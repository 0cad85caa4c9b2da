// `echolux validate [-o FILE.md] [--mirrors SCAN...]`: compares every method with formulas and published figures. A
// failed check is an error of the command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/open/files_read.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/own_files.h"
#include "engine/validation/validation.h"
#include "ui/cli/commands.h"
#include "ui/cli/setting_options.h"
#include "ui/cli/standard_streams.h"
#include "ui/cli/telling.h"
#include "ui/cli/terminal_progress.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
    ValidationJob job;
    std::string output;
    bool overwrites = false;
};

// first lines of markdown_of()
constexpr const char* page_heading = "# Validation\n\nWritten by the validation of Echolux ";

Json json_of(const Check& check) {
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    return {{"what", check.what},
            {"unit", check.unit},
            {"found", number(check.found)},
            {"expected", check.expected ? number(*check.expected) : Json(nullptr)},
            {"passed", check.passed()}};
}

Json json_of(const ValidationReport& report) {
    Json json{{"backend", report.backend}, {"quick", report.quick}, {"failed", report.failures().size()}};
    json["axial"] = Json::array();
    for (const AxialTable::Row& row : report.axial.rows) {
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            json["axial"].push_back({{"method", row.method},
                                     {"mirror", report.axial.mirrors.at(i)},
                                     {"fwhm_bins", row.cells[i].fwhm_bins},
                                     {"side_lobe_db", row.cells[i].side_lobe_db}});
        }
    }
    json["tables"] = Json::array();
    for (const CheckTable& table : report.tables) {
        Json checks = Json::array();
        for (const Check& check : table.checks) checks.push_back(json_of(check));
        json["tables"].push_back({{"title", table.title}, {"checks", checks}});
    }
    return json;
}

void validate(const ValidateOptions& options) {
    const std::string output = output_named(options.output, ".md", false);
    // Recognizes an earlier report, which may be replaced without --overwrite.
    const auto is_own = [](const std::filesystem::path& path) { return begins_with(path, page_heading); };
    check_outputs({{output, is_own, {".md"}}}, files_of(options.job.mirrors), options.overwrites);
    if (!output.empty()) check_can_be_written(output);
    TerminalProgress progress;
    const ValidationReport report = run(options.job, progress);
    const std::string page = markdown_of(report);
    if (output.empty())
        print_answer(page);
    else
        write_text(output, page);
    give(json_of(report));
    const std::vector<const Check*> failed = report.failures();
    if (!output.empty()) close_with("{}: {} failed\n", output, counted(failed.size(), "checks"));
    if (failed.empty()) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} check{} failed, the first: {}", failed.size(), failed.size() == 1 ? "" : "s",
                            failed.front()->what),
                options.output.empty() ? "validate" : options.output, "see the rows marked FAILED");
}

}  // namespace

void add_validate(CLI::App& program) {
    auto options = std::make_shared<ValidateOptions>();
    CLI::App* command = program.add_subcommand(
        "validate", "Check every method against formulas, published figures and recorded mirrors");
    command->add_option("-o,--output", options->output, "write the report here instead of printing it")
        ->type_name("FILE.md");
    add_overwrite_option(*command, options->overwrites);
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
