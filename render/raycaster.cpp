#include "render/raycaster.h"

#include <fmt/format.h>
#include <algorithm>

#include <cstring>
#include <numbers>

#include "render/pictures_under_way.h"
#include "render/raycast_frame.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array<vk::DescriptorType, shared::binding_count> binding_types = [] {
    using enum vk::DescriptorType;
    std::array<vk::DescriptorType, shared::binding_count> types{};
    types.fill(eSampledImage);
    types[shared::binding_frame] = eUniformBuffer;
    types[shared::binding_picture] = eStorageImage;
    types[shared::binding_measures] = eStorageImage;
    types[shared::binding_cells_target] = eStorageImage;
    types[shared::binding_light_target] = eStorageImage;
    for (const int i : {shared::binding_volume, shared::binding_previous, shared::binding_flow, shared::binding_heights,
                        shared::binding_light_volume, shared::binding_cells}) {
        types[static_cast<std::size_t>(i)] = eCombinedImageSampler;
    }
    return types;
}();

constexpr std::size_t table_bytes = shared::transfer_entries * sizeof(float);

// Two tables of 32-bit formats: software Vulkan fetches wider ones pixel by pixel.
gpu::ImageShape table_shape(vk::Format format) {
    return {vk::ImageType::e1D,
            format,
            {shared::transfer_entries, 1, 1},
            vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst};
}

gpu::ImageShape absent_shape(vk::ImageType type) {
    return {.type = type,
            .extent = {1, 1, 1},
            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage};
}

gpu::ImageShape output_shape(const Shot& shot) {
    const bool measures = shot.output == RayOutput::measures;
    const std::int64_t width = shot.region.width * (measures ? shared::measure_pixels : 1);
    return {.type = vk::ImageType::e2D,
            .format = measures ? vk::Format::eR32G32B32A32Sfloat : vk::Format::eR8G8B8A8Unorm,
            .extent = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(shot.region.height), 1},
            .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc};
}

vk::raii::Sampler made_sampler(const gpu::Device& device) {
    return {device.logical(), vk::SamplerCreateInfo{.magFilter = vk::Filter::eLinear,
                                                    .minFilter = vk::Filter::eLinear,
                                                    .addressModeU = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeV = vk::SamplerAddressMode::eClampToEdge,
                                                    .addressModeW = vk::SamplerAddressMode::eClampToEdge}};
}

int rolling_constant(const Scene& scene) {
    if (!scene.is_partial()) return shared::rolling_off;
    return scene.previous != nullptr ? shared::rolling_over : shared::rolling_first;
}

// The largest extinction of the table of which a longer step of a thin run absorbs less than 1 %.
float thin_extinction(const shared::RaycastFrame& frame) {
    constexpr float most_absorbed = 0.01F;
    const float step = frame.picture.z * frame.run.y;
    return most_absorbed / (std::numbers::ln2_v<float> * std::max(frame.lookup.z * step, 1e-30F));
}

std::uint32_t groups(std::int64_t pixels, int of) {
    return static_cast<std::uint32_t>((pixels + of - 1) / of);
}

}  // namespace

Raycaster::Frame::Frame(const gpu::Device& device)
    : bindings(device, binding_types),
      uniforms(device, sizeof(shared::RaycastFrame), vk::BufferUsageFlagBits::eUniformBuffer),
      table(device, 3 * table_bytes, vk::BufferUsageFlagBits::eTransferSrc), classifier(device),
      previous_classifier(device) {
    bindings.set_buffer(shared::binding_frame, uniforms.handle());
}

Raycaster::StandIns::StandIns(const gpu::Device& device)
    : line(device, absent_shape(vk::ImageType::e1D), "stand-in texture"),
      plane(device, absent_shape(vk::ImageType::e2D), "stand-in texture"),
      cube(device, absent_shape(vk::ImageType::e3D), "stand-in texture") {}

