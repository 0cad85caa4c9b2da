#include "render/raycaster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <glm/geometric.hpp>
#include <numbers>
#include <span>

#include "compute/error.h"
#include "compute/indexing.h"
#include "render/annotations/annotations.h"
#include "render/camera.h"
#include "render/denoiser.h"
#include "render/picture.h"
#include "render/raycast_frame.h"
#include "render/scan_geometry.h"
#include "render/shader_tables.h"
#include "render/vk/pipeline.h"
#include "shaders/spirv.h"

namespace echolux {

// ---- Checks of a scene before rendering

namespace {

// Curves over the distance to a surface need a surface.
void check_second_axis(const Shot& shot) {
    const TransferCurve& curve = curve_of(shot.view, shot.scene.grid());
    if (!curve.plane || curve.plane->second != SecondAxis::distance || !shot.view.top_from.empty()) return;
    throw Error(ErrorCode::bad_setting, "the transfer function uses the distance to a surface, which is not set",
                "view.top_from", "name a surface, for example \"surface\", and let heights cut");
}

}  // namespace

// Throws Error{bad_setting} that names the unsuitable key.
static void check_scene(const Shot& shot) {
    if (shot.view.mode == ViewMode::traced && shot.scene.field != nullptr) {
        throw Error(ErrorCode::bad_setting, "B-scans shown as planes in space cannot be path traced", "view.mode",
                    "choose another mode, for example composite");
    }
    check_second_axis(shot);
    if (!has_height_maps(shot.view) || shot.scene.heights != nullptr) return;
    throw Error(ErrorCode::bad_setting, "no heights were set", "view.top_from, view.bottom_from",
                "set the maps before rendering, or use constant depths");
}

// ---- Raycaster

constexpr std::array<vk::DescriptorType, shared::binding_count> ray_binding_types = [] {
    using enum vk::DescriptorType;
    std::array<vk::DescriptorType, shared::binding_count> types{};
    types.fill(eSampledImage);
    types[shared::binding_frame] = eUniformBuffer;
    types[shared::binding_picture] = eStorageImage;
    types[shared::binding_measures] = eStorageImage;
    types[shared::binding_cells_target] = eStorageImage;
    types[shared::binding_light_target] = eStorageImage;
    types[shared::binding_majorants_target] = eStorageImage;
    types[shared::binding_majorant_ranges_target] = eStorageImage;
    for (int c = 0; c < shared::max_channels; ++c) {
        types[index(shared::binding_channel_volumes + c)] = eCombinedImageSampler;
    }
    for (const int i : {shared::binding_entries, shared::binding_extinction_peaks, shared::binding_channel_entries,
                        shared::binding_sky, shared::binding_curve_tables}) {
        types[index(i)] = eStorageBuffer;
    }
    for (const int i : {shared::binding_path_albedo, shared::binding_path_normals, shared::binding_path_squares,
                        shared::binding_path_drawn}) {
        types[index(i)] = eStorageImage;
    }
    for (const int i : {shared::binding_volume, shared::binding_previous, shared::binding_flow,
                        shared::binding_previous_flow, shared::binding_heights, shared::binding_light_volume,
                        shared::binding_cells, shared::binding_volume_min, shared::binding_volume_max}) {
        types[index(i)] = eCombinedImageSampler;
    }
    return types;
}();

// Drivers abort long submissions, and other users of the device must get their turn.
constexpr double longest_submission_s = 0.1;

constexpr std::size_t max_panes = 4;  // of a window, cast without waiting for each other

constexpr std::size_t table_bytes = shared::transfer_entries * sizeof(float);
constexpr std::size_t peaks_offset = 5 * table_bytes;

// Separate tables of 32-bit formats, because software Vulkan reads wider formats pixel by pixel.
static gpu::ImageShape table_shape(vk::Format format) {
    return {vk::ImageType::e1D,
            format,
            {shared::transfer_entries, 1, 1},
            vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst};
}

static gpu::ImageShape absent_shape(vk::ImageType type, vk::Format format = vk::Format::eR8G8B8A8Unorm) {
    return {.type = type,
            .format = format,
            .extent = {1, 1, 1},
            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eStorage};
}

// Measures need several pixels per ray.
static gpu::ImageShape output_shape(const Shot& shot) {
    const bool measures = shot.output == RayOutput::measures;
    const std::int64_t width = shot.region.width * (measures ? shared::measure_pixels : 1);
    return {.type = vk::ImageType::e2D,
            .format = measures ? vk::Format::eR32G32B32A32Sfloat : vk::Format::eR8G8B8A8Unorm,
            .extent = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(shot.region.height), 1},
            .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eTransferSrc};
}

