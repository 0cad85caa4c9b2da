#include "compute/backend.h"

#include "compute/error.h"
#include "compute/methods/nufft.h"
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

// The setting of the plan that no GPU follows; nullptr: there is none.
const char* key_without_gpu(const ReconstructionPlan& plan) {
    if (plan.recipe.method == Method::defr) return "recipe.method = defr";
    if (plan.recipe.method == Method::compressive) return "recipe.method = compressive";
    if (uses_nufft(plan)) return "recipe.resample = nufft";
    return nullptr;
}

}  // namespace

const GpuSurvey& surveyed_gpus() {
    static const GpuSurvey survey = look();
    return survey;
}

void require_backend(Backend backend) {
    if (backend != Backend::cuda || !surveyed_gpus().usable.empty()) return;
    throw Error(ErrorCode::device, surveyed_gpus().refusal, "--backend", "choose auto or cpu");
}

ChosenReconstructor gpu_or_cpu(const ReconstructionPlan& plan, const GpuSurvey& survey,
                               const std::function<std::unique_ptr<Reconstructor>()>& plan_on_gpu) {
    if (survey.usable.empty()) return {plan_on_cpu(plan), survey.refusal};
    std::string refusal;
    try {
        return {plan_on_gpu(), survey.refusal};
    } catch (const Error& problem) {
        if (problem.code() != ErrorCode::device && problem.code() != ErrorCode::out_of_memory) throw;
        refusal = problem.line();
    }
    return {plan_on_cpu(plan), refusal + ": the CPU reconstructs instead"};
}

ChosenReconstructor choose_reconstructor(const ReconstructionPlan& plan, const BackendChoice& choice) {
    if (choice.backend == Backend::cpu) return {plan_on_cpu(plan), {}};
    require_backend(choice.backend);
    if (const char* key = key_without_gpu(plan)) {
        const std::string refusal = std::string(key) + " works on the CPU only";
        if (choice.backend == Backend::automatic) return {plan_on_cpu(plan), refusal};
        throw Error(ErrorCode::bad_setting, refusal, key, "choose --backend auto or cpu");
    }
    const GpuSurvey& survey = surveyed_gpus();
    const auto on_gpu = [&] { return plan_on_gpu(plan, choice); };
    if (choice.backend == Backend::cuda) return {on_gpu(), survey.refusal};
    return gpu_or_cpu(plan, survey, on_gpu);
}

std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionPlan& plan, const BackendChoice& choice) {
    return choose_reconstructor(plan, choice).reconstructor;
}

}  // namespace echolux
