// Runs work on the GPU or the CPU, as BackendChoice requires.
#pragma once

#include <functional>
#include <string>

#include "compute/backend.h"

namespace echolux {

// The processor that did the work.
struct ProcessorUsed {
    Backend processor = Backend::cpu;  // or cuda
    std::string refusal{};             // one line if the CPU replaced a GPU or a slower path was used; otherwise empty
};

// Runs the work. Backend::automatic uses a GPU if there is one, and falls back to the CPU if the GPU refuses or fails
// (Error{device, out_of_memory}). Throws what the work throws, and Error{device} if CUDA is required but unavailable.
ProcessorUsed on_gpu_or_cpu(const BackendChoice& choice, const std::function<void()>& on_gpu,
                            const std::function<void()>& on_cpu);

}  // namespace echolux