// Returns the largest table extinction for which a long step absorbs less than 1 %.
static float thin_extinction(const shared::RaycastFrame& frame) {
    constexpr float max_absorbed = 0.01F;
    const float step = frame.step_length * frame.thin_stride;
    return max_absorbed / (std::numbers::ln2_v<float> * std::max(frame.lookup.bits * step, 1e-30F));
}

static gpu::ImageShape noise_shape() {
    return {.type = vk::ImageType::e2D,
            .format = vk::Format::eR32Sfloat,
            .extent = {shared::noise_edge, shared::noise_edge, 1},
            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst};
}

// Relative time per ray with shared lighting. The avoided gradients can take half of the time. Predicting too much is
// better than starting a full picture that misses its frame.
constexpr double share_lit_together = 0.5;

// Returns the number of rays times the max number of samples per ray, as if each were lit separately.
static double work_of(const Shot& shot, std::int64_t group_rows) {
    const VolumeGrid& grid = shot.scene.grid();
    const double step = shot.view.step * std::ranges::min(voxel_edges(grid));
    const double samples = std::max(1.0, glm::length(volume_extent(grid)) / step);
    const double share = lighting_of(shot) == shared::lighting_together ? share_lit_together : 1;
    return share * samples * static_cast<double>(shot.columns() * group_rows * shared::group_height);
}

Raycaster::Frame::Frame(const gpu::Device& device)
    : bindings(device, ray_binding_types),
      uniforms(device, sizeof(shared::RaycastFrame), vk::BufferUsageFlagBits::eUniformBuffer),
      table(device, peaks_offset + 2 * extinction_peaks_bytes, vk::BufferUsageFlagBits::eTransferSrc), classes(device),
      previous_classes(device), annotations(device), stopwatch(device) {
    bindings.set_buffer(shared::binding_frame, uniforms.handle());
}

Raycaster::Placeholders::Placeholders(const gpu::Device& device)
    : plane(device, absent_shape(vk::ImageType::e2D), "placeholder texture"),
      floats(device, absent_shape(vk::ImageType::e2D, vk::Format::eR32G32B32A32Sfloat), "placeholder texture"),
      cube(device, absent_shape(vk::ImageType::e3D), "placeholder texture") {}

Raycaster::Raycaster(const gpu::Device& device, gpu::Queue& queue)
    : device_(device), queue_(queue), programs_(device, queue), sampler_(gpu::linear_sampler(device)),
      extinctions_(device, table_shape(vk::Format::eR32Sfloat), "transfer function"),
      colours_(device, table_shape(vk::Format::eR8G8B8A8Unorm), "transfer function"),
      limits_(device, table_shape(vk::Format::eR32Uint), "transfer function"),
      entries_(device, 2 * table_bytes, vk::BufferUsageFlagBits::eStorageBuffer), absent_(device),
      noise_(device, noise_shape(), "blue noise"), classifier_(device), curve_tables_(device, queue),
      light_volume_(device, queue), majorants_(device, queue), sky_(device, queue), annotator_(device) {
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        for (const gpu::DeviceImage* image :
             {&extinctions_, &colours_, &limits_, &absent_.plane, &absent_.floats, &absent_.cube}) {
            image->record_first_use(commands);
        }
    });
    prepare_noise();
    make_frames(picture_frames_, pictures_in_flight);
    make_frames(accumulation_frames_, max_panes * pictures_in_flight);
}

