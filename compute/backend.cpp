#include "compute/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "compute/several_devices.h"
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

std::unique_ptr<Reconstructor> plan_on_gpus(const ReconstructionPlan& plan, const BackendChoice& choice) {
    std::vector<std::unique_ptr<Reconstructor>> devices;
    BackendChoice one = choice;
    for (const DeviceId& id : chosen_gpus(choice, surveyed_gpus())) {
        one.gpu = id;
        devices.push_back(plan_on_gpu(plan, one));
    }
    return over_devices(plan, std::move(devices));
}

}  // namespace

const GpuSurvey& surveyed_gpus() {
    static const GpuSurvey survey = look();
    return survey;
}

std::vector<DeviceId> chosen_gpus(const BackendChoice& choice, const GpuSurvey& survey) {
    std::vector<DeviceId> ids;
    if (choice.gpu != DeviceId{}) ids.push_back(choice.gpu);
    for (const Gpu& gpu : survey.usable) {
        if (gpu.id != choice.gpu) ids.push_back(gpu.id);
    }
    const std::size_t wanted =
        choice.gpus == 0 ? std::max<std::size_t>(1, ids.size()) : static_cast<std::size_t>(choice.gpus);
    if (wanted > ids.size()) {
        throw Error(ErrorCode::device,
                    fmt::format("{} {} asked for, {} can be used{}{}", wanted, wanted == 1 ? "GPU" : "GPUs", ids.size(),
                                survey.refusal.empty() ? "" : ": ", survey.refusal),
                    "--gpus", ids.empty() ? "leave this out" : "choose fewer, or 0 for all");
    }
    ids.resize(wanted);
    return ids;
}

bool insists_on_gpu(const BackendChoice& choice) {
    return choice.backend == Backend::cuda || choice.gpus > 1;
}

void require_backend(const BackendChoice& choice) {
    if (choice.backend == Backend::cpu && choice.gpus != 1) {
        throw Error(ErrorCode::bad_setting, "the CPU is asked for, and GPUs besides", "--gpus",
                    "leave this out, or choose --backend auto or cuda");
    }
    if (!insists_on_gpu(choice)) return;
    const GpuSurvey& survey = surveyed_gpus();
    if (choice.gpus > 1) {
        chosen_gpus(choice, survey);
    } else if (survey.usable.empty()) {
        throw Error(ErrorCode::device, survey.refusal, "--backend", "choose auto or cpu");
    }
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
    require_backend(choice);
    if (choice.backend == Backend::cpu) return {plan_on_cpu(plan), {}};
    const GpuSurvey& survey = surveyed_gpus();
    const auto on_gpu = [&] { return plan_on_gpus(plan, choice); };
    if (insists_on_gpu(choice)) return {on_gpu(), survey.refusal};
    return gpu_or_cpu(plan, survey, on_gpu);
}

std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionPlan& plan, const BackendChoice& choice) {
    return choose_reconstructor(plan, choice).reconstructor;
}

}  // namespace echolux
