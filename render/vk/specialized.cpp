#include "render/vk/specialized.h"

#include <spirv-tools/optimizer.hpp>

#include <unordered_map>

#include "compute/error.h"

namespace echolux::gpu {

std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants) {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> values;
    for (std::uint32_t i = 0; i < constants.size(); ++i) values[i] = {static_cast<std::uint32_t>(constants[i])};
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_3);
    optimizer.RegisterPass(spvtools::CreateSetSpecConstantDefaultValuePass(values))
        .RegisterPass(spvtools::CreateFreezeSpecConstantValuePass())
        .RegisterPass(spvtools::CreateFoldSpecConstantOpAndCompositePass())
        .RegisterPass(spvtools::CreateDeadBranchElimPass())
        .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass());
    spvtools::OptimizerOptions options;
    options.set_run_validator(false);  // the input is valid, and the validation layers check the output
    std::vector<std::uint32_t> made;
    if (!optimizer.Run(spirv.data(), spirv.size(), &made, options)) {
        throw Error(ErrorCode::device, "cannot be specialized", "shader");
    }
    return made;
}

}  // namespace echolux::gpu