void Raycaster::make_frames(Frames& frames, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        Frame& frame = *frames.all.emplace_back(std::make_unique<Frame>(device_));
        frame.bindings.set_image(shared::binding_extinctions, extinctions_.view());
        frame.bindings.set_image(shared::binding_colours, colours_.view());
        frame.bindings.set_buffer(shared::binding_entries, entries_.handle());
        bind_absent(frame);
    }
}

Pace& Raycaster::pace_of(const Shot& shot) {
    RaycastConstants constants = raycast_constants(shot, device_.is_software());
    int& lighting = constants[shared::constant_lighting];
    if (lighting == shared::lighting_together) lighting = shared::lighting_each;
    return paces_[constants];
}

// Adapts the pace to new paths. Empty regions are a thousand times faster than multiple scattering, so a new scene
// resets the pace. A new direction changes it less.
void Raycaster::reset_other_paces(const Shot& shot) {
    const bool is_first = shot.pass.number == 0 && shot.part.first == 0;
    if (!is_traced(shot) || !is_first) return;
    constexpr double from_another_side = 8;  // factor of the time that a turned view may take
    View turned = shot.view;
    static_cast<Pose&>(turned) = traced_view_;
    turned.frame = traced_view_.frame;
    const bool is_turned = !has_same_paths(traced_view_, shot.view);
    const bool is_other = traced_serials_ != shot.scene.serials || !has_same_paths(traced_view_, turned);
    if (!is_other && !is_turned) return;
    learn_paces();
    traced_view_ = shot.view;
    traced_serials_ = shot.scene.serials;
    for (auto& [constants, pace] : paces_) {
        if (constants[shared::constant_mode] != shared::mode_traced) continue;
        if (is_other)
            pace = Pace();
        else
            pace.doubt(from_another_side);
    }
}

void Raycaster::prepare_noise() {
    static const std::vector<float> numbers = blue_noise(shared::noise_edge);
    const gpu::HostBuffer staging(device_, numbers.size() * sizeof(float), vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(staging.bytes().data(), numbers.data(), staging.bytes().size());
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        noise_.record_first_use(commands);
        noise_.record_copy_from(commands, staging.handle(), 0);
    });
}

void Raycaster::prepare_picture(Frame& frame, const Shot& shot) {
    const gpu::ImageShape shape = output_shape(shot);
    const bool fits =
        frame.picture && frame.picture->shape().format == shape.format && frame.picture->shape().extent == shape.extent;
    if (fits) return;
    queue_.wait_for_all();  // pending work may read the old picture
    frame.picture.reset();
    frame.picture.emplace(device_, shape,
                          fmt::format("picture of {} x {} pixels", shot.region.width, shot.region.height));
    frame.is_fresh = true;
}

// Binds both outputs; the unused one is a placeholder.
void Raycaster::prepare_output(Frame& frame, const Shot& shot) {
    if (shot.pass.accumulation == nullptr) prepare_picture(frame, shot);
    if (is_traced(shot)) shot.pass.accumulation->prepare_features(device_);
    const vk::ImageView target =
        shot.pass.accumulation != nullptr ? shot.pass.accumulation->mean.view() : frame.picture->view();
    const bool colour = frame.constants[shared::constant_output] == shared::output_colour;
    frame.bindings.set_image(shared::binding_picture, colour ? target : absent_.plane.view());
    frame.bindings.set_image(shared::binding_measures, colour ? absent_.floats.view() : target);
    bind_features(frame.bindings, is_traced(shot) ? &*shot.pass.accumulation->features : nullptr);
}

