#include "render/raycaster.h"

#include <fmt/format.h>
#include <algorithm>

#include <cstring>

#include "render/pictures_under_way.h"
#include "render/raycast_frame.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::int64_t band_rows = 64;  // between two questions whether to go on

constexpr std::array binding_types{vk::DescriptorType::eUniformBuffer,        vk::DescriptorType::eCombinedImageSampler,
                                   vk::DescriptorType::eSampledImage,         vk::DescriptorType::eSampledImage,
                                   vk::DescriptorType::eStorageImage,         vk::DescriptorType::eSampledImage,
                                   vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eSampledImage};

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

int rolling_constant(const Scene& scene) {
    if (!scene.is_partial()) return shared::rolling_off;
    return scene.previous != nullptr ? shared::rolling_over : shared::rolling_first;
}

std::array<std::int32_t, 5> constants_for(const Scene& scene, const View& view, RayOutput output) {
    std::array<std::int32_t, 5> constants{};
    constants[shared::constant_mode] = mode_constant(view.mode);
    constants[shared::constant_lit] = view.lighting ? 1 : 0;
    constants[shared::constant_box] = view.box ? 1 : 0;
    constants[shared::constant_measure] = output == RayOutput::measures ? 1 : 0;
    constants[shared::constant_rolling] = rolling_constant(scene);
    return constants;
}

std::uint32_t groups(std::int64_t pixels, int of) {
    return static_cast<std::uint32_t>((pixels + of - 1) / of);
}

}  // namespace

Raycaster::Frame::Frame(const gpu::Device& device)
    : bindings(device, binding_types),
      uniforms(device, sizeof(shared::RaycastFrame), vk::BufferUsageFlagBits::eUniformBuffer),
      table(device, 2 * table_bytes, vk::BufferUsageFlagBits::eTransferSrc) {
    bindings.set_buffer(shared::binding_frame, uniforms.handle());
}

Raycaster::Raycaster(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), sampler_(made_sampler(device)),
      extinctions_(device, table_shape(vk::Format::eR32Sfloat), "transfer function"),
      colours_(device, table_shape(vk::Format::eR8G8B8A8Unorm), "transfer function") {
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        extinctions_.record_first_use(commands);
        colours_.record_first_use(commands);
    });
    for (std::size_t i = 0; i < pictures_under_way; ++i) {
        frames_.push_back(std::make_unique<Frame>(device));
        frames_.back()->bindings.set_image(shared::binding_extinctions, extinctions_.view());
        frames_.back()->bindings.set_image(shared::binding_colours, colours_.view());
    }
}

const vk::raii::Pipeline& Raycaster::pipeline(const Constants& constants) {
    const auto found = pipelines_.find(constants);
    if (found != pipelines_.end()) return found->second;
    const gpu::Bindings& bindings = frames_.front()->bindings;  // all are alike
    return pipelines_.emplace(constants, gpu::compute_pipeline(device_, bindings, spirv::raycast, constants))
        .first->second;
}

void Raycaster::prepare_picture(Frame& frame, const View& view, RayOutput output) {
    const vk::Format format =
        output == RayOutput::colour ? vk::Format::eR8G8B8A8Unorm : vk::Format::eR32G32B32A32Sfloat;
    const vk::Extent3D extent{static_cast<std::uint32_t>(view.width), static_cast<std::uint32_t>(view.height), 1};
    std::optional<gpu::DeviceImage>& picture = frame.picture;
    if (picture && picture->shape().format == format && picture->shape().extent == extent) return;
    picture.reset();
    picture.emplace(device_,
                    gpu::ImageShape{.type = vk::ImageType::e2D,
                                    .format = format,
                                    .extent = extent,
                                    .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc},
                    fmt::format("picture of {} x {} pixels", view.width, view.height));
    frame.is_fresh = true;
    frame.bindings.set_image(shared::binding_picture, picture->view());
}

