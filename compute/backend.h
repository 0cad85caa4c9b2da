// Selection of the backend: requested here, decided when a plan is made, reported by
// Reconstructor::backend_description().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/reconstructor.h"
#include "compute/voxel_target.h"

namespace echolux {

// Transfer path of voxels to a target on another GPU. Kernels write directly to targets on their own GPU.
enum class PeerPath {
    automatic,    // GPU to GPU, or through pinned memory if they have no peer access
    copied,       // GPU to GPU, even if the target is on the same GPU: for tests, and for a GPU listed twice
    through_host  // always through pinned memory
};

// Name of a backend: word_for() returns "cpu" or "cuda" for programs, name_of() "CPU" or "GPU" for people.
inline const char* word_for(Backend backend) {
    return backend == Backend::cuda ? "cuda" : "cpu";
}
inline const char* name_of(Backend backend) {
    return backend == Backend::cuda ? "GPU" : "CPU";
}

struct PipelineHooks;  // compute/reconstructor.h

// How a GPU accesses spectra in pinned host memory.
enum class SpectraPath {
    copied,  // first copied to GPU memory, concurrently with work on earlier blocks
    direct   // kernels read host memory over the link
};

// Requested processor and its options. The default is automatic: the first usable GPU, otherwise the CPU.
struct BackendChoice {
    Backend backend = Backend::automatic;  // automatic: the CPU if no GPU is usable
    DeviceId gpu{};                        // all zero: the first usable one
    bool fused = true;  // one kernel from spectrum to voxels if possible; false: separate passes around cuFFT
    SpectraPath spectra = SpectraPath::copied;
    int streams = 4;                                // concurrent blocks per GPU
    std::shared_ptr<const PipelineHooks> stages{};  // callbacks of the caller, CPU only; may be null
    // GPUs that share the blocks: `gpu`, then the others of the survey; 0: all usable ones. More than one requires CUDA
    int gpus = 1;
    std::vector<DeviceId> named_gpus{};  // used instead, in this order; a GPU listed twice counts as two
    PeerPath peers = PeerPath::automatic;
    bool keeps_times = false;  // record times for Reconstructor::device_work()
};

// A usable GPU.
struct Gpu {
    DeviceId id{};
    std::string name;
    std::int64_t memory_bytes = 0;
    std::string pci_address = {};  // "0000:17:00.0"; empty if unknown
};

// Result of looking for GPUs on this machine.
struct GpuSurvey {
    std::vector<Gpu> usable;
    std::string refusal;  // one line: why there is no usable GPU, or why some are excluded; may be empty
};

// Returns the usable GPUs. The survey runs once per process. Never throws: a build without CUDA, a missing or outdated
// driver, or a GPU without code in this build are reported in `refusal`.
const GpuSurvey& surveyed_gpus();

// Returns the GPUs that share the blocks, at least one. Throws Error{device} if there are fewer usable ones than
// requested, or if the requested one is unusable.
std::vector<DeviceId> chosen_gpus(const BackendChoice& choice, const GpuSurvey& survey);

// Reconstructors of the GPUs that accepted a spec.
struct PlannedDevices {
    std::vector<std::unique_ptr<Reconstructor>> devices;
    std::string left_out;  // which GPUs are excluded, and why; may be empty
};

// Plans on each GPU. With `may_leave_out`, GPUs that refuse the spec (Error{device, out_of_memory}) are excluded if
// another one accepts it. Otherwise throws the first error.
PlannedDevices planned_devices(const std::vector<DeviceId>& ids, bool may_leave_out,
                               const std::function<std::unique_ptr<Reconstructor>(DeviceId)>& plan_on);

// Returns whether the choice rules out the CPU.
bool insists_on_gpu(const BackendChoice& choice);

// Returns whether voxels of GPU `from` reach GPU `to` without passing through host memory.
bool reaches(const DeviceId& from, const DeviceId& to);

// Checks a choice. Throws Error{device} if CUDA is required and there are not enough usable GPUs, and
// Error{bad_setting} if GPUs are combined with the CPU backend.
void require_backend(const BackendChoice& choice);

// A reconstructor and why its backend was chosen.
struct ChosenReconstructor {
    std::unique_ptr<Reconstructor> reconstructor;
    std::string reason;  // one line: why the CPU replaces a GPU, or why some GPUs are excluded; may be empty
};

// Validates the spec, builds the tables and allocates. Throws Error{bad_setting, out_of_memory, device}.
// Backend::automatic uses the CPU if there is no GPU, or if the GPU refuses the spec because it fails or has too little
// memory. If insists_on_gpu(), the error is thrown instead. Later failures are for the caller to handle: a failed
// device can be set up again, missing memory cannot be recovered.
ChosenReconstructor choose_reconstructor(const ReconstructionSpec& spec, const BackendChoice& choice = {});

// Does the same without a reason.
std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionSpec& spec, const BackendChoice& choice = {});

// Applies the rule of Backend::automatic to any survey and any planning function. For tests.
ChosenReconstructor gpu_or_cpu(const ReconstructionSpec& spec, const GpuSurvey& survey,
                               const std::function<std::unique_ptr<Reconstructor>()>& plan_on_gpu);

// ---- Runs work on the GPU or the CPU, as BackendChoice requires.

// The processor that did the work.
struct SelectedBackend {
    Backend backend = Backend::cpu;  // or cuda
    std::string refusal{};           // one line if the CPU replaced a GPU or a slower path was used; otherwise empty
};

// Runs the work. Backend::automatic uses a GPU if there is one, and falls back to the CPU if the GPU refuses or fails
// (Error{device, out_of_memory}). Throws what the work throws, and Error{device} if CUDA is required but unavailable.
SelectedBackend on_gpu_or_cpu(const BackendChoice& choice, const std::function<void()>& on_gpu,
                              const std::function<void()>& on_cpu);

}  // namespace echolux
