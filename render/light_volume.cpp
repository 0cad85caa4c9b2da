#include "render/light_volume.h"

#include <algorithm>
#include <cstring>

#include "render/print.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::int64_t voxels_per_cell = 4;  // along each axis
constexpr std::int64_t max_cells = 128;

vk::raii::Sampler sampler(const gpu::Device& device, vk::BorderColor outside) {
    return {device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                    .minFilter = vk::Filter::eLinear,
                                                    .addressModeU = vk::SamplerAddressMode::eClampToBorder,
                                                    .addressModeV = vk::SamplerAddressMode::eClampToBorder,
                                                    .addressModeW = vk::SamplerAddressMode::eClampToBorder,
                                                    .borderColor = outside}};
}

// Absorption is 0 outside of the volume, light is 1.
gpu::DeviceImage cell_texture(const gpu::Device& device, vk::Extent3D cells, vk::Format format) {
    return {device,
            {.type = vk::ImageType::e3D,
             .format = format,
             .extent = cells,
             .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage},
            "light volume"};
}

// Constants of the ray caster that affect the cells.
RaycastConstants constants_of(const LightSources& sources) {
    RaycastConstants constants{};
    for (const int i : {shared::constant_rolling, shared::constant_cut, shared::constant_heights,
                        shared::constant_paged, shared::constant_channels, shared::constant_second}) {
        constants[static_cast<std::size_t>(i)] = sources.constants[static_cast<std::size_t>(i)];
    }
    const bool is_surface = mode_while_cast(sources.view) == ViewMode::isosurface;
    constants[shared::constant_mode] = is_surface ? shared::mode_isosurface : shared::mode_composite;
    return constants;
}

}  // namespace

void add_channels(Print& print, const LightSources& sources) {
    if (sources.channel_tables.empty()) return;
    for (const SceneChannel& channel : sources.scene.channels) print.add(channel.texture);
    print.add(sources.frame.channels);
    for (const std::byte part : sources.channel_tables) print.add(part);
}

namespace {

// Everything that the cells depend on. The lamp counts only if there are shadows.
std::vector<std::byte> print_of(const LightSources& sources) {
    const Scene& scene = sources.scene;
    const shared::RaycastFrame& frame = sources.frame;
    Print print;
    print.add(&scene.volume);
    print.add(scene.previous);
    print.add(scene.serials);
    print.add(frame.filled);
    print.add(frame.lookup);
    print.add(frame.cut);
    print.add(frame.light.cell);
    print.add(frame.light.shading.z);
    print.add(frame.light.shading.w > 0 ? frame.light.lamp : glm::vec4(0));
    print.add(constants_of(sources));
    print.add(frame.second);
    if (frame.second.axis.z > 0) print.add(frame.gradient_step);
    for (const float extinction : sources.extinctions) print.add(extinction);
    add_channels(print, sources);
    return std::move(print).bytes();
}

vk::Extent3D groups_of(vk::Extent3D cells) {
    const auto groups = [](std::uint32_t count, int of) {
        return (count + static_cast<std::uint32_t>(of) - 1) / static_cast<std::uint32_t>(of);
    };
    return {groups(cells.width, shared::group_width), groups(cells.height, shared::group_height), cells.depth};
}

}  // namespace

std::array<std::int64_t, 3> light_cells(const VolumeGrid& grid) {
    const auto cells = [](std::int64_t voxels) {
        return std::clamp<std::int64_t>((voxels + voxels_per_cell - 1) / voxels_per_cell, 1, max_cells);
    };
    return {cells(grid.depth), cells(grid.a_scans), cells(grid.b_scans)};
}

bool wants_light_volume(const View& view) {
    const bool lights = view.mode == ViewMode::composite || view.mode == ViewMode::isosurface ||
                        view.mode == ViewMode::mida || view.mode == ViewMode::points ||
                        view.mode == ViewMode::traced;  // while ray cast
    return lights && (view.ambient_occlusion > 0 || view.shadows > 0);
}

LightVolume::Cells::Cells(const gpu::Device& device, vk::Extent3D extent)
    : extinctions(cell_texture(device, extent, vk::Format::eR16Sfloat)),
      light(cell_texture(device, extent, vk::Format::eR8G8Unorm)) {}

LightVolume::LightVolume(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), dark_outside_(sampler(device, vk::BorderColor::eFloatTransparentBlack)),
      bright_outside_(sampler(device, vk::BorderColor::eFloatOpaqueWhite)) {}

// The first use of the cells may also be missing.
void LightVolume::forget() {
    made_of_.clear();
    if (cells_) cells_->are_fresh = true;
}

void LightVolume::bind(gpu::Bindings& bindings, const LightSources& sources) {
    const auto [depth, a_scans, b_scans] = light_cells(sources.scene.volume.grid());
    const vk::Extent3D extent{static_cast<std::uint32_t>(depth), static_cast<std::uint32_t>(a_scans),
                              static_cast<std::uint32_t>(b_scans)};
    if (!cells_ || cells_->light.shape().extent != extent) {
        queue_.wait_for_all();
        forget();
        cells_.reset();
        cells_.emplace(device_, extent);
    }
    bindings.set_image(shared::binding_cells, cells_->extinctions.view(), *dark_outside_);
    bindings.set_image(shared::binding_cells_target, cells_->extinctions.view());
    bindings.set_image(shared::binding_light_volume, cells_->light.view(), *bright_outside_);
    bindings.set_image(shared::binding_light_target, cells_->light.view());
    pipelines(bindings, constants_of(sources));
}

const LightVolume::Pipelines& LightVolume::pipelines(const gpu::Bindings& bindings, const RaycastConstants& constants) {
    const auto found = pipelines_.find(constants);
    if (found != pipelines_.end()) return found->second;
    const auto made = [&](std::span<const std::uint32_t> spirv) {
        return gpu::compute_pipeline(device_, bindings, spirv, constants);
    };
    return pipelines_.emplace(constants, Pipelines{made(spirv::light_cells), made(spirv::light_volume)}).first->second;
}

void LightVolume::record(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings,
                         const LightSources& sources) {
    std::vector<std::byte> print = print_of(sources);
    if (print == made_of_) return;
    if (cells_->are_fresh) {
        cells_->extinctions.record_first_use(commands);
        cells_->light.record_first_use(commands);
    }
    cells_->are_fresh = false;
    const Pipelines& passes = pipelines(bindings, constants_of(sources));
    const vk::Extent3D groups = groups_of(cells_->light.shape().extent);
    gpu::record_dispatch(commands, bindings, passes.extinctions, groups);
    gpu::record_order(commands);
    gpu::record_dispatch(commands, bindings, passes.light, groups);
    gpu::record_order(commands);
    made_of_ = std::move(print);
}

}  // namespace echolux