void Raycaster::fill_tables(Frame& frame, const Shot& shot) {
    const VolumeTexture& volume = shot.scene.volume;
    TransferFunction function = transfer_function(shot.view, shot.scene.grid(), volume.range(shot.view.range));
    frame.facts = raycast_frame(shot, function);
    // In order on GPUs, because neighbouring rows share caches. Paths share little, and parts of their pictures should
    // take similar times.
    if (!device_.is_software() && !is_traced(shot)) frame.facts.row_stride = 1;
    if (is_traced(shot)) {
        const double roughness = shot.view.roughness;
        if (surface_.first != roughness) surface_ = {roughness, surface_albedo(roughness)};
        set_surface(frame.facts.trace, surface_.second);
        frame.facts.trace.known = known_of(shot, frame.constants);
    }
    const bool has_plane = frame.constants[shared::constant_second] != shared::second_off;
    if (!has_plane) function.plane.reset();  // modes that use the value only
    const bool has_tables = has_plane || frame.constants[shared::constant_roughness] != 0;
    frame.tables = has_tables ? &curve_tables_.of(function, has_plane) : nullptr;
    frame.facts.second = has_plane ? second_frame(shot, function, frame.tables->number) : shared::SecondFrame{};
    const TransferTable table = has_tables ? frame.tables->table : transfer_table(function, shared::transfer_entries);
    frame.extinctions = table.extinctions;
    const std::vector<std::uint32_t> limits = class_limits(table.extinctions, thin_extinction(frame.facts));
    std::byte* bytes = frame.table.bytes().data();
    std::memcpy(frame.uniforms.bytes().data(), &frame.facts, sizeof frame.facts);
    std::memcpy(bytes, table.extinctions.data(), table_bytes);
    std::memcpy(bytes + table_bytes, table.colours.data(), table_bytes);
    std::memcpy(bytes + 2 * table_bytes, limits.data(), table_bytes);
    for (std::size_t i = 0; i < shared::transfer_entries; ++i) {
        std::byte* entry = bytes + 3 * table_bytes + 8 * i;
        std::memcpy(entry, &table.extinctions[i], 4);
        std::memcpy(entry + 4, &table.colours[i], 4);
    }
    stage_channels(frame, shot);
    if (!is_traced(shot)) return;
    write_extinction_peaks(table.extinctions, frame.table.bytes().subspan(peaks_offset));
    write_extinction_dips(table.extinctions, frame.table.bytes().subspan(peaks_offset + extinction_peaks_bytes));
}

Raycaster::Frame& Raycaster::prepared_frame(const Shot& shot) {
    Frame& frame = (shot.pass.accumulation == nullptr ? picture_frames_ : accumulation_frames_).take();
    queue_.wait(frame.value);
    learn_paces();
    frame.constants = raycast_constants(shot, device_.is_software());
    programs_.of(frame.constants, frame.bindings);  // compiles now and not while recording
    fill_tables(frame, shot);
    prepare_output(frame, shot);
    bind(frame, shot);
    return frame;
}

void Raycaster::learn_paces() {
    learn_paces(picture_frames_);
    learn_paces(accumulation_frames_);
}

void Raycaster::learn_paces(const Frames& frames) {
    for (const auto& frame : frames.all) {
        if (frame->timed == nullptr || !queue_.is_done(frame->value)) continue;
        const std::optional<double> seconds = frame->stopwatch.seconds();
        const bool is_of_paths = frame->constants[shared::constant_mode] == shared::mode_traced;
        frame->timed->learn(frame->work, seconds, is_of_paths ? 0.25 : 0);
        frame->timed = nullptr;
        if (seconds) stats_.seconds += *seconds;
        if (seconds) ++stats_.timed;
    }
}

std::optional<double> Raycaster::expected_seconds(const Shot& shot) {
    learn_paces();
    const Pace& pace = pace_of(shot);
    if (!pace.is_known()) return {};
    return pace.seconds(work_of(shot, shot.group_rows()));
}

std::int64_t Raycaster::group_rows_within(double seconds, const Shot& shot) {
    reset_other_paces(shot);
    const double of_one = pace_of(shot).seconds(work_of(shot, 1));
    return static_cast<std::int64_t>(std::clamp(seconds / of_one, 1.0, 1e9));
}

// Accumulation buffers have no annotations; the resolved picture has.
void Raycaster::prepare_annotations(Frame& frame, const Shot& shot) {
    const bool draws = shot.output == RayOutput::colour && shot.pass.accumulation == nullptr;
    if (!draws) return frame.annotations.clear();
    annotator_.prepare(frame.annotations, sheet_of(shot), shot.region, *frame.picture);
}

