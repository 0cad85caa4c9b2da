#include "compute/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "compute/reconstructor.h"
#include "compute/several_devices.h"

namespace echolux {
namespace {

GpuSurvey look() {
    const GpuBackend* gpu = gpu_backend();
    return gpu != nullptr ? gpu->survey() : GpuSurvey{{}, no_gpu_backend};
}

// Plans on the chosen GPUs. `left_out` receives why some of them are not used.
std::unique_ptr<Reconstructor> plan_on_gpus(const ReconstructionSpec& spec, const BackendChoice& choice,
                                            std::string& left_out) {
    BackendChoice one = choice;
    std::vector<DeviceId> planned;
    const auto plan_on = [&](DeviceId id) {
        const bool counts_again = std::ranges::find(planned, id) != planned.end();
        one.gpu = id;
        one.peers = counts_again && choice.peers == PeerPath::automatic ? PeerPath::copied : choice.peers;
        planned.push_back(id);
        return required_gpu().plan(spec, one);
    };
    PlannedDevices found = planned_devices(chosen_gpus(choice, surveyed_gpus()), choice.gpus == 0, plan_on);
    left_out = std::move(found.left_out);
    return over_devices(spec, std::move(found.devices));
}

// Returns whether an error is caused by the device rather than by the spec.
bool is_of_the_device(const Error& problem) {
    return problem.code() == ErrorCode::device || problem.code() == ErrorCode::out_of_memory;
}

std::string joined(const std::string& a, const std::string& b) {
    return a + (a.empty() || b.empty() ? "" : "; ") + b;
}

}  // namespace

const GpuBackend& required_gpu() {
    if (const GpuBackend* gpu = gpu_backend()) return *gpu;
    throw Error(ErrorCode::device, no_gpu_backend, "cuda", "build with nvcc on the PATH");
}

const GpuSurvey& surveyed_gpus() {
    static const GpuSurvey survey = look();
    return survey;
}

static void require_usable(const DeviceId& gpu, const GpuSurvey& survey) {
    if (std::ranges::find(survey.usable, gpu, &Gpu::id) != survey.usable.end()) return;
    throw Error(ErrorCode::device, joined("the requested GPU cannot be used", survey.refusal), "cuda",
                "see nvidia-smi -L, or choose `backend` auto");
}

std::vector<DeviceId> chosen_gpus(const BackendChoice& choice, const GpuSurvey& survey) {
    for (const DeviceId& gpu : choice.named_gpus) require_usable(gpu, survey);
    if (!choice.named_gpus.empty()) return choice.named_gpus;
    std::vector<DeviceId> ids;
    if (choice.gpu != DeviceId{}) {
        require_usable(choice.gpu, survey);
        ids.push_back(choice.gpu);
    }
    for (const Gpu& gpu : survey.usable) {
        if (gpu.id != choice.gpu) ids.push_back(gpu.id);
    }
    const std::size_t wanted = choice.gpus == 0 ? std::max<std::size_t>(1, ids.size()) : index(choice.gpus);
    if (wanted > ids.size()) {
        throw Error(ErrorCode::device,
                    fmt::format("{} requested, {} can be used{}{}", plural(wanted, "GPUs"), ids.size(),
                                survey.refusal.empty() ? "" : ": ", survey.refusal),
                    "gpus", ids.empty() ? "leave it out" : "choose fewer, or 0 for all");
    }
    ids.resize(wanted);
    return ids;
}

PlannedDevices planned_devices(const std::vector<DeviceId>& ids, bool may_leave_out,
                               const std::function<std::unique_ptr<Reconstructor>(DeviceId)>& plan_on) {
    PlannedDevices found;
    std::exception_ptr first;
    for (const DeviceId& id : ids) {
        try {
            found.devices.push_back(plan_on(id));
        } catch (const Error& problem) {
            if (!may_leave_out || !is_of_the_device(problem)) throw;
            if (!first) first = std::current_exception();
            found.left_out = joined(
                found.left_out, fmt::format("GPU {} of {} is not used: {}",
                                            std::ranges::find(ids, id) - ids.begin() + 1, ids.size(), problem.line()));
        }
    }
    if (found.devices.empty() && first) std::rethrow_exception(first);
    return found;
}

bool insists_on_gpu(const BackendChoice& choice) {
    return choice.backend == Backend::cuda || choice.gpus > 1 || (choice.gpus == 1 && !choice.named_gpus.empty());
}

bool reaches(const DeviceId& from, const DeviceId& to) {
    const GpuBackend* gpu = gpu_backend();
    return from == to || (gpu != nullptr && gpu->has_access(from, to));
}

void require_backend(const BackendChoice& choice) {
    if (choice.backend == Backend::cpu && (choice.gpus != 1 || !choice.named_gpus.empty())) {
        throw Error(ErrorCode::bad_setting, "GPUs cannot be combined with the CPU backend", "gpus",
                    "leave it out, or choose `backend` auto or cuda");
    }
    if (!insists_on_gpu(choice)) return;
    const GpuSurvey& survey = surveyed_gpus();
    if (choice.gpus > 1 || !choice.named_gpus.empty()) {
        chosen_gpus(choice, survey);
    } else if (survey.usable.empty()) {
        throw Error(ErrorCode::device, survey.refusal, "backend", "choose auto or cpu");
    }
}

ChosenReconstructor gpu_or_cpu(const ReconstructionSpec& spec, const GpuSurvey& survey,
                               const std::function<std::unique_ptr<Reconstructor>()>& plan_on_gpu) {
    if (survey.usable.empty()) return {plan_on_cpu(spec), survey.refusal};
    std::string refusal;
    try {
        return {plan_on_gpu(), survey.refusal};
    } catch (const Error& problem) {
        if (!is_of_the_device(problem)) throw;
        refusal = problem.line();
    }
    return {plan_on_cpu(spec), refusal + ": reconstructing on the CPU instead"};
}

static ChosenReconstructor chosen_of(const ReconstructionSpec& spec, const BackendChoice& choice) {
    if (choice.stages && insists_on_gpu(choice)) {
        throw Error(ErrorCode::device, "custom stages need host memory and the CPU", "cuda",
                    "choose `backend` auto or cpu, or remove the stages");
    }
    require_backend(choice);
    if (choice.backend == Backend::cpu) return {plan_on_cpu(spec, choice.stages), {}};
    if (choice.stages) return {plan_on_cpu(spec, choice.stages), "custom stages need the CPU"};
    const GpuSurvey& survey = surveyed_gpus();
    std::string left_out;
    const auto on_gpu = [&] { return plan_on_gpus(spec, choice, left_out); };
    ChosenReconstructor chosen;
    if (insists_on_gpu(choice)) {
        chosen = {on_gpu(), survey.refusal};
    } else {
        chosen = gpu_or_cpu(spec, survey, on_gpu);
    }
    chosen.reason = joined(chosen.reason, left_out);
    return chosen;
}

ChosenReconstructor choose_reconstructor(const ReconstructionSpec& spec, const BackendChoice& choice) {
    ChosenReconstructor chosen = chosen_of(spec, choice);
    if (spec.recipe.precision == Precision::fast && chosen.reconstructor->precision() != Precision::fast) {
        chosen.reason = joined(
            chosen.reason, "recipe.precision = fast has no effect: this recipe is reconstructed in single precision");
    }
    return chosen;
}

std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionSpec& spec, const BackendChoice& choice) {
    return choose_reconstructor(spec, choice).reconstructor;
}

SelectedBackend on_gpu_or_cpu(const BackendChoice& choice, const std::function<void()>& on_gpu,
                              const std::function<void()>& on_cpu) {
    require_backend(choice);
    SelectedBackend used;
    if (insists_on_gpu(choice)) {
        on_gpu();
        return {Backend::cuda};
    }
    if (choice.backend == Backend::automatic && !surveyed_gpus().usable.empty()) {
        try {
            on_gpu();
            return {Backend::cuda};
        } catch (const Error& refusal) {
            if (refusal.code() != ErrorCode::device && refusal.code() != ErrorCode::out_of_memory) throw;
            used.refusal = refusal.line() + ": using the CPU instead";
        }
    }
    on_cpu();
    return used;
}

}  // namespace echolux
