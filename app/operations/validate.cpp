// Operation `validate`: compares every method with formulas and published figures, and with recordings of mirrors.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/operations/operation.h"
#include "compute/plural.h"
#include "engine/validation/validation.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

// First lines of markdown_of().
constexpr const char* page_heading = "# Validation\n\nWritten by the ";

Json json_of(const Check& check) {
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    return {{"what", check.what},
            {"unit", check.unit},
            {"found", number(check.found)},
            {"expected", check.expected ? number(*check.expected) : Json(nullptr)},
            {"passed", check.passed()}};
}

std::shared_ptr<const Json> axial_cells(const AxialTable& axial) {
    Json cells = Json::array();
    for (const AxialTable::Row& row : axial.rows) {
        for (std::size_t i = 0; i < row.cells.size(); ++i) {
            cells.push_back({{"method", row.method},
                             {"mirror", axial.mirrors.at(i)},
                             {"fwhm_bins", row.cells[i].fwhm_bins},
                             {"side_lobe_db", row.cells[i].side_lobe_db}});
        }
    }
    return std::make_shared<const Json>(std::move(cells));
}

std::shared_ptr<const Json> all_tables(const std::vector<CheckTable>& tables) {
    Json all = Json::array();
    for (const CheckTable& table : tables) {
        Json checks = Json::array();
        for (const Check& check : table.checks) checks.push_back(json_of(check));
        all.push_back({{"title", table.title}, {"checks", checks}});
    }
    return std::make_shared<const Json>(std::move(all));
}

std::shared_ptr<const Json> real_rows(const RealSection& section) {
    Json rows = Json::array();
    for (const RealSection::Row& row : section.rows) {
        const BoundaryErrors& errors = row.errors;
        rows.push_back({{"kind", row.kind},
                        {"boundary", row.boundary},
                        {"count", row.count},
                        {"within_3", errors.within_3},
                        {"within_5", errors.within_5},
                        {"mean_rows", std::isfinite(errors.mean_rows) ? Json(errors.mean_rows) : Json(nullptr)},
                        {"ok", errors.ok},
                        {"false_ok", errors.false_ok}});
    }
    return std::make_shared<const Json>(std::move(rows));
}

std::shared_ptr<const Json> reliability_rows(const RealSection& section) {
    Json rows = Json::array();
    for (const RealSection::Reliability& one : section.reliability) {
        rows.push_back(
            {{"preset", one.preset}, {"confidence", one.edges}, {"places", one.places}, {"wrong", one.wrong}});
    }
    return std::make_shared<const Json>(std::move(rows));
}

struct Validate {
    VolumeInput mirrors;
    bool quick = false;
    std::string recordings;
    OperationOutput output;

    ValidationReport report;

    static void describe(OperationParts<Validate>& parts);

    // Returns the named folder, or that of the environment; empty without recordings.
    std::filesystem::path folder_of_recordings() const {
        const char* variable = std::getenv("ECHOLUX_DATA");
        const std::filesystem::path folder = !recordings.empty() ? recordings : variable != nullptr ? variable : "";
        std::error_code problem;
        if (!folder.empty() && std::filesystem::is_directory(folder / "real", problem)) return folder;
        if (recordings.empty()) return {};
        throw Error(ErrorCode::bad_setting, "holds no folder `real` with recordings", recordings,
                    "name the folder above it");
    }

    void run(Context& context) {
        if (!mirrors.is_given() && !mirrors.settings.empty()) {
            throw Error(ErrorCode::bad_setting, "has no effect without a scan in `mirrors`", mirrors.settings.front(),
                        "name the scan of a mirror, or leave it out");
        }
        ValidationJob job;
        job.backend = context.backend.backend;
        job.quick = quick;
        job.mirrors.assign(mirrors.names.begin(), mirrors.names.end());
        job.settings = mirrors.settings;
        job.recordings = folder_of_recordings();
        report = echolux::run(job, context.progress);
        if (report.real.is_empty()) context.say("real recordings: skipped, no folder with `real` is named");
        context.write(output, markdown_of(report));
        const std::vector<const Check*> failed = report.failures();
        if (!output.file.empty()) context.say(fmt::format("{} failed", plural(failed.size(), "checks")));
        if (failed.empty()) return;
        context.failure.emplace(
            ErrorCode::bad_setting,
            fmt::format("{} failed, the first: {}", plural(failed.size(), "checks"), failed.front()->what),
            output.file.empty() ? "validate" : output.file.string(), "see the rows marked FAILED");
    }
};

void Validate::describe(OperationParts<Validate>& parts) {
    parts.info.summary = "Check every method against formulas, published figures and recorded mirrors";
    parts.info.examples = {"quick=true", "output=validation.md"};
    parts.info.details =
        "docs/validation.md is the page of a complete run. Layers and filters are also compared with real recordings. "
        "Angiography, velocities, flow, registration, attenuation, volumes of layers, and the presets anterior, "
        "coating and skin (dermis) are validated on simulated or painted scenes only.";
    parts.info.may_write_nothing = true;
    parts
        .input({.name = "mirrors",
                .help = "also check these scans of one mirror each, with k map and background",
                .is_required = false,
                .takes_many = true,
                .is_file = true},
               &Validate::mirrors)
        .argument(text("recordings", &Validate::recordings, Effect::file,
                       "also search the boundaries of the recordings in its folder `real` [the folder that "
                       "ECHOLUX_DATA names]")
                      .folder()
                      .written_as("FOLDER"))
        .argument(flag("quick", &Validate::quick, Effect::file, "use fewer depths, kernels and scenes"))
        .output({.name = "output",
                 .kind = OutputKind::file,
                 .help = "write the report here instead of printing it",
                 .placeholder = "FILE.md",
                 .is_own = [](const std::filesystem::path& path) { return begins_with(path, page_heading); },
                 .endings = {".md"},
                 .is_printed = true,
                 .streamed = [](const Settings&) { return std::string(".md"); }},
                &Validate::output)
        .uses_backend("reconstructs")
        .result("backend", "", "devices that reconstructed", [](const Validate& one) { return one.report.backend; })
        .result("quick", "", "whether fewer checks ran", [](const Validate& one) { return one.report.quick; })
        .result("failed", "", "number of failed checks",
                [](const Validate& one) { return std::ssize(one.report.failures()); })
        .result("axial", "", "width and side lobes of each method and mirror",
                [](const Validate& one) { return axial_cells(one.report.axial); })
        .result("tables", "", "all checks by topic", [](const Validate& one) { return all_tables(one.report.tables); })
        .result("real", "", "errors of boundaries in real recordings, by kind",
                [](const Validate& one) { return real_rows(one.report.real); })
        .result("reliability", "", "places in real recordings and wrong ones by confidence, per preset",
                [](const Validate& one) { return reliability_rows(one.report.real); })
        .result("real_tables", "", "checks on real recordings",
                [](const Validate& one) { return all_tables(one.report.real.tables); });
}

}  // namespace

ECHOLUX_OPERATION(validate, Validate)

}  // namespace echolux