void Raycaster::record_inputs(const vk::raii::CommandBuffer& commands, Frame& frame, const Shot& shot) {
    if (shot.pass.accumulation != nullptr) {
        if (shot.pass.accumulation->is_fresh) shot.pass.accumulation->record_first_use(commands);
    } else if (frame.is_fresh) {
        frame.picture->record_first_use(commands);
    }
    extinctions_.record_copy_from(commands, frame.table.handle(), 0);
    colours_.record_copy_from(commands, frame.table.handle(), table_bytes);
    limits_.record_copy_from(commands, frame.table.handle(), 2 * table_bytes);
    entries_.record_copy_from(commands, frame.table.handle(), 3 * table_bytes);
    if (!frame.channel_tables.empty()) channel_entries_->record_copy_from(commands, frame.channel_staging->handle(), 0);
    if (frame.tables != nullptr) frame.tables->record(commands);
    gpu::record_order(commands);
    if (is_traced(shot)) return;  // paths use majorants
    const auto classify = [&](const BrickClassifier::Work& classes) {
        classifier_.record(commands, classes, frame.facts.lookup.entry_scale, frame.facts.lookup.entry_offset);
    };
    classify(frame.classes);
    if (shot.scene.previous != nullptr) classify(frame.previous_classes);
    gpu::record_order(commands);
    if (has_cells(frame.constants)) light_volume_.record(commands, frame.bindings, light_sources(frame, shot));
}

void Raycaster::record_rays(const vk::raii::CommandBuffer& commands, const Frame& frame, const Shot& shot,
                            const GroupRows& rows) {
    const gpu::Bindings& bindings = frame.bindings;
    const std::int64_t columns = (shot.columns() + shared::group_width - 1) / shared::group_width;
    gpu::record_bind(commands, bindings, programs_.of(frame.constants, bindings));
    commands.dispatchBase(0, static_cast<std::uint32_t>(rows.first), 0, static_cast<std::uint32_t>(columns),
                          static_cast<std::uint32_t>(rows.end - rows.first), 1);
}

bool Raycaster::holds(const CastPicture& picture) const {
    return std::ranges::any_of(picture_frames_.all, [&](const auto& frame) {
        return frame->picture && &*frame->picture == picture.image && frame->value == picture.value;
    });
}

// Returns the recordings before the rays, which compute majorants for paths, and those of the rays.
std::vector<gpu::Recording> Raycaster::parts_of(Frame& frame, const Shot& shot) {
    std::vector<gpu::Recording> parts;
    if (is_traced(shot)) {
        parts = majorants_.steps(frame.bindings, light_sources(frame, shot), frame.table.handle(), peaks_offset);
    }
    const std::int64_t end = std::min(shot.part.end, shot.group_rows());
    const std::int64_t max_rows = group_rows_within(longest_submission_s, shot);
    frame.work = parts.empty() ? work_of(shot, end - shot.part.first) : 0;  // otherwise the time includes the majorants
    for (std::int64_t first = shot.part.first; first < end; first += max_rows) {
        parts.emplace_back([&, rows = GroupRows{first, std::min(first + max_rows, end)}](
                               const vk::raii::CommandBuffer& commands) { record_rays(commands, frame, shot, rows); });
    }
    return parts;
}

void Raycaster::submit_parts(Frame& frame, const Shot& shot, const gpu::Chain& chain) {
    const std::vector<gpu::Recording> parts = parts_of(frame, shot);
    for (const gpu::Recording& part : parts) {
        const bool begins = &part == &parts.front();
        const bool ends = &part == &parts.back();
        const auto record = [&](const vk::raii::CommandBuffer& commands) {
            if (begins) record_inputs(commands, frame, shot);
            part(commands);
            if (ends) annotator_.record(commands, frame.annotations);
        };
        frame.value = queue_.submit(record, frame.stopwatch.around(chain, begins, ends));
        (shot.pass.accumulation != nullptr ? shot.pass.accumulation->is_fresh : frame.is_fresh) = false;
    }
}

