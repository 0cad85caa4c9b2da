#include "render/resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "render/picture.h"
#include "render/raycast_frame.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eStorageImage,
                                   vk::DescriptorType::eCombinedImageSampler};

constexpr std::array<std::int32_t, 3> as_it_is{0, 0, 0}, enlarged{1, 0, 0}, toned{0, 1, 0},
    faded{0, 0, 1};  // values: enlarges, tones, fades

gpu::Bindings create_bindings(const gpu::Device& device) {
    return {device, binding_types, sizeof(shared::ResolvePart)};
}

vk::raii::Pipeline pipeline_for(const gpu::Device& device, const gpu::Bindings& bindings,
                                std::span<const std::int32_t> constants) {
    return gpu::compute_pipeline(device, bindings, spirv::resolve, constants);
}

shared::ResolvePart resolve_part(double pitch, std::int64_t width, std::int64_t height) {
    // Same rounding as in Shot.
    const auto rays = [&](std::int64_t pixels) {
        return static_cast<float>(std::ceil(static_cast<double>(pixels) / pitch));
    };
    return {.rays_per_pixel = static_cast<float>(1 / pitch),
            .columns = rays(width),
            .rows = rays(height),
            .share = 0,
            .toning = {}};
}

}  // namespace

ResolvedPictures::Frame::Frame(const gpu::Device& device) : bindings(create_bindings(device)), annotations(device) {}

ResolvedPictures::ResolvedPictures(const gpu::Device& device) {
    for (std::size_t i = 0; i < pictures_in_flight; ++i) frames_.push_back(std::make_unique<Frame>(device));
}

bool ResolvedPictures::holds(const ResolvedPicture& picture) const {
    return std::ranges::any_of(frames_, [&](const auto& frame) {
        return frame->picture && &*frame->picture == picture.image && frame->value == picture.value;
    });
}

Resolver::Resolver(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), sampler_(gpu::linear_sampler(device)), annotator_(device),
      bindings_(create_bindings(device)), as_it_is_(pipeline_for(device, bindings_, as_it_is)),
      enlarged_(pipeline_for(device, bindings_, enlarged)), toned_(pipeline_for(device, bindings_, toned)),
      faded_(pipeline_for(device, bindings_, faded)) {}

std::optional<shared::ToningFrame> toning_of(const Shot& shot) {
    if (!is_traced(shot)) return {};
    const std::vector<double>& colour = shot.view.background;
    const std::vector<double>& lower = lower_background(shot.view);
    return shared::ToningFrame{
        .tone = tone_of(shot.view),
        .background = glm::vec4(glm::dvec4(colour[0], colour[1], colour[2], shot.view.transparent ? 0 : 1)),
        .first_ray = {},
        .rows_above = 0,
        .padding = {},
        .lower_background = glm::vec3(glm::dvec3(lower[0], lower[1], lower[2])),
        .per_height = static_cast<float>(1.0 / static_cast<double>(shot.view.height))};
}

Resolver::Frame& Resolver::prepared_frame(ResolvedPictures& pictures, const Region& region, PictureDepth depth) {
    Frame& frame = *pictures.frames_[pictures.next_];
    pictures.next_ = (pictures.next_ + 1) % pictures.frames_.size();
    queue_.wait(frame.value);
    const vk::Extent3D extent{static_cast<std::uint32_t>(region.width), static_cast<std::uint32_t>(region.height), 1};
    const vk::Format format =
        depth == PictureDepth::floats ? vk::Format::eR32G32B32A32Sfloat : vk::Format::eR8G8B8A8Unorm;
    if (!frame.picture || frame.picture->shape().extent != extent || frame.picture->shape().format != format) {
        const gpu::ImageShape shape{.format = format,
                                    .extent = extent,
                                    .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled |
                                             vk::ImageUsageFlagBits::eTransferSrc};
        queue_.wait_for_all();  // pending work may read the old picture
        frame.picture.reset();
        frame.picture.emplace(device_, shape, fmt::format("picture of {} x {} pixels", region.width, region.height));
        frame.is_fresh = true;
    }
    frame.bindings.set_image(shared::binding_resolve_picture, frame.picture->view());
    return frame;
}

ResolvedPicture Resolver::resolve(ResolvedPictures& pictures, const AccumulationBuffer& accumulation, double pitch,
                                  const Region& region, const Sheet& sheet, PictureDepth depth,
                                  const std::optional<shared::ToningFrame>& toning, const gpu::DeviceImage* filtered) {
    Frame& frame = prepared_frame(pictures, region, depth);
    const gpu::DeviceImage& mean = filtered != nullptr ? *filtered : accumulation.mean;
    const gpu::DeviceImage& drawn = accumulation.features ? accumulation.features->drawn : mean;
    frame.bindings.set_image(shared::binding_resolve_accumulation, mean.view(), *sampler_);
    frame.bindings.set_image(shared::binding_resolve_drawn, drawn.view(), *sampler_);
    annotator_.prepare(frame.annotations, sheet, region, *frame.picture);
    const vk::raii::Pipeline& shader = toning ? toned_ : pitch == 1 ? as_it_is_ : enlarged_;
    shared::ResolvePart part = resolve_part(pitch, region.width, region.height);
    if (toning) part.toning = *toning;
    part.toning.rows_above = static_cast<float>(region.top);
    return submit(frame, [&](const vk::raii::CommandBuffer& commands) {
        record(commands, frame, shader, part);
        annotator_.record(commands, frame.annotations);
    });
}

ResolvedPicture Resolver::fade(ResolvedPictures& pictures, const gpu::DeviceImage& from, const gpu::DeviceImage& to,
                               double share) {
    const vk::Extent3D pixels = from.shape().extent;
    Frame& frame = prepared_frame(pictures, {0, 0, pixels.width, pixels.height}, PictureDepth::codes);
    frame.bindings.set_image(shared::binding_resolve_accumulation, from.view(), *sampler_);
    frame.bindings.set_image(shared::binding_resolve_drawn, to.view(), *sampler_);
    shared::ResolvePart part = resolve_part(1, pixels.width, pixels.height);
    part.share = static_cast<float>(share);
    return submit(frame, [&](const vk::raii::CommandBuffer& commands) { record(commands, frame, faded_, part); });
}

void Resolver::record(const vk::raii::CommandBuffer& commands, const Frame& frame, const vk::raii::Pipeline& shader,
                      const shared::ResolvePart& part) {
    constexpr std::uint32_t group = shared::resolve_group;
    gpu::record_push(commands, frame.bindings, part);
    gpu::record_dispatch(commands, frame.bindings, shader,
                         gpu::groups_of(frame.picture->shape().extent, {group, group, 1}));
}

ResolvedPicture Resolver::submit(Frame& frame, const gpu::Recording& record) {
    frame.value = queue_.submit([&](const vk::raii::CommandBuffer& commands) {
        if (frame.is_fresh) frame.picture->record_first_use(commands);
        record(commands);
    });
    frame.is_fresh = false;
    return {&*frame.picture, frame.value};
}

}  // namespace echolux
