#include "render/texture_rate.h"

#include <array>

#include "render/vk/image.h"
#include "render/vk/pipeline.h"
#include "render/vk/timestamps.h"
#include "shaders/shared/texture_rate.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eStorageImage};

gpu::ImageShape source_shape(const gpu::Device& device) {
    return {.type = vk::ImageType::e3D,
            .format = device.is_software() ? vk::Format::eR16Unorm : vk::Format::eR8Unorm,
            .extent = {shared::rate_edge, shared::rate_edge, shared::rate_edge},
            .usage = vk::ImageUsageFlagBits::eSampled};
}

gpu::ImageShape sums_shape(std::uint32_t groups) {
    return {.format = vk::Format::eR32Sfloat, .extent = {groups, groups, 1}, .usage = vk::ImageUsageFlagBits::eStorage};
}

}  // namespace

std::vector<double> texture_rates(const gpu::Device& device, gpu::Queue& queue, int repetitions) {
    const std::uint32_t groups = device.is_software() ? 16 : 256;  // per side: takes some ms
    const gpu::DeviceImage source(device, source_shape(device), "texture to be sampled");
    const gpu::DeviceImage sums(device, sums_shape(groups), "sums of samples");
    const vk::raii::Sampler sampler(
        device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear, .minFilter = vk::Filter::eLinear});
    gpu::Bindings bindings(device, binding_types);
    bindings.set_image(shared::binding_rate_source, source.view(), *sampler);
    bindings.set_image(shared::binding_rate_sums, sums.view());
    const vk::raii::Pipeline pipeline = gpu::compute_pipeline(device, bindings, spirv::texture_rate, {});
    const gpu::Stopwatch stopwatch(device);
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        source.record_first_use(commands);
        sums.record_first_use(commands);
    });
    const auto work = [&](const vk::raii::CommandBuffer& commands) {
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
        commands.dispatch(groups, groups, 1);
    };
    const auto side = static_cast<double>(groups * shared::rate_group);
    const double invocations = side * side;
    std::vector<double> rates;
    for (int i = -2; i < repetitions; ++i) {
        queue.wait(queue.submit(work, stopwatch.around({}, true, true)));
        const auto seconds = stopwatch.seconds();
        if (i >= 0 && seconds && *seconds > 0) {  // the first two warm up
            rates.push_back(invocations * shared::rate_samples / *seconds);
        }
    }
    return rates;
}

}  // namespace echolux
