#include "render/slots/volume_texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/error.h"

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
                    "give a length above 0, or 0 where it is not known");
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
        throw Error(ErrorCode::bad_setting, "the values' scale must be above 0, scale and offset finite", "volume");
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
                    fmt::format("{} exports no 3-D textures of {}", device.name(), vk::to_string(shape.format)),
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

}  // namespace echolux
