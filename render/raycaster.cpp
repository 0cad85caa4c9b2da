#include "render/raycaster.h"

#include <fmt/format.h>
#include <algorithm>

#include <cstring>

#include "render/raycast_frame.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::int64_t band_rows = 64;  // between two questions whether to go on

constexpr std::array binding_types{vk::DescriptorType::eUniformBuffer, vk::DescriptorType::eCombinedImageSampler,
                                   vk::DescriptorType::eSampledImage,  vk::DescriptorType::eSampledImage,
                                   vk::DescriptorType::eStorageImage,  vk::DescriptorType::eSampledImage};

constexpr std::size_t table_bytes = shared::transfer_entries * sizeof(float);

// Two tables of 32-bit formats: software Vulkan fetches wider ones pixel by pixel.
gpu::ImageShape table_shape(vk::Format format) {
    return {vk::ImageType::e1D,
            format,
            {shared::transfer_entries, 1, 1},
            vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst};
}

vk::raii::Sampler made_sampler(const gpu::Device& device) {
    return {device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                    .minFilter = vk::Filter::eLinear,
                                                    .addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeV = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeW = vk::SamplerAddressMode::eClampToEdge}};
}

int mode_constant(ViewMode mode) {
    switch (mode) {
        case ViewMode::composite: return shared::mode_composite;
        case ViewMode::mip: return shared::mode_mip;
        case ViewMode::isosurface: return shared::mode_isosurface;
    }
    return shared::mode_composite;
}

std::uint32_t groups(std::int64_t pixels, int of) {
    return static_cast<std::uint32_t>((pixels + of - 1) / of);
}

}  // namespace

Raycaster::Raycaster(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), bindings_(device, binding_types), sampler_(made_sampler(device)),
      frame_(device, sizeof(shared::RaycastFrame), vk::BufferUsageFlagBits::eUniformBuffer),
      table_(device, 2 * table_bytes, vk::BufferUsageFlagBits::eTransferSrc),
      extinctions_(device, table_shape(vk::Format::eR32Sfloat), "transfer function"),
      colours_(device, table_shape(vk::Format::eR8G8B8A8Unorm), "transfer function") {
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        extinctions_.record_first_use(commands);
        colours_.record_first_use(commands);
    });
    bindings_.set_buffer(shared::binding_frame, frame_.handle());
    bindings_.set_image(shared::binding_extinctions, extinctions_.view());
    bindings_.set_image(shared::binding_colours, colours_.view());
}

const vk::raii::Pipeline& Raycaster::pipeline(const Constants& constants) {
    const auto found = pipelines_.find(constants);
    if (found != pipelines_.end()) return found->second;
    return pipelines_.emplace(constants, gpu::compute_pipeline(device_, bindings_, spirv::raycast, constants))
        .first->second;
}

void Raycaster::prepare_picture(const View& view, RayOutput output) {
    const vk::Format format =
        output == RayOutput::colour ? vk::Format::eR8G8B8A8Unorm : vk::Format::eR32G32B32A32Sfloat;
    const vk::Extent3D extent{static_cast<std::uint32_t>(view.width), static_cast<std::uint32_t>(view.height), 1};
    if (picture_ && picture_->shape().format == format && picture_->shape().extent == extent) return;
    picture_.reset();
    picture_.emplace(device_,
                     gpu::ImageShape{vk::ImageType::e2D, format, extent,
                                     vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc},
                     fmt::format("picture of {} x {} pixels", view.width, view.height));
    queue_.run([&](const vk::raii::CommandBuffer& commands) { picture_->record_first_use(commands); });
    bindings_.set_image(shared::binding_picture, picture_->view());
}

void Raycaster::write_table(const TransferFunction& function) {
    const TransferTable table = transfer_table(function, shared::transfer_entries);
    std::memcpy(table_.bytes().data(), table.extinctions.data(), table_bytes);
    std::memcpy(table_.bytes().data() + table_bytes, table.colours.data(), table_bytes);
}

const gpu::DeviceImage& Raycaster::cast(const VolumeTexture& volume, const gpu::DeviceImage& bricks, const View& view,
                                        RayOutput output, const BandDone& done) {
    const TransferFunction function = transfer_function(view, volume.grid(), volume.percentiles());
    prepare_picture(view, output);
    write_table(function);
    const shared::RaycastFrame frame = raycast_frame(volume, view, function);
    std::memcpy(frame_.bytes().data(), &frame, sizeof frame);
    bindings_.set_image(shared::binding_volume, volume.image().view(), *sampler_);
    bindings_.set_image(shared::binding_brick_maxima, bricks.view());

    Constants constants{};
    constants[shared::constant_mode] = mode_constant(view.mode);
    constants[shared::constant_lit] = view.lighting ? 1 : 0;
    constants[shared::constant_box] = view.box ? 1 : 0;
    constants[shared::constant_measure] = output == RayOutput::measures ? 1 : 0;
    const vk::raii::Pipeline& shader = pipeline(constants);
    queue_.submit([&](const vk::raii::CommandBuffer& commands) {
        extinctions_.record_copy_from(commands, table_.handle(), 0);
        colours_.record_copy_from(commands, table_.handle(), table_bytes);
        gpu::record_order(commands);
    });
    const std::uint32_t rows = groups(view.height, shared::group_height);
    const std::uint32_t band = done ? groups(band_rows, shared::group_height) : rows;
    for (std::uint32_t first = 0; first < rows; first += band) {
        const std::uint32_t count = std::min(band, rows - first);
        const std::uint64_t finished = queue_.submit([&](const vk::raii::CommandBuffer& commands) {
            commands.bindPipeline(vk::PipelineBindPoint::eCompute, *shader);
            commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings_.layout(), 0, bindings_.set(), {});
            commands.dispatchBase(0, first, 0, groups(view.width, shared::group_width), count, 1);
        });
        if (!done) continue;
        queue_.wait(finished);
        const std::int64_t end =
            std::min<std::int64_t>(view.height, std::int64_t{first + count} * shared::group_height);
        done(end - std::int64_t{first} * shared::group_height);
    }
    return *picture_;
}

}  // namespace echolux