Raycaster::Raycaster(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), sampler_(made_sampler(device)),
      extinctions_(device, table_shape(vk::Format::eR32Sfloat), "transfer function"),
      colours_(device, table_shape(vk::Format::eR8G8B8A8Unorm), "transfer function"),
      limits_(device, table_shape(vk::Format::eR32Uint), "transfer function"), absent_(device),
      light_volume_(device, queue) {
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        for (const gpu::DeviceImage* image :
             {&extinctions_, &colours_, &limits_, &absent_.line, &absent_.plane, &absent_.cube}) {
            image->record_first_use(commands);
        }
    });
    for (std::size_t i = 0; i < pictures_under_way; ++i) {
        frames_.push_back(std::make_unique<Frame>(device));
        frames_.back()->bindings.set_image(shared::binding_extinctions, extinctions_.view());
        frames_.back()->bindings.set_image(shared::binding_colours, colours_.view());
        bind_absent(*frames_.back());
    }
}

void Raycaster::bind_absent(Frame& frame) {
    gpu::Bindings& bindings = frame.bindings;
    bindings.set_image(shared::binding_flow, absent_.cube.view(), *sampler_);
    bindings.set_image(shared::binding_flow_bricks, absent_.cube.view());
    bindings.set_image(shared::binding_flow_colours, absent_.line.view());
    bindings.set_image(shared::binding_heights, absent_.plane.view(), *sampler_);
    bindings.set_image(shared::binding_light_volume, absent_.cube.view(), *sampler_);
    bindings.set_image(shared::binding_cells, absent_.cube.view(), *sampler_);
    bindings.set_image(shared::binding_cells_target, absent_.cube.view());
    bindings.set_image(shared::binding_light_target, absent_.cube.view());
    bindings.set_image(shared::binding_noise, absent_.plane.view());
}

RaycastConstants Raycaster::constants_for(const Shot& shot) {
    const View& view = shot.view;
    RaycastConstants constants{};
    constants[shared::constant_mode] = static_cast<int>(view.mode);
    constants[shared::constant_lit] = view.lighting ? 1 : 0;
    constants[shared::constant_box] = view.box ? 1 : 0;
    constants[shared::constant_output] =
        shot.output == RayOutput::measures ? shared::output_measures : shared::output_colour;
    constants[shared::constant_rolling] = rolling_constant(shot.scene);
    constants[shared::constant_light_volume] = wants_light_volume(view) ? 1 : 0;
    constants[shared::constant_paged] = shot.scene.pages != nullptr ? 1 : 0;
    constants[shared::constant_skip] = view.skip_empty ? 1 : 0;
    return constants;
}

const vk::raii::Pipeline& Raycaster::pipeline(const RaycastConstants& constants) {
    const auto found = pipelines_.find(constants);
    if (found != pipelines_.end()) return found->second;
    const gpu::Bindings& bindings = frames_.front()->bindings;  // all are alike
    return pipelines_.emplace(constants, gpu::compute_pipeline(device_, bindings, spirv::raycast, constants))
        .first->second;
}

// The output that is not wanted is bound too: to nothing that matters.
void Raycaster::prepare_output(Frame& frame, const Shot& shot) {
    const gpu::ImageShape shape = output_shape(shot);
    const bool fits =
        frame.picture && frame.picture->shape().format == shape.format && frame.picture->shape().extent == shape.extent;
    if (fits) return;
    frame.picture.reset();
    frame.picture.emplace(device_, shape,
                          fmt::format("picture of {} x {} pixels", shot.region.width, shot.region.height));
    frame.is_fresh = true;
    const bool measures = shot.output == RayOutput::measures;
    frame.bindings.set_image(shared::binding_picture, measures ? absent_.plane.view() : frame.picture->view());
    frame.bindings.set_image(shared::binding_measures, measures ? frame.picture->view() : absent_.plane.view());
}

