// Which processor reconstructs: asked for here, chosen when a plan is made, reported by Reconstructor::backend().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/place.h"
#include "compute/reconstructor.h"

namespace echolux {

enum class Backend { automatic, cpu, cuda };

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
    int streams = 3;  // blocks under way at a time
};

struct Gpu {
    DeviceId id{};
    std::string name;
    std::int64_t memory_bytes = 0;
};

struct GpuSurvey {
    std::vector<Gpu> usable;
    std::string refusal;  // why there is none, or why some are left out: one line; empty: nothing to say
};

// Looks once. Never throws: a build without CUDA, a missing or old driver, a GPU that this build has no code for are
// reasons in `refusal`.
const GpuSurvey& surveyed_gpus();

// Validates everything, builds the tables, allocates. Throws Error{bad_setting, out_of_memory, device}; Backend::cuda
// throws where Backend::automatic would fall back to the CPU.
std::unique_ptr<Reconstructor> make_reconstructor(const ReconstructionPlan& plan, const BackendChoice& choice = {});

}  // namespace echolux
