#include "render/slots/volume_texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "render/slots/voxel_source.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/texture_rate.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

std::string described(const VolumeGrid& grid) {
    return fmt::format("volume of {} x {} x {} voxels (depth x A-scans x B-scans)", grid.depth, grid.a_scans,
                       grid.b_scans);
}

vk::Format format_for(VoxelType type, bool software) {
    switch (type) {
        case VoxelType::u8: return software ? vk::Format::eR16Unorm : vk::Format::eR8Unorm;
        case VoxelType::u16: return vk::Format::eR16Unorm;
        case VoxelType::i16: return vk::Format::eR16Snorm;
        case VoxelType::f16: return vk::Format::eR16Sfloat;
        case VoxelType::f32: return vk::Format::eR32Sfloat;
        // software Vulkan filters this format with full precision
        case VoxelType::phasor8: return vk::Format::eR8G8Snorm;
        case VoxelType::complex64: break;
    }
    return vk::Format::eR32G32Sfloat;
}

// Returns the code of texture value 1.
double codes_of_one(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return 255;
        case VoxelType::u16: return 65535;
        case VoxelType::i16: return 32767;
        default: return 1;
    }
}

// A spacing of 0 means unknown and is valid.
void check_spacing(const VolumeGrid& grid) {
    constexpr std::array axes{"depth", "A-scans", "B-scans"};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const double spacing = grid.spacing_um[i];
        if (spacing >= 0 && std::isfinite(spacing)) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("the spacing along {} is {} um", axes[i], spacing), "volume",
                    "use a length above 0, or 0 if unknown");
    }
}

gpu::ImageShape pool_shape(const gpu::Device& device, const VolumeGrid& grid, const PageLayout& layout) {
    gpu::ImageShape shape = VolumeTexture::shape_for(device, grid);
    const auto edge = [&](std::size_t axis) {
        return static_cast<std::uint32_t>(layout.slots[axis] * layout.stored()[axis]);
    };
    shape.extent = vk::Extent3D{edge(0), edge(1), edge(2)};
    return shape;
}

}  // namespace

gpu::ImageShape VolumeTexture::shape_for(const gpu::Device& device, const VolumeGrid& grid, gpu::Sharing sharing) {
    if (!(grid.scale > 0) || !std::isfinite(grid.scale) || !std::isfinite(grid.offset)) {
        throw Error(ErrorCode::bad_setting, "the scale of values must be above 0, and scale and offset finite",
                    "volume");
    }
    check_spacing(grid);
    const auto edge = [&](std::int64_t length) {
        if (length < 1) throw Error(ErrorCode::bad_setting, "the " + described(grid) + " is empty", "volume");
        return static_cast<std::uint32_t>(std::min<std::int64_t>(length, UINT32_MAX));
    };
    gpu::ImageShape shape{.type = vk::ImageType::e3D,
                          .format = format_for(grid.type, device.is_software()),
                          .extent = {edge(grid.depth), edge(grid.a_scans), edge(grid.b_scans)},
                          .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst |
                                   vk::ImageUsageFlagBits::eTransferSrc,
                          .sharing = sharing};
    if (sharing == gpu::Sharing::none) return shape;
    shape.usage |= vk::ImageUsageFlagBits::eStorage;  // the other API writes it through a surface
    if (!gpu::can_export(device, shape)) {
        throw Error(ErrorCode::device,
                    fmt::format("{} cannot export 3-D textures of {}", device.name(), vk::to_string(shape.format)),
                    "renderer");
    }
    return shape;
}

bool is_phasor(const VolumeGrid& grid) {
    return grid.type == VoxelType::complex64 || grid.type == VoxelType::phasor8;
}

// The ray caster samples a single channel.
void check_structure(const VolumeGrid& grid) {
    if (!is_phasor(grid)) return;
    throw Error(ErrorCode::bad_setting, "complex voxels cannot be shown", "volume",
                "reconstruct with recipe.quantity=db, amplitude or intensity");
}

VolumeTexture::VolumeTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range,
                             gpu::Sharing sharing)
    : grid_(grid), range_(range), fixed_range_(range), scale_(grid.scale * codes_of_one(grid.type)),
      image_(device, shape_for(device, grid, sharing), described(grid)), bricks_(device, image_) {}

VolumeTexture::VolumeTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range,
                             const PageLayout& layout)
    : grid_(grid), range_(range), fixed_range_(range), scale_(grid.scale * codes_of_one(grid.type)),
      image_(device, pool_shape(device, grid, layout), "pool of pages of the " + described(grid)),
      bricks_(device, shape_for(device, grid).extent, layout.brick_edge) {}

