#include "render/raycast_programs.h"

#include <algorithm>
#include <span>
#include <utility>

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
        queue_.wait_for_all();  // what is under way may use it; compiling takes longer
        programs_.erase(std::ranges::min_element(programs_, {}, [](const auto& entry) { return entry.second.used; }));
    }
    const bool is_traced = constants[shared::constant_mode] == shared::mode_traced;
    using Words = std::span<const std::uint32_t>;
    const Words shader = is_traced ? Words(spirv::trace) : Words(spirv::raycast);
    Program program{gpu::compute_pipeline(device_, bindings, shader, constants), ++used_};
    return programs_.emplace(constants, std::move(program)).first->second.pipeline;
}

}  // namespace echolux
