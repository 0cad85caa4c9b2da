// Which processor reconstructs: asked for here, chosen when a plan is made, reported by Reconstructor::backend().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/peer_path.h"
#include "compute/place.h"
#include "compute/reconstructor.h"

namespace echolux {

struct Stages;  // compute/stages.h

// How a GPU gets spectra that lie in pinned host memory.
enum class SpectraPath {
    copied,  // to the GPU's memory first, beside the work on earlier blocks
    direct   // kernels read host memory over the link
};

struct BackendChoice {
    Backend backend = Backend::automatic;  // the CPU where no GPU can be used
    DeviceId gpu{};                        // all zero: the first that can be used
    bool fused = true;  // one kernel from spectrum to voxels where it can; false: separate passes around cuFFT
    SpectraPath spectra = SpectraPath::copied;
    int streams = 4;                         // blocks under way at a time, on each GPU
    std::shared_ptr<const Stages> stages{};  // of a caller, on the CPU alone; may be null
    int gpus = 1;  // that share the blocks: `gpu`, then the others of the survey; 0: all that can. Two insist on CUDA
    std::vector<DeviceId> named_gpus{};  // these instead, in this order; one that comes twice works as two would
    PeerPath peers = PeerPath::automatic;
    bool keeps_times = false;  // for Reconstructor::device_work()
};

struct Gpu {
    DeviceId id{};
    std::string name;
    std::int64_t memory_bytes = 0;
    std::string pci_address = {};  // "0000:17:00.0"; "": unknown
};

struct GpuSurvey {
    std::vector<Gpu> usable;
    std::string refusal;  // why there is none, or why some are left out: one line; empty: nothing to say
};

// Repeats once. Never throws: a build without CUDA, a missing or old driver, a GPU that this build has no code for are
// reasons in `refusal`.
const GpuSurvey& surveyed_gpus();

// The GPUs that share the blocks, at least one. Throws Error{device} where fewer can be used, or the one that is asked
// for cannot.
std::vector<DeviceId> chosen_gpus(const BackendChoice& choice, const GpuSurvey& survey);

struct DevicesThatTake {
    std::vector<std::unique_ptr<Reconstructor>> devices;
    std::string left_out;  // which, and why; may be empty
};

// `may_leave_out`: one that refuses the spec (Error{device, out_of_memory}) is, as long as another takes it; where none
// does, and where it may not, the first error is thrown.
DevicesThatTake devices_that_take(const std::vector<DeviceId>& ids, bool may_leave_out,
                                  const std::function<std::unique_ptr<Reconstructor>(DeviceId)>& plan_on);

// Whether the CPU will not do.
bool insists_on_gpu(const BackendChoice& choice);

// Whether voxels of GPU `from` get to GPU `to` without a detour through host memory.
bool reaches(const DeviceId& from, const DeviceId& to);

// Throws Error{device} where CUDA is demanded and no GPU, or too few, can be used; Error{bad_setting} where GPUs are
// asked for besides the CPU.
void require_backend(const BackendChoice& choice);

struct ChosenReconstructor {
    std::unique_ptr<Reconstructor> reconstructor;
    std::string reason;  // one line: why the CPU where a GPU would do, or why some GPUs are left out; may be empty
};

// Validates everything, builds the tables, allocates. Throws Error{bad_setting, out_of_memory, device}.
// Backend::automatic takes the CPU where there is no GPU and where the GPU refuses the spec: it fails, or has too
// little memory. Who insists_on_gpu() gets the error. What goes wrong later is for who feeds: a device that fails can
// be set up anew, memory that is missing cannot.
ChosenReconstructor choose_reconstructor(const ReconstructionSpec& spec, const BackendChoice& choice = {});

// The same without the reason.
std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionSpec& spec, const BackendChoice& choice = {});

// The rule by itself, for Backend::automatic, any survey and any way to plan on a GPU.
ChosenReconstructor gpu_or_cpu(const ReconstructionSpec& spec, const GpuSurvey& survey,
                               const std::function<std::unique_ptr<Reconstructor>()>& plan_on_gpu);

}  // namespace echolux