void VolumeTexture::record_first_use(const vk::raii::CommandBuffer& commands) const {
    image_.record_first_use(commands);
    bricks_.record_first_use(commands);
}

void VolumeTexture::record_slices_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, std::int64_t first,
                                       std::int64_t end) const {
    const std::int64_t slice_bytes = grid_.depth * grid_.a_scans * image_.bytes_per_pixel();
    image_.record_copy_from(commands, buffer, static_cast<vk::DeviceSize>(first * slice_bytes),
                            static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first));
}

// ---- Upload

// Max size of the staging buffer.
constexpr std::int64_t upload_bytes = 64 << 20;

bool is_widened(const VolumeTexture& texture) {
    return texture.image().bytes_per_pixel() > bytes_of(texture.grid().type);
}

StoredCodes stored_codes(const VolumeTexture& texture) {
    return {texture.grid(), is_widened(texture), texture.range()};
}

void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const VoxelSource& source) {
    const VolumeGrid& grid = texture.grid();
    const StoredCodes storage = stored_codes(texture);
    const std::int64_t slice = grid.depth * grid.a_scans;
    const std::int64_t slice_bytes = slice * texture.image().bytes_per_pixel();
    const std::int64_t max_slices = std::clamp<std::int64_t>(upload_bytes / slice_bytes, 1, grid.b_scans);
    const gpu::HostBuffer staging(device, index(max_slices * slice_bytes), vk::BufferUsageFlagBits::eTransferSrc);
    std::vector<std::byte> codes(index(max_slices * slice * bytes_of(grid.type)));
    queue.run([&](const vk::raii::CommandBuffer& commands) { texture.record_first_use(commands); });
    for (std::int64_t b_scan = 0; b_scan < grid.b_scans; b_scan += max_slices) {
        const std::int64_t slices = std::min(max_slices, grid.b_scans - b_scan);
        source.read({{0, 0, b_scan}, {grid.depth, grid.a_scans, slices}}, codes.data());
        storage.store(codes.data(), slices * slice, staging.bytes().data());
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            texture.image().record_copy_from(commands, staging.handle(), 0, static_cast<std::uint32_t>(b_scan),
                                             static_cast<std::uint32_t>(slices));
        });
    }
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        builder.record(commands, texture.bricks(), {0, grid.b_scans}, BrickEnds::both);
    });
}

// ---- Flow texture

namespace {

// The caller's voxels, or a copy with zero flow for voxels that are not finite if there are any.
class Finite {
  public:
    Finite(const VolumeGrid& grid, const void* voxels) : voxels_(voxels) {
        const auto nothing = static_cast<float>(-grid.offset / grid.scale);
        const auto is_finite = [](float real) { return std::isfinite(real); };
        const auto is_half_finite = [](std::uint16_t half) { return (half & 0x7C00) != 0x7C00; };
        if (grid.type == VoxelType::f32) mend(grid.voxels(), nothing, is_finite);
        if (grid.type == VoxelType::complex64) mend(2 * grid.voxels(), 0.0F, is_finite);
        if (grid.type == VoxelType::f16) mend(grid.voxels(), std::uint16_t{0}, is_half_finite);
    }
    const void* voxels() const { return voxels_; }

  private:
    template <class Code, class IsFinite>
    void mend(std::int64_t count, Code nothing, const IsFinite& is_finite) {
        const std::span codes(static_cast<const Code*>(voxels_), index(count));
        if (std::ranges::all_of(codes, is_finite)) return;
        copy_.resize(codes.size_bytes());
        auto* target = reinterpret_cast<Code*>(copy_.data());
        std::ranges::transform(codes, target, [&](Code code) { return is_finite(code) ? code : nothing; });
        voxels_ = copy_.data();
    }

