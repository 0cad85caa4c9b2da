#include "render/denoiser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "render/raycast_frame.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array denoise_types = [] {
    std::array<vk::DescriptorType, shared::denoise_bindings> types{};
    types.fill(vk::DescriptorType::eSampledImage);
    types[shared::binding_denoise_light_target] = vk::DescriptorType::eStorageImage;
    types[shared::binding_denoise_variance_target] = vk::DescriptorType::eStorageImage;
    types[shared::binding_denoise_result] = vk::DescriptorType::eStorageBuffer;
    return types;
}();

// Numbers of paths: for a variance estimate, for judging noise and fireflies, and for showing the filtered light.
constexpr std::int64_t min_paths = 2;
constexpr std::int64_t min_judged = 16;
constexpr std::int64_t max_filtered = 1023;

// Ratio of the true variance after two levels to that of independent taps: taps of the second level share filtered
// pixels. For two B-splines: 0.01525 / 0.00559.
constexpr float variance_of_levels = 2.73F;
static_assert(filter_levels == 2);

// Limits a submission on software Vulkan to some tens of ms.
constexpr std::int64_t pixels_at_once = 1 << 16;

gpu::DeviceImage filter_image(const gpu::Device& device, vk::Extent3D size, vk::Format format) {
    return {device,
            {.type = vk::ImageType::e2D,
             .format = format,
             .extent = size,
             .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled},
            "filtered light"};
}

gpu::Bindings denoise_bindings(const gpu::Device& device) {
    return {device, denoise_types, sizeof(shared::DenoisePart)};
}

std::array<gpu::DeviceImage, 3> filter_images(const gpu::Device& device, const AccumulationBuffer& accumulation,
                                              vk::Format format) {
    const vk::Extent3D size = accumulation.mean.shape().extent;
    return {filter_image(device, size, format), filter_image(device, size, format), filter_image(device, size, format)};
}

// Input and output images of a filter pass.
struct PassImages {
    const gpu::DeviceImage &light, &variance, &to_light, &to_variance;
};

void bind_images(gpu::Bindings& bindings, const AccumulationBuffer& accumulation, const FilteredLight& filtered,
                 const PassImages& pass_images) {
    const PathFeatures& features = *accumulation.features;
    bindings.set_image(shared::binding_denoise_light, pass_images.light.view());
    bindings.set_image(shared::binding_denoise_variance, pass_images.variance.view());
    bindings.set_image(shared::binding_denoise_albedo, features.albedo.view());
    bindings.set_image(shared::binding_denoise_normals, features.normals.view());
    bindings.set_image(shared::binding_denoise_squares, features.squares.view());
    bindings.set_image(shared::binding_denoise_raw, filtered.light[0].view());
    bindings.set_image(shared::binding_denoise_raw_variance, filtered.variances[0].view());
    bindings.set_image(shared::binding_denoise_light_target, pass_images.to_light.view());
    bindings.set_image(shared::binding_denoise_variance_target, pass_images.to_variance.view());
    bindings.set_buffer(shared::binding_denoise_result, filtered.found.handle());
}

}  // namespace

bool is_filtered(const View& view, std::int64_t paths) {
    return view.denoise && paths >= min_paths && paths <= max_filtered;
}

// Judges at powers of two and at multiples of 64.
bool is_time_to_judge(const View& view, std::int64_t paths) {
    if (view.noise_target == 0 || paths < min_judged) return false;
    return std::has_single_bit(static_cast<std::uint64_t>(paths)) || paths % 64 == 0;
}

bool hides_fireflies(const View& view, std::int64_t paths) {
    return is_filtered(view, paths) && paths >= min_judged;
}

FilteredLight::FilteredLight(const gpu::Device& device, const AccumulationBuffer& accumulation)
    : light(filter_images(device, accumulation, vk::Format::eR32G32B32A32Sfloat)),
      variances(filter_images(device, accumulation, vk::Format::eR32G32Sfloat)),
      found(device, sizeof(shared::DenoiseResult),
            vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eTransferSrc),
      read(device, sizeof(shared::DenoiseResult), vk::BufferUsageFlagBits::eTransferDst),
      of_variance(denoise_bindings(device)), of_restoring(denoise_bindings(device)), of_noise(denoise_bindings(device)),
      of_raw_noise(denoise_bindings(device)) {
    const auto bind = [&](gpu::Bindings& bindings, std::size_t from, std::size_t to) {
        bind_images(bindings, accumulation, *this, {light[from], variances[from], light[to], variances[to]});
    };
    bind_images(of_variance, accumulation, *this, {accumulation.mean, variances[1], light[0], variances[0]});
    for (std::size_t i = 0; i < filter_levels; ++i) bind(of_levels.emplace_back(denoise_bindings(device)), i, i + 1);
    static_assert(filter_levels == 2, "of three images");
    bind(of_restoring, 2, 1);
    bind(of_noise, 1, 2);
    bind(of_raw_noise, 0, 2);
}