CastPicture Raycaster::cast(const Shot& shot, const gpu::Chain& chain) {
    check_scene(shot);
    reset_other_paces(shot);
    Frame& frame = prepared_frame(shot);
    prepare_annotations(frame, shot);
    try {
        submit_parts(frame, shot, chain);
    } catch (...) {
        curve_tables_.forget();
        light_volume_.forget();
        majorants_.forget();
        throw;
    }
    frame.timed = &pace_of(shot);
    const gpu::DeviceImage& image = shot.pass.accumulation != nullptr ? shot.pass.accumulation->mean : *frame.picture;
    return {&image, frame.value, &frame.stopwatch};
}

// ---- Resource bindings of a picture: volumes, bricks, tables, light, and placeholders for unused ones.

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
    scene.volume.bricks().bind_extremes(bindings, scene.volume.image().view());
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

// ---- Raycast programs

constexpr std::size_t max_programs = 32;

const vk::raii::Pipeline& RaycastPrograms::of(const RaycastConstants& constants, const gpu::Bindings& bindings) {
    const auto found = programs_.find(constants);
    if (found != programs_.end()) {
        found->second.used = ++used_;
        return found->second.pipeline;
    }
    if (programs_.size() >= max_programs) {
        queue_.wait_for_all();  // pending work may use it; compiling takes longer anyway
        programs_.erase(std::ranges::min_element(programs_, {}, [](const auto& entry) { return entry.second.used; }));
    }
    return programs_.emplace(constants, Program{made(constants, bindings), ++used_}).first->second.pipeline;
}

vk::raii::Pipeline RaycastPrograms::made(const RaycastConstants& constants, const gpu::Bindings& bindings) const {
    const bool is_traced = constants[shared::constant_mode] == shared::mode_traced;
    using Words = std::span<const std::uint32_t>;
    if (device_.is_software()) {
        // Software Vulkan compiles specialised code much faster, see render/vk/pipeline.h.
        const Words as_written = is_traced ? Words(spirv::trace_as_written) : Words(spirv::raycast_as_written);
        return gpu::compute_pipeline(device_, bindings, gpu::specialized(as_written, constants), {});
    }
    const Words shader = is_traced ? Words(spirv::trace) : Words(spirv::raycast);
    return gpu::compute_pipeline(device_, bindings, shader, constants);
}

// ---- Accumulation buffer

static gpu::DeviceImage means(const gpu::Device& device, vk::Extent3D rays, vk::Format format) {
    return {device,
            {.type = vk::ImageType::e2D,
             .format = format,
             .extent = rays,
             .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled |
                      vk::ImageUsageFlagBits::eTransferSrc},
            fmt::format("passes of a picture of {} x {} rays", rays.width, rays.height)};
}

PathFeatures::PathFeatures(const gpu::Device& device, vk::Extent3D rays)
    : albedo(means(device, rays, vk::Format::eR32G32B32A32Sfloat)),
      normals(means(device, rays, vk::Format::eR32G32B32A32Sfloat)),
      squares(means(device, rays, vk::Format::eR32G32Sfloat)),
      drawn(means(device, rays, vk::Format::eR32G32B32A32Sfloat)) {}

AccumulationBuffer::AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows)
    : mean(means(device, {static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows), 1},
                 vk::Format::eR32G32B32A32Sfloat)) {}

AccumulationBuffer::~AccumulationBuffer() = default;

void AccumulationBuffer::prepare_features(const gpu::Device& device) {
    if (features) return;
    features.emplace(device, mean.shape().extent);
    is_fresh = true;
}

void AccumulationBuffer::record_first_use(const vk::raii::CommandBuffer& commands) const {
    mean.record_first_use(commands);
    if (!features) return;
    for (const gpu::DeviceImage* image : {&features->albedo, &features->normals, &features->squares, &features->drawn})
        image->record_first_use(commands);
}

}  // namespace echolux
