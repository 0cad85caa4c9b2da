#include "render/light_volume.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/indexing.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::int64_t voxels_per_cell = 4;  // along each axis
constexpr std::int64_t max_cells = 128;

// A texture that shaders write and sample, with a texel per cell or brick.
gpu::DeviceImage written_texture(const gpu::Device& device, vk::Extent3D extent, vk::Format format, const char* what) {
    return {device,
            {.type = vk::ImageType::e3D,
             .format = format,
             .extent = extent,
             .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage},
            what};
}

// Returns the two pipelines for these constants, compiled on first use.
template <class Pipelines>
const Pipelines& pipelines_for(std::map<RaycastConstants, Pipelines>& known, const gpu::Device& device,
                               const gpu::Bindings& bindings, const RaycastConstants& constants,
                               std::span<const std::uint32_t> first, std::span<const std::uint32_t> second) {
    const auto found = known.find(constants);
    if (found != known.end()) return found->second;
    return known
        .emplace(constants, Pipelines{gpu::compute_pipeline(device, bindings, first, constants),
                                      gpu::compute_pipeline(device, bindings, second, constants)})
        .first->second;
}

// Constants of the ray caster that affect the cells.
RaycastConstants constants_of(const LightSources& sources) {
    RaycastConstants constants{};
    for (const int i : {shared::constant_rolling, shared::constant_cut, shared::constant_heights,
                        shared::constant_paged, shared::constant_channels, shared::constant_second}) {
        constants[index(i)] = sources.constants[index(i)];
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

// Everything that the cells depend on. The lamp counts only if there are shadows.
static std::vector<std::byte> print_of(const LightSources& sources) {
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
    print.add(frame.light.cell_length);
    print.add(frame.light.ambient_occlusion);
    print.add(frame.light.shadows > 0 ? glm::vec4(frame.light.lamp, frame.light.is_lamp_free) : glm::vec4(0));
    print.add(constants_of(sources));
    print.add(frame.second);
    if (frame.second.tables > 0) print.add(frame.gradient_step);
    for (const float extinction : sources.extinctions) print.add(extinction);
    add_channels(print, sources);
    return std::move(print).bytes();
}

std::array<std::int64_t, 3> light_cells(const VolumeGrid& grid) {
    const auto cells = [](std::int64_t voxels) {
        return std::clamp<std::int64_t>((voxels + voxels_per_cell - 1) / voxels_per_cell, 1, max_cells);
    };
    return {cells(grid.depth), cells(grid.a_scans), cells(grid.b_scans)};
}

bool needs_light_volume(const View& view) {
    return text_of(view.mode).is_lit() && (view.ambient_occlusion > 0 || view.shadows > 0);
}

LightVolume::Cells::Cells(const gpu::Device& device, vk::Extent3D extent)
    : extinctions(written_texture(device, extent, vk::Format::eR16Sfloat, "light volume")),
      light(written_texture(device, extent, vk::Format::eR8G8Unorm, "light volume")) {}

LightVolume::LightVolume(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue),
      dark_outside_(gpu::linear_sampler(device, vk::SamplerAddressMode::eClampToBorder)),
      bright_outside_(
          gpu::linear_sampler(device, vk::SamplerAddressMode::eClampToBorder, vk::BorderColor::eFloatOpaqueWhite)) {}

// Also marks the cells as unused, because the submission with their first use may have been lost.
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
    return pipelines_for(pipelines_, device_, bindings, constants, spirv::light_cells, spirv::light_volume);
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
    const vk::Extent3D groups =
        gpu::groups_of(cells_->light.shape().extent, {shared::group_width, shared::group_height, 1});
    gpu::record_dispatch(commands, bindings, passes.extinctions, groups);
    gpu::record_order(commands);
    gpu::record_dispatch(commands, bindings, passes.light, groups);
    gpu::record_order(commands);
    made_of_ = std::move(print);
}

// ---- Majorants

// Everything that the ranges depend on: not the transfer function.
static std::vector<std::byte> ranges_print(const LightSources& sources) {
    Print print;
    print.add(&sources.scene.volume);
    print.add(sources.scene.serials);
    print.add(sources.frame.trace.known.fault);
    return std::move(print).bytes();
}

static std::vector<std::byte> majorants_print(const LightSources& sources) {
    Print print;
    print.add(&sources.scene.volume);
    print.add(sources.scene.flow);
    print.add(sources.scene.serials);
    print.add(sources.frame.lookup);
    print.add(sources.frame.flow);
    print.add(sources.frame.trace.known);
    print.add(sources.constants[shared::constant_flow]);
    print.add(sources.constants[shared::constant_isosurface]);
    for (const float extinction : sources.extinctions) print.add(extinction);
    add_channels(print, sources);
    return std::move(print).bytes();
}

// Constants of the path tracer that affect the majorants.
static RaycastConstants majorant_constants(const LightSources& sources) {
    RaycastConstants constants{};
    for (const int i :
         {shared::constant_flow, shared::constant_paged, shared::constant_channels, shared::constant_isosurface}) {
        constants[index(i)] = sources.constants[index(i)];
    }
    constants[shared::constant_reduces] = sources.scene.volume.bricks().reduces_codes() ? 1 : 0;
    return constants;
}

// Returns the number of slabs of bricks that a submission may read: half a billion voxels, a tenth of a second
// for an assumed 5 G voxels/s, and fewer on software Vulkan. A GPU idles between submissions.
static std::uint32_t slabs_at_once(vk::Extent3D bricks, int edge, bool is_software) {
    const double voxels = is_software ? 1 << 24 : 1 << 29;
    const double of_slab = double(bricks.width) * bricks.height * edge * edge * edge;
    return static_cast<std::uint32_t>(std::max(1.0, voxels / of_slab));
}

// Writes one level per power of two; `levels` holds peak_levels tables.
template <class Better>
static void write_extremes(std::span<const float> extinctions, std::span<std::byte> levels, const Better& better) {
    std::vector<float> level(extinctions.begin(), extinctions.end());
    for (std::size_t i = 0, width = 1; i < std::size_t{shared::peak_levels}; ++i, width *= 2) {
        std::memcpy(levels.data() + i * level.size() * sizeof(float), level.data(), level.size() * sizeof(float));
        for (std::size_t j = 0; j + width < level.size(); ++j) level[j] = better(level[j], level[j + width]);
    }
}

void write_extinction_peaks(std::span<const float> extinctions, std::span<std::byte> peaks) {
    write_extremes(extinctions, peaks, [](float a, float b) { return std::max(a, b); });
}

void write_extinction_dips(std::span<const float> extinctions, std::span<std::byte> dips) {
    write_extremes(extinctions, dips, [](float a, float b) { return std::min(a, b); });
}

Majorants::Bricked::Bricked(const gpu::Device& device, vk::Extent3D bricks)
    : ranges(written_texture(device, bricks, vk::Format::eR32G32Sfloat, "majorants")),
      majorants(written_texture(device, bricks, vk::Format::eR32G32Sfloat, "majorants")) {}

Majorants::Majorants(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue),
      peaks_(device, 2 * extinction_peaks_bytes, vk::BufferUsageFlagBits::eStorageBuffer) {}

// Also marks the images as unused, because the submission with their first use may have been lost.
void Majorants::forget() {
    ranges_of_.clear();
    made_of_.clear();
    if (bricked_) bricked_->are_fresh = true;
}

void Majorants::bind(gpu::Bindings& bindings, const LightSources& sources) {
    const Bricks& bricks = sources.scene.volume.bricks();
    const vk::Extent3D extent = bricks.ranges().shape().extent;
    if (!bricked_ || bricked_->majorants.shape().extent != extent) {
        queue_.wait_for_all();
        forget();
        bricked_.reset();
        bricked_.emplace(device_, extent);
    }
    // Paged volumes use the ranges of their bricks, which include neighbours.
    const gpu::DeviceImage& ranges = sources.scene.pages != nullptr ? bricks.ranges() : bricked_->ranges;
    bindings.set_image(shared::binding_majorant_ranges, ranges.view());
    bindings.set_image(shared::binding_majorant_ranges_target, bricked_->ranges.view());
    bindings.set_image(shared::binding_majorants, bricked_->majorants.view());
    bindings.set_image(shared::binding_majorants_target, bricked_->majorants.view());
    bindings.set_buffer(shared::binding_extinction_peaks, peaks_.handle());
    pipelines(bindings, majorant_constants(sources));
}

const Majorants::Pipelines& Majorants::pipelines(const gpu::Bindings& bindings, const RaycastConstants& constants) {
    return pipelines_for(pipelines_, device_, bindings, constants, spirv::majorant_ranges, spirv::majorants);
}

void Majorants::record_ranges(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings,
                              const vk::raii::Pipeline& pass, const Slabs& slabs) const {
    const vk::Extent3D bricks = bricked_->ranges.shape().extent;
    gpu::record_bind(commands, bindings, pass);
    commands.dispatchBase(0, 0, slabs.first, bricks.width, bricks.height, slabs.end - slabs.first);
    gpu::record_order(commands);
}

void Majorants::record_majorants(const vk::raii::CommandBuffer& commands, const gpu::Bindings& bindings,
                                 const vk::raii::Pipeline& pass, vk::Buffer table, vk::DeviceSize offset) const {
    constexpr std::uint32_t group = shared::majorant_cell * shared::majorant_cell;
    peaks_.record_copy_from(commands, table, offset);
    gpu::record_order(commands);
    gpu::record_dispatch(commands, bindings, pass,
                         gpu::groups_of(bricked_->majorants.shape().extent, {group, group, group}));
    gpu::record_order(commands);
}

std::vector<gpu::Recording> Majorants::steps(const gpu::Bindings& bindings, const LightSources& sources,
                                             vk::Buffer table, vk::DeviceSize offset) {
    std::vector<gpu::Recording> steps;
    if (std::exchange(bricked_->are_fresh, false)) {
        steps.emplace_back([this](const vk::raii::CommandBuffer& commands) {
            bricked_->ranges.record_first_use(commands);
            bricked_->majorants.record_first_use(commands);
        });
    }
    const bool is_stale = sources.frame.trace.known.fault == float{shared::fault_stale};
    if (is_stale && !made_of_.empty()) return steps;
    const Pipelines& passes = pipelines(bindings, majorant_constants(sources));
    std::vector<std::byte> of_ranges = ranges_print(sources);
    std::vector<std::byte> print = majorants_print(sources);
    if (of_ranges != ranges_of_ && sources.scene.pages == nullptr) {
        const vk::Extent3D bricks = bricked_->ranges.shape().extent;
        const std::uint32_t at_once =
            slabs_at_once(bricks, sources.scene.volume.bricks().edge(), device_.is_software());
        for (std::uint32_t first = 0; first < bricks.depth; first += at_once) {
            const Slabs slabs{first, std::min(first + at_once, bricks.depth)};
            steps.emplace_back([this, &bindings, &passes, slabs](const vk::raii::CommandBuffer& commands) {
                record_ranges(commands, bindings, passes.ranges, slabs);
            });
        }
    } else if (print == made_of_) {
        return steps;
    }
    steps.emplace_back([this, &bindings, &passes, table, offset](const vk::raii::CommandBuffer& commands) {
        record_majorants(commands, bindings, passes.majorants, table, offset);
    });
    ranges_of_ = std::move(of_ranges);
    made_of_ = std::move(print);
    return steps;
}

}  // namespace echolux