// The bindings of all passes share one layout.
Denoiser::Denoiser(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back)
    : device_(device), queue_(queue), read_back_(read_back), layout_(denoise_bindings(device)),
      variance_(gpu::compute_pipeline(device, layout_, spirv::path_variance, {})),
      level_(gpu::compute_pipeline(device, layout_, spirv::denoise, {})),
      restoring_(gpu::compute_pipeline(device, layout_, spirv::restore, {})),
      noise_(gpu::compute_pipeline(device, layout_, spirv::noise, {})) {}

// On software Vulkan, submits the pass in strips.
std::uint64_t Denoiser::submit(const gpu::Bindings& bindings, const vk::raii::Pipeline& pipeline,
                               const shared::DenoisePart& part, vk::Extent3D size, std::uint32_t group) {
    const auto [columns, rows, depth] = gpu::groups_of(size, {group, group, 1});
    const std::uint32_t rows_at_once =
        device_.is_software() ? std::max<std::uint32_t>(1, pixels_at_once / (columns * group * group)) : rows;
    std::uint64_t value = 0;
    for (std::uint32_t first = 0; first < rows; first += rows_at_once) {
        value = queue_.submit([&](const vk::raii::CommandBuffer& commands) {
            gpu::record_bind(commands, bindings, pipeline);
            gpu::record_push(commands, bindings, part);
            commands.dispatchBase(0, first, 0, columns, std::min(rows_at_once, rows - first), 1);
        });
    }
    return value;
}

Denoiser::Light Denoiser::light(AccumulationBuffer& accumulation, const View& view, std::int64_t paths) {
    const bool filters = is_filtered(view, paths);
    if (!accumulation.features || paths < min_paths || (!filters && view.noise_target == 0))
        return {&accumulation.mean, 0};
    if (!accumulation.filtered) accumulation.filtered = std::make_unique<FilteredLight>(device_, accumulation);
    FilteredLight& filtered = *accumulation.filtered;
    const vk::Extent3D size = accumulation.mean.shape().extent;
    const std::vector<double>& colour = view.background;
    shared::DenoisePart part{
        .per_degree = static_cast<float>(1.0 / static_cast<double>(paths - 1)),
        .tap_distance = 1,
        .hides_fireflies = hides_fireflies(view, paths) ? 1.0F : 0.0F,
        .variance_ratio = variance_of_levels,
        .tone = tone_of(view),
        .background = glm::vec4(glm::dvec4(colour[0], colour[1], colour[2], view.transparent ? 0 : 1))};
    queue_.submit([&](const vk::raii::CommandBuffer& commands) {
        if (filtered.is_fresh) {
            for (const auto* images : {&filtered.light, &filtered.variances})
                for (const gpu::DeviceImage& image : *images) image.record_first_use(commands);
        }
        commands.fillBuffer(filtered.found.handle(), 0, sizeof(shared::DenoiseResult), 0);
    });
    filtered.is_fresh = false;
    submit(filtered.of_variance, variance_, part, size, shared::denoise_group);
    for (std::size_t i = 0; filters && i < filtered.of_levels.size(); ++i) {
        part.tap_distance = static_cast<float>(1 << i);
        submit(filtered.of_levels[i], level_, part, size, shared::denoise_group);
    }
    if (filters) submit(filtered.of_restoring, restoring_, part, size, shared::denoise_group);
    submit(filters ? filtered.of_noise : filtered.of_raw_noise, noise_, part, size, shared::noise_tile);
    const std::uint64_t value = queue_.submit([&](const vk::raii::CommandBuffer& commands) {
        commands.copyBuffer(filtered.found.handle(), filtered.read.handle(),
                            vk::BufferCopy{.size = sizeof(shared::DenoiseResult)});
        gpu::record_for_host(commands);
    });
    return {&filtered.light[filters ? 1 : 0], value};
}

shared::DenoiseResult Denoiser::found(const AccumulationBuffer& accumulation) {
    shared::DenoiseResult found{};
    std::memcpy(&found, read_back_.statistics(accumulation.filtered->read).data(), sizeof found);
    return found;
}

double Denoiser::noise(const AccumulationBuffer& accumulation) {
    return std::sqrt(found(accumulation).worst);
}

std::int64_t Denoiser::fireflies(const AccumulationBuffer& accumulation) {
    return found(accumulation).fireflies;
}

}  // namespace echolux