    const void* voxels_;
    std::vector<std::byte> copy_;
};

std::complex<double> phasor_at(const VolumeGrid& grid, const void* voxels, std::int64_t at) {
    if (grid.type == VoxelType::complex64) {
        std::complex<float> phasor;
        std::memcpy(&phasor, static_cast<const std::byte*>(voxels) + at * bytes_of(grid.type), sizeof phasor);
        return {phasor.real(), phasor.imag()};
    }
    const auto* parts = static_cast<const std::int8_t*>(voxels) + 2 * at;
    return {parts[0] / 127.0, parts[1] / 127.0};
}

// Returns the absolute speed of a voxel, in radians for phasors. Empty for zero flow and for phasors of low confidence.
std::optional<double> speed_of(const VolumeGrid& grid, const void* voxels, std::int64_t at) {
    // Smallest magnitude of a phasor whose phase is reliable.
    constexpr double sure_phasor = 0.5;
    if (is_phasor(grid)) {
        const std::complex<double> phasor = phasor_at(grid, voxels, at);
        if (!(std::abs(phasor) >= sure_phasor)) return {};
        return std::abs(std::arg(phasor));
    }
    const double speed = std::abs(code_at(grid.type, voxels, at) * grid.scale + grid.offset);
    if (!std::isfinite(speed) || speed == 0) return {};
    return speed;
}

// Share of the flow below the usual speed. The rest is noise and outliers, which must not set the colours.
constexpr double usual_share = 0.995;

// Returns the usual speed of at most a million evenly spaced voxels.
double usual_speed(const VolumeGrid& grid, const void* voxels) {
    constexpr std::int64_t most = 1 << 20;
    std::int64_t stride = std::max<std::int64_t>(1, grid.voxels() / most);
    // A stride coprime to the depth samples all depths.
    while (std::gcd(stride, grid.depth) != 1) ++stride;
    std::vector<double> speeds;
    for (std::int64_t i = 0; i < grid.voxels(); i += stride) {
        if (const auto speed = speed_of(grid, voxels, i)) speeds.push_back(*speed);
    }
    if (speeds.empty()) return 1;
    const auto usual =
        speeds.begin() + static_cast<std::ptrdiff_t>(usual_share * static_cast<double>(speeds.size() - 1));
    std::ranges::nth_element(speeds, usual);
    return *usual > 0 ? *usual : 1;
}

}  // namespace

std::optional<double> usual_speed(const Histogram& histogram) {
    double all = 0, below = 0;
    for (const std::uint32_t count : histogram.counts) all += count;
    if (all == 0) return {};
    std::size_t bin = 0;
    while (bin + 1 < histogram.counts.size() && below + histogram.counts[bin] < usual_share * all) {
        below += histogram.counts[bin++];
    }
    const double width = (histogram.high - histogram.low) / static_cast<double>(histogram.counts.size());
    return histogram.low + width * static_cast<double>(bin + 1);
}

double round_speed(double speed) {
    const double decade = std::pow(10.0, std::floor(std::log10(speed) + 1e-9));
    for (const double digits : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
        if (digits * decade >= speed * (1 - 1e-9)) return digits * decade;
    }
    return 10 * decade;
}

// Velocities have a sign, angiograms do not.
ValueRange flow_range_to(const VolumeGrid& grid, double speed) {
    const bool is_velocity = grid.quantity.empty() || grid.quantity == "velocity" || grid.quantity == "doppler";
    return {is_velocity ? -speed : 0, speed};
}

ValueRange expected_flow(const VolumeGrid& grid) {
    constexpr double strong_db = 30, strong_noise = 10;  // values of a strong signal
    // Variance of a phase that is uniform in [-pi, pi).
    constexpr double random_phase = std::numbers::pi * std::numbers::pi / 3;
    if (is_phasor(grid)) return flow_range_to(grid, std::numbers::pi);
    if (grid.v_max > 0) return flow_range_to(grid, grid.v_max);
    if (grid.unit.starts_with("dB")) return flow_range_to(grid, strong_db);
    if (grid.unit.starts_with("noise")) return flow_range_to(grid, strong_noise);
    return flow_range_to(grid, grid.unit == "rad^2" ? random_phase : 1);
}

void check_flow(const VolumeGrid& flow, const VolumeGrid& structure) {
    constexpr std::array<std::string_view, 4> structures{"db", "amplitude", "intensity", "phase"};
    if (!is_phasor(flow) && std::ranges::find(structures, flow.quantity) != structures.end()) {
        throw Error(ErrorCode::bad_setting, fmt::format("voxels of quantity {} are not flow", flow.quantity), "flow",
                    "use a volume of velocities, phasors or an angiogram");
    }
    if (flow.depth == structure.depth && flow.a_scans == structure.a_scans && flow.b_scans == structure.b_scans) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} x {} x {} voxels of flow do not fit {} x {} x {} of the structure", flow.depth,
                            flow.a_scans, flow.b_scans, structure.depth, structure.a_scans, structure.b_scans),
                "flow", "reconstruct both from the same scan, with the same depth range");
}

VolumeTexture flow_texture(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeGrid& grid,
                           const void* voxels) {
    VolumeTexture texture(device, grid, {});
    const Finite finite(grid, voxels);
    const ValueRange range = flow_range_to(grid, usual_speed(grid, finite.voxels()));
    texture.set_range(range, range);
    upload(device, queue, builder, texture, *voxels_in_memory(grid, finite.voxels()));
    return texture;
}

// ---- Height texture

