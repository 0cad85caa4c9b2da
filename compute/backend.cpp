#include "compute/backend.h"

#include <fmt/format.h>

#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/entry.h"
#endif

namespace echolux {
namespace {

#ifdef ECHOLUX_CUDA
GpuSurvey look() {
    return cuda::survey();
}
std::unique_ptr<Reconstructor> plan_on_gpu(const ReconstructionPlan& plan, const BackendChoice& choice) {
    return cuda::plan_on_gpu(plan, choice);
}
#else
GpuSurvey look() {
    return {{}, "this build has no CUDA backend"};
}
std::unique_ptr<Reconstructor> plan_on_gpu(const ReconstructionPlan&, const BackendChoice&) {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");  // no GPU is ever found
}
#endif

}  // namespace

const GpuSurvey& surveyed_gpus() {
    static const GpuSurvey survey = look();
    return survey;
}

std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionPlan& plan, const BackendChoice& choice) {
    if (choice.backend == Backend::cpu) return plan_on_cpu(plan);
    const GpuSurvey& survey = surveyed_gpus();
    if (choice.backend == Backend::cuda) {
        if (survey.usable.empty()) {
            throw Error(ErrorCode::device, survey.refusal, "--backend", "choose auto or cpu");
        }
        return plan_on_gpu(plan, choice);
    }
    if (survey.usable.empty()) return plan_on_cpu(plan);
    try {
        return plan_on_gpu(plan, choice);
    } catch (const Error& problem) {
        if (problem.code() != ErrorCode::device && problem.code() != ErrorCode::out_of_memory) throw;
        return plan_on_cpu(plan);
    }
}

}  // namespace echolux