void Raycaster::bind(Frame& frame, const Scene& scene) {
    const VolumeTexture& behind = scene.previous != nullptr ? *scene.previous : scene.volume;
    frame.bindings.set_image(shared::binding_volume, scene.volume.image().view(), *sampler_);
    frame.bindings.set_image(shared::binding_brick_maxima, scene.volume.bricks().maxima().view());
    frame.bindings.set_image(shared::binding_previous, behind.image().view(), *sampler_);
    frame.bindings.set_image(shared::binding_previous_maxima, behind.bricks().maxima().view());
}

Raycaster::Frame& Raycaster::prepared_frame(const Scene& scene, const View& view, RayOutput output) {
    Frame& frame = *frames_[next_frame_];
    next_frame_ = (next_frame_ + 1) % frames_.size();
    queue_.wait(frame.value);
    const TransferFunction function = transfer_function(view, scene.volume.grid(), scene.volume.range());
    const shared::RaycastFrame facts = raycast_frame(scene, view, function);
    const TransferTable table = transfer_table(function, shared::transfer_entries);
    prepare_picture(frame, view, output);
    std::memcpy(frame.uniforms.bytes().data(), &facts, sizeof facts);
    std::memcpy(frame.table.bytes().data(), table.extinctions.data(), table_bytes);
    std::memcpy(frame.table.bytes().data() + table_bytes, table.colours.data(), table_bytes);
    bind(frame, scene);
    return frame;
}

void Raycaster::record_inputs(const vk::raii::CommandBuffer& commands, Frame& frame) {
    if (frame.is_fresh) frame.picture->record_first_use(commands);
    frame.is_fresh = false;
    extinctions_.record_copy_from(commands, frame.table.handle(), 0);
    colours_.record_copy_from(commands, frame.table.handle(), table_bytes);
    gpu::record_order(commands);
}

void Raycaster::record_rows(const vk::raii::CommandBuffer& commands, const Frame& frame,
                            const vk::raii::Pipeline& shader, const View& view, std::uint32_t first,
                            std::uint32_t count) {
    const gpu::Bindings& bindings = frame.bindings;
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *shader);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
    commands.dispatchBase(0, first, 0, groups(view.width, shared::group_width), count, 1);
}

bool Raycaster::holds(const CastPicture& picture) const {
    return std::ranges::any_of(frames_, [&](const auto& frame) {
        return frame->picture && &*frame->picture == picture.image && frame->value == picture.value;
    });
}

CastPicture Raycaster::cast(const Scene& scene, const View& view, RayOutput output, const gpu::Chain& chain) {
    const vk::raii::Pipeline& shader = pipeline(constants_for(scene, view, output));
    Frame& frame = prepared_frame(scene, view, output);
    const auto record = [&](const vk::raii::CommandBuffer& commands) {
        record_inputs(commands, frame);
        record_rows(commands, frame, shader, view, 0, groups(view.height, shared::group_height));
    };
    frame.value = queue_.submit(record, chain);
    return {&*frame.picture, frame.value};
}

CastPicture Raycaster::cast_in_bands(const Scene& scene, const View& view, RayOutput output, const BandDone& done) {
    const vk::raii::Pipeline& shader = pipeline(constants_for(scene, view, output));
    Frame& frame = prepared_frame(scene, view, output);
    frame.value = queue_.submit([&](const vk::raii::CommandBuffer& commands) { record_inputs(commands, frame); });
    const std::uint32_t rows = groups(view.height, shared::group_height);
    const std::uint32_t band = groups(band_rows, shared::group_height);
    for (std::uint32_t first = 0; first < rows; first += band) {
        const std::uint32_t count = std::min(band, rows - first);
        frame.value = queue_.submit(
            [&](const vk::raii::CommandBuffer& commands) { record_rows(commands, frame, shader, view, first, count); });
        queue_.wait(frame.value);
        const std::int64_t end =
            std::min<std::int64_t>(view.height, std::int64_t{first + count} * shared::group_height);
        done(end - std::int64_t{first} * shared::group_height);
    }
    return {&*frame.picture, frame.value};
}

}  // namespace echolux
