#include "engine/validation/validation.h"

#include "engine/validation/topics.h"

namespace echolux {
namespace {

void append(std::vector<CheckTable>& tables, std::vector<CheckTable> more) {
    for (CheckTable& table : more) tables.push_back(std::move(table));
}

}  // namespace

ValidationReport run(const ValidationJob& job, Progress& progress) {
    constexpr std::int64_t topics = 9;
    ValidationRun validation(job.backend, job.quick, progress);
    ValidationReport report;
    report.quick = job.quick;
    progress.begin("validating", topics + (job.mirrors.empty() ? 0 : 1), "topics");
    const auto add = [&](std::vector<CheckTable> tables) {
        append(report.tables, std::move(tables));
        progress.advance(1);
    };
    add({validated_axial_response(validation, report.axial)});
    if (!job.mirrors.empty()) add(validated_mirrors(validation, job.mirrors, job.settings, report.axial));
    add(validated_resampling(validation));
    add({validated_nufft(validation)});
    add(validated_full_range(validation));
    add({validated_sensing(validation)});
    add({validated_velocities(validation)});
    add({validated_angiograms(validation)});
    add({validated_surfaces(validation)});
    add({validated_filters(validation)});
    progress.end();
    report.backend = validation.backends();
    return report;
}

}  // namespace echolux