gpu::DeviceImage height_texture(const gpu::Device& device, gpu::Queue& queue, const HeightMaps& maps) {
    std::vector<std::array<float, 2>> heights(index(maps.a_scans * maps.b_scans));
    for (std::size_t i = 0; i < heights.size(); ++i) {
        heights[i] = {i < maps.top_um.size() ? maps.top_um[i] : 0, i < maps.bottom_um.size() ? maps.bottom_um[i] : 0};
    }
    gpu::DeviceImage image(
        device,
        {.type = vk::ImageType::e2D,
         .format = vk::Format::eR32G32Sfloat,
         .extent = {static_cast<std::uint32_t>(maps.a_scans), static_cast<std::uint32_t>(maps.b_scans), 1},
         .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
        "height map");
    const std::span<const std::byte> bytes = std::as_bytes(std::span(heights));
    const gpu::HostBuffer staging(device, bytes.size(), vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(staging.bytes().data(), bytes.data(), bytes.size());
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        image.record_first_use(commands);
        image.record_copy_from(commands, staging.handle(), 0);
    });
    return image;
}

// ---- Channel textures

// Throws Error{bad_setting} unless all voxels are integers from 0 to max_label.
static void check_labels(const Channel& channel) {
    const VolumeGrid& grid = channel.volume->grid;
    for (std::int64_t i = 0; i < grid.voxels(); ++i) {
        const double id = code_at(grid.type, channel.volume->voxels, i) * grid.scale + grid.offset;
        if (id >= 0 && id <= static_cast<double>(max_label) && id == std::floor(id)) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("holds {:g}, which is not a label", id), channel.file,
                    fmt::format("labels are whole numbers from 0 to {}", max_label));
    }
}

std::unique_ptr<VolumeTexture> ChannelTextures::uploaded(const Channel& channel) const {
    const VolumeGrid& grid = channel.volume->grid;
    check_structure(grid);
    const auto source = voxels_in_memory(grid, channel.volume->voxels);
    const ValueRange range = source->range();
    auto texture = std::make_unique<VolumeTexture>(device_, grid, range);
    texture->set_range(range, range);
    upload(device_, queue_, builder_, *texture, *source);
    return texture;
}

bool ChannelTextures::bring_in(const Channels& channels) {
    const auto is_gone = [](const auto& entry) { return entry.second.voxels.expired(); };
    bool has_changed = false;
    if (std::ranges::any_of(textures_, is_gone)) {
        queue_.wait_for_all();  // pictures in flight may still read them
        std::erase_if(textures_, is_gone);
        has_changed = true;
    }
    for (const Channel& channel : channels.channels) {
        if (!channel.is_seen()) continue;
        const auto found = textures_.find(channel.volume.get());
        const bool is_there = found != textures_.end();
        if (channel.labels && !(is_there && found->second.are_labels)) check_labels(channel);
        if (is_there) {
            found->second.are_labels |= channel.labels.has_value();
            continue;
        }
        textures_.emplace(channel.volume.get(), Kept{channel.volume, uploaded(channel), channel.labels.has_value()});
        has_changed = true;
    }
    return has_changed;
}

// ---- Channel curve

Curve curve_of(const Channel& channel, const Curve& view) {
    Curve curve = view;
    const bool is_file = names_file(channel);
    curve.preset = is_file ? "automatic" : channel.curve;
    curve.transfer = is_file ? channel.curve : "";
    curve.transfer_curve = is_file ? channel.own_curve : std::nullopt;
    curve.own_preset = is_file ? std::nullopt : channel.own_curve;
    curve.colour_map = channel.colour_map;
    curve.low = channel.low;
    curve.high = channel.high;
    curve.opacity = channel.opacity;
    return curve;
}

TransferFunction channel_function(const View& view, const Channel& channel, const VolumeTexture& texture) {
    View of = view;
    static_cast<Curve&>(of) = curve_of(channel, view);
    if (channel.mode == ChannelMode::mip && of.show == ViewContent::volume) of.mode = ViewMode::mip;
    return transfer_function(of, texture.grid(), texture.range(view.range));
}

// ---- Texture rate

constexpr std::array binding_types{vk::DescriptorType::eCombinedImageSampler, vk::DescriptorType::eStorageImage};

static gpu::ImageShape source_shape(const gpu::Device& device) {
    return {.type = vk::ImageType::e3D,
            .format = device.is_software() ? vk::Format::eR16Unorm : vk::Format::eR8Unorm,
            .extent = {shared::rate_edge, shared::rate_edge, shared::rate_edge},
            .usage = vk::ImageUsageFlagBits::eSampled};
}

static gpu::ImageShape sums_shape(std::uint32_t groups) {
    return {.format = vk::Format::eR32Sfloat, .extent = {groups, groups, 1}, .usage = vk::ImageUsageFlagBits::eStorage};
}

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
        gpu::record_dispatch(commands, bindings, pipeline, {groups, groups, 1});
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
