// Resource bindings of a picture: volumes, bricks, tables, light, and placeholders for unused ones.
#include <algorithm>

#include "render/flow_colours.h"
#include "render/frame/parts.h"
#include "render/raycast_constants.h"
#include "render/raycaster.h"

namespace echolux {

void Raycaster::bind_no_light(gpu::Bindings& bindings) {
    bindings.set_image(shared::binding_light_volume, absent_.cube.view(), *sampler_);
    bindings.set_image(shared::binding_cells, absent_.cube.view(), *sampler_);
    bindings.set_image(shared::binding_cells_target, absent_.cube.view());
    bindings.set_image(shared::binding_light_target, absent_.cube.view());
}

void Raycaster::bind_no_majorants(gpu::Bindings& bindings) {
    for (const int binding : {shared::binding_majorants, shared::binding_majorants_target,
                              shared::binding_majorant_ranges, shared::binding_majorant_ranges_target}) {
        bindings.set_image(static_cast<std::uint32_t>(binding), absent_.cube.view());
    }
    bindings.set_buffer(shared::binding_extinction_peaks, entries_.handle());
}

void Raycaster::bind_features(gpu::Bindings& bindings, const PathFeatures* features) {
    const auto bind = [&](std::uint32_t binding, const gpu::DeviceImage PathFeatures::*image) {
        bindings.set_image(binding, (features != nullptr ? features->*image : absent_.floats).view());
    };
    bind(shared::binding_path_albedo, &PathFeatures::albedo);
    bind(shared::binding_path_normals, &PathFeatures::normals);
    bind(shared::binding_path_squares, &PathFeatures::squares);
    bind(shared::binding_path_drawn, &PathFeatures::drawn);
}

void Raycaster::bind_absent(Frame& frame) {
    gpu::Bindings& bindings = frame.bindings;
    bindings.set_image(shared::binding_noise, noise_.view());
    bind_no_light(bindings);
    bind_no_majorants(bindings);
    bindings.set_buffer(shared::binding_sky, entries_.handle());
}

void Raycaster::bind_flow(gpu::Bindings& bindings, const VolumeTexture* flow, std::uint32_t texture,
                          std::uint32_t bricks) {
    bindings.set_image(texture, (flow != nullptr ? flow->image() : absent_.cube).view(), *sampler_);
    bindings.set_image(bricks, (flow != nullptr ? flow->bricks().ranges() : absent_.cube).view());
}

const gpu::DeviceImage& Raycaster::flow_colours_of(const Shot& shot) {
    const std::string name = shot.scene.flow != nullptr ? shot.view.flow_colour_map : FlowOverlay{}.flow_colour_map;
    const auto found = flow_colours_.find(name);
    return found != flow_colours_.end()
               ? found->second
               : flow_colours_.emplace(name, flow_colours(device_, queue_, name)).first->second;
}

// Each frame has its own staging buffer, because earlier pictures may be in flight.
void Raycaster::stage_channels(Frame& frame, const Shot& shot) {
    frame.channel_tables = channel_tables(shot);
    if (frame.channel_tables.empty()) return;
    if (!frame.channel_staging)
        frame.channel_staging.emplace(device_, channel_tables_bytes, vk::BufferUsageFlagBits::eTransferSrc);
    if (!channel_entries_)
        channel_entries_.emplace(device_, channel_tables_bytes, vk::BufferUsageFlagBits::eStorageBuffer);
    std::ranges::copy(frame.channel_tables, frame.channel_staging->bytes().begin());
}

void Raycaster::bind_channels(gpu::Bindings& bindings, const Scene& scene) {
    for (std::uint32_t c = 0; c < shared::max_channels; ++c) {
        const VolumeTexture* channel = c < scene.channels.size() ? scene.channels[c].texture : nullptr;
        bind_flow(bindings, channel, shared::binding_channel_volumes + c, shared::binding_channel_bricks + c);
    }
    bindings.set_buffer(shared::binding_channel_entries,
                        channel_entries_ ? channel_entries_->handle() : entries_.handle());
}

void Raycaster::bind(Frame& frame, const Shot& shot) {
    const Scene& scene = shot.scene;
    const VolumeTexture& behind = scene.previous != nullptr ? *scene.previous : scene.volume;
    gpu::Bindings& bindings = frame.bindings;
    bindings.set_image(shared::binding_volume, scene.volume.image().view(), *sampler_);
    bindings.set_image(shared::binding_bricks, scene.volume.bricks().ranges().view());
    bindings.set_image(shared::binding_classes, scene.volume.bricks().classes().view());
    bindings.set_image(shared::binding_flow_colours, flow_colours_of(shot).view());
    const VolumeTexture* flow_behind = scene.previous_flow != nullptr ? scene.previous_flow : scene.flow;
    bind_flow(bindings, scene.flow, shared::binding_flow, shared::binding_flow_bricks);
    bind_flow(bindings, flow_behind, shared::binding_previous_flow, shared::binding_previous_flow_bricks);
    bind_channels(bindings, scene);
    bindings.set_image(shared::binding_heights, (scene.heights != nullptr ? *scene.heights : absent_.plane).view(),
                       *sampler_);
    bindings.set_image(shared::binding_previous, behind.image().view(), *sampler_);
    bindings.set_image(shared::binding_previous_bricks, behind.bricks().ranges().view());
    bindings.set_image(shared::binding_previous_classes, behind.bricks().classes().view());
    bindings.set_image(shared::binding_pages,
                       scene.pages != nullptr ? scene.pages->table().view() : absent_.cube.view());
    bindings.set_buffer(shared::binding_curve_tables,
                        frame.tables != nullptr ? frame.tables->buffer.handle() : entries_.handle());
    frame.classes.bind(scene.volume.bricks(), limits_.view());
    frame.previous_classes.bind(behind.bricks(), limits_.view());
    if (has_cells(frame.constants)) {
        light_volume_.bind(bindings, light_sources(frame, shot));
    } else {
        bind_no_light(bindings);  // earlier bindings may refer to freed resources
    }
    if ((frame.constants[shared::constant_studio] & shared::studio_sky) != 0)
        sky_.bind(bindings, shot.view.sky_read);
    else
        bindings.set_buffer(shared::binding_sky, entries_.handle());  // earlier bindings may refer to freed resources
    if (is_traced(shot)) {
        majorants_.bind(bindings, light_sources(frame, shot));
    } else {
        bind_no_majorants(bindings);
    }
}

LightSources Raycaster::light_sources(const Frame& frame, const Shot& shot) const {
    return {shot.scene, shot.view, frame.facts, frame.extinctions, frame.constants, frame.channel_tables};
}

}  // namespace echolux