void Raycaster::bind(Frame& frame, const Shot& shot) {
    const Scene& scene = shot.scene;
    const VolumeTexture& behind = scene.previous != nullptr ? *scene.previous : scene.volume;
    gpu::Bindings& bindings = frame.bindings;
    bindings.set_image(shared::binding_volume, scene.volume.image().view(), *sampler_);
    bindings.set_image(shared::binding_bricks, scene.volume.bricks().ranges().view());
    bindings.set_image(shared::binding_classes, scene.volume.bricks().classes().view());
    bindings.set_image(shared::binding_previous, behind.image().view(), *sampler_);
    bindings.set_image(shared::binding_previous_bricks, behind.bricks().ranges().view());
    bindings.set_image(shared::binding_previous_classes, behind.bricks().classes().view());
    bindings.set_image(shared::binding_pages,
                       scene.pages != nullptr ? scene.pages->table().view() : absent_.cube.view());
    frame.classifier.bind(scene.volume.bricks(), limits_.view());
    frame.previous_classifier.bind(behind.bricks(), limits_.view());
    if (wants_light_volume(shot.view)) light_volume_.bind(bindings, light_sources(frame, shot));
}

LightSources Raycaster::light_sources(const Frame& frame, const Shot& shot) const {
    return {shot.scene, shot.view, frame.facts, frame.extinctions, frame.constants};
}

void Raycaster::fill_tables(Frame& frame, const Shot& shot) {
    const VolumeTexture& volume = shot.scene.volume;
    const TransferFunction function = transfer_function(shot.view, volume.grid(), volume.range(shot.view.range));
    frame.facts = raycast_frame(shot, function);
    const TransferTable table = transfer_table(function, shared::transfer_entries);
    frame.extinctions = table.extinctions;
    const std::vector<std::uint32_t> limits = class_limits(table.extinctions, thin_extinction(frame.facts));
    std::byte* bytes = frame.table.bytes().data();
    std::memcpy(frame.uniforms.bytes().data(), &frame.facts, sizeof frame.facts);
    std::memcpy(bytes, table.extinctions.data(), table_bytes);
    std::memcpy(bytes + table_bytes, table.colours.data(), table_bytes);
    std::memcpy(bytes + 2 * table_bytes, limits.data(), table_bytes);
}

Raycaster::Frame& Raycaster::prepared_frame(const Shot& shot) {
    Frame& frame = *frames_[next_frame_];
    next_frame_ = (next_frame_ + 1) % frames_.size();
    queue_.wait(frame.value);
    frame.constants = constants_for(shot);
    pipeline(frame.constants);  // nobody waits for a compiler while work is recorded
    fill_tables(frame, shot);
    prepare_output(frame, shot);
    bind(frame, shot);
    return frame;
}

void Raycaster::record_inputs(const vk::raii::CommandBuffer& commands, Frame& frame, const Shot& shot) {
    if (frame.is_fresh) frame.picture->record_first_use(commands);
    frame.is_fresh = false;
    extinctions_.record_copy_from(commands, frame.table.handle(), 0);
    colours_.record_copy_from(commands, frame.table.handle(), table_bytes);
    limits_.record_copy_from(commands, frame.table.handle(), 2 * table_bytes);
    gpu::record_order(commands);
    frame.classifier.record(commands, frame.facts.lookup.x, frame.facts.lookup.y);
    if (shot.scene.previous != nullptr) {
        frame.previous_classifier.record(commands, frame.facts.lookup.x, frame.facts.lookup.y);
    }
    gpu::record_order(commands);
}

void Raycaster::record(const vk::raii::CommandBuffer& commands, Frame& frame, const Shot& shot) {
    record_inputs(commands, frame, shot);
    const gpu::Bindings& bindings = frame.bindings;
    if (wants_light_volume(shot.view)) light_volume_.record(commands, bindings, light_sources(frame, shot));
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline(frame.constants));
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
    commands.dispatch(groups(shot.region.width, shared::group_width), groups(shot.region.height, shared::group_height),
                      1);
}

bool Raycaster::holds(const CastPicture& picture) const {
    return std::ranges::any_of(frames_, [&](const auto& frame) {
        return frame->picture && &*frame->picture == picture.image && frame->value == picture.value;
    });
}

CastPicture Raycaster::cast(const Shot& shot, const gpu::Chain& chain) {
    Frame& frame = prepared_frame(shot);
    try {
        frame.value =
            queue_.submit([&](const vk::raii::CommandBuffer& commands) { record(commands, frame, shot); }, chain);
    } catch (...) {
        light_volume_.forget();
        throw;
    }
    return {&*frame.picture, frame.value};
}

}  // namespace echolux
