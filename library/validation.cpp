// Validates reconstructions of this build against formulas and publications; versions and parts of the library.
#include <limits>
#include <string_view>

#include "compute/backend.h"
#include "compute/gpu_backend.h"
#include "echolux/echolux.h"
#include "engine/build.h"
#include "engine/validation/validation.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

// ---- Validation

// Checks of all tables in one list, so that the interface can address them by index.
struct echolux_validation : Handle<Kind::validation> {
    struct CheckMatch {
        const CheckTable* table;
        const Check* check;
    };

    explicit echolux_validation(ValidationReport made) : report(std::move(made)) {
        for (const CheckTable& table : report.tables) {
            for (const Check& check : table.checks) checks.push_back({&table, &check});
        }
    }

    const ValidationReport report;
    std::vector<CheckMatch> checks;  // points into `report`
};

echolux_status echolux_validate(const echolux_device* device, int32_t quick, echolux_progress progress, void* user,
                                echolux_validation** validation, echolux_error* error) {
    return guarded(error, [&] {
        required(validation, "validation") = nullptr;
        ValidationJob job;
        job.backend = backend_of(device).backend;
        job.quick = quick != 0;
        CallerProgress progress_shown(progress, user);
        *validation = new echolux_validation(run(job, progress_shown));
    });
}

echolux_status echolux_validation_free(echolux_validation* validation) {
    return free_handle(validation);
}

echolux_status echolux_validation_count(const echolux_validation* validation, size_t* count, echolux_error* error) {
    return guarded(error, [&] { required(count, "count") = checked_handle(validation, "validation").checks.size(); });
}

echolux_status echolux_validation_describe(const echolux_validation* validation, size_t index, echolux_check* check,
                                           echolux_error* error) {
    return guarded(error, [&] {
        const auto& all = checked_handle(validation, "validation").checks;
        if (index >= all.size()) throw BadArgument("there are fewer checks", "index");
        const Check& one = *all[index].check;
        echolux_check facts{};
        facts.topic = all[index].table->title.c_str();
        facts.what = one.what.c_str();
        facts.unit = one.unit.c_str();
        facts.found = one.found;
        facts.expected = one.expected.value_or(std::numeric_limits<double>::quiet_NaN());
        facts.limit = one.limit;
        facts.bound = static_cast<std::int32_t>(one.bound);  // same order as ECHOLUX_NEAR ...
        facts.passed = one.passed() ? 1 : 0;
        copy_out(check, facts, "check");
    });
}

echolux_status echolux_validation_report(const echolux_validation* validation, char* buffer, size_t size,
                                         size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        copy_text_out(markdown_of(checked_handle(validation, "validation").report), buffer, size, needed);
    });
}

// ---- Versions and parts of the library.

uint32_t echolux_interface_version(void) {
    return ECHOLUX_INTERFACE_VERSION;
}

const char* echolux_version(void) {
    return version;
}

int echolux_has(const char* part) {
    const std::string_view wanted = part == nullptr ? "" : part;
    if (wanted == "cuda" && gpu_backend() != nullptr) return 1;
#ifdef ECHOLUX_RENDER
    if (wanted == "render") return 1;
#endif
    return 0;
}

echolux_status echolux_gpu_count(size_t* count, char* refusal, size_t size, echolux_error* error) {
    return guarded(error, [&] {
        const GpuSurvey& survey = surveyed_gpus();
        required(count, "count") = survey.usable.size();
        copy_text_out(survey.refusal, refusal, size, nullptr);
    });
}

echolux_status echolux_gpu_describe(size_t index, echolux_gpu* gpu, echolux_error* error) {
    return guarded(error, [&] {
        const GpuSurvey& survey = surveyed_gpus();
        if (index >= survey.usable.size()) throw BadArgument("there are fewer GPUs", "index", survey.refusal);
        const Gpu& one = survey.usable[index];
        echolux_gpu facts{};
        std::ranges::copy(one.id, facts.id);
        put_text(one.name, facts.name);
        facts.memory_bytes = one.memory_bytes;
        copy_out(gpu, facts, "gpu");
    });
}
