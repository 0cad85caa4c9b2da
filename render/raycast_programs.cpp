#include "render/raycast_programs.h"

#include <algorithm>
#include <span>
#include <utility>

#include "render/vk/specialized.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::size_t max_programs = 32;

}  // namespace

const vk::raii::Pipeline& RaycastPrograms::of(const RaycastConstants& constants, const gpu::Bindings& bindings) {
    const auto found = programs_.find(constants);
    if (found != programs_.end()) {
        found->second.used = ++used_;
        return found->second.pipeline;
    }
    if (programs_.size() >= max_programs) {
        queue_.wait_for_all();  // pending work may use it; compiling takes longer anyway
        programs_.erase(std::ranges::min_element(programs_, {}, [](const auto& entry) { return entry.second.used; }));
    }
    return programs_.emplace(constants, Program{made(constants, bindings), ++used_}).first->second.pipeline;
}

vk::raii::Pipeline RaycastPrograms::made(const RaycastConstants& constants, const gpu::Bindings& bindings) const {
    const bool is_traced = constants[shared::constant_mode] == shared::mode_traced;
    using Words = std::span<const std::uint32_t>;
    if (device_.is_software()) {
        // Software Vulkan compiles specialised code much faster, see render/vk/specialized.h.
        const Words as_written = is_traced ? Words(spirv::trace_as_written) : Words(spirv::raycast_as_written);
        return gpu::compute_pipeline(device_, bindings, gpu::specialized(as_written, constants), {});
    }
    const Words shader = is_traced ? Words(spirv::trace) : Words(spirv::raycast);
    return gpu::compute_pipeline(device_, bindings, shader, constants);
}

}  // namespace echolux
