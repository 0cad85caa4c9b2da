// Versions and parts of the library, and the GPUs of the machine.
#include <algorithm>
#include <string_view>

#include "compute/backend.h"
#include "compute/gpu_backend.h"
#include "echolux/echolux.h"
#include "engine/build.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

uint32_t echolux_interface_version(void) {
    return ECHOLUX_INTERFACE_VERSION;
}

const char* echolux_version(void) {
    return version;
}

// An unknown name is 0, so that callers can ask an older library for a newer part.
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
        if (index >= survey.usable.size()) throw BadArgument("is beyond the last usable GPU", "index", survey.refusal);
        const Gpu& one = survey.usable[index];
        echolux_gpu facts{};
        std::ranges::copy(one.id, facts.id);
        put_text(one.name, facts.name);
        facts.memory_bytes = one.memory_bytes;
        copy_out(gpu, facts, "gpu");
    });
}
