#include "render/slots/volume_texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/error.h"
#include "render/vk/memory.h"

namespace echolux {
namespace {

constexpr std::int64_t staging_bytes = 64 << 20;
constexpr std::int64_t most_counted = 1 << 20;  // voxels looked at for percentiles

std::string described(const VolumeGrid& grid) {
    return fmt::format("volume of {} x {} x {} voxels (depth x A-scans x B-scans)", grid.depth, grid.a_scans,
                       grid.b_scans);
}

vk::Format format_for(VoxelType type, bool software) {
    switch (type) {
        case VoxelType::u8: return software ? vk::Format::eR16Unorm : vk::Format::eR8Unorm;
        case VoxelType::u16: return vk::Format::eR16Unorm;
        case VoxelType::i16: return vk::Format::eR16Snorm;
        case VoxelType::f32: return vk::Format::eR32Sfloat;
        case VoxelType::complex64: break;
    }
    throw Error(ErrorCode::bad_setting, "complex voxels cannot be shown", "volume",
                "reconstruct with recipe.quantity=db, amplitude or intensity");
}

// Codes that the texture value 1 stands for.
double codes_of_one(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return 255;
        case VoxelType::u16: return 65535;
        case VoxelType::i16: return 32767;
        default: return 1;
    }
}

gpu::ImageShape shape_for(const VolumeGrid& grid, bool software) {
    if (!(grid.scale > 0) || !std::isfinite(grid.scale) || !std::isfinite(grid.offset)) {
        throw Error(ErrorCode::bad_setting, "the values' scale must be above 0, scale and offset finite", "volume");
    }
    const auto edge = [&](std::int64_t length) {
        if (length < 1) throw Error(ErrorCode::bad_setting, "the " + described(grid) + " is empty", "volume");
        return static_cast<std::uint32_t>(std::min<std::int64_t>(length, UINT32_MAX));
    };
    return {vk::ImageType::e3D,
            format_for(grid.type, software),
            {edge(grid.depth), edge(grid.a_scans), edge(grid.b_scans)},
            vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst};
}

template <class Code>
Code code_at(const void* voxels, std::int64_t i) {
    return static_cast<const Code*>(voxels)[i];
}

double value_at(const VolumeGrid& grid, const void* voxels, std::int64_t i) {
    double code = 0;
    switch (grid.type) {
        case VoxelType::u8: code = code_at<std::uint8_t>(voxels, i); break;
        case VoxelType::u16: code = code_at<std::uint16_t>(voxels, i); break;
        case VoxelType::i16: code = code_at<std::int16_t>(voxels, i); break;
        default: code = code_at<float>(voxels, i);
    }
    return code * grid.scale + grid.offset;
}

// 1st and 99.9th percentile of evenly spaced voxels; low < high always.
ValueRange percentiles_of(const VolumeGrid& grid, const void* voxels) {
    const std::int64_t stride = std::max<std::int64_t>(1, grid.voxels() / most_counted) | 1;  // odd: not along an axis
    std::vector<double> values;
    for (std::int64_t i = 0; i < grid.voxels(); i += stride) {
        const double value = value_at(grid, voxels, i);
        if (std::isfinite(value)) values.push_back(value);
    }
    if (values.empty()) return {};
    const auto at = [&](double part) {
        const auto place = values.begin() + std::lround(part * static_cast<double>(values.size() - 1));
        std::ranges::nth_element(values, place);
        return *place;
    };
    const ValueRange range{at(0.01), at(0.999)};
    if (range.low < range.high) return range;
    return {range.low, range.low + std::max(1e-6 * std::abs(range.low), 1e-6)};
}

void copy_finite(std::span<std::byte> target, const void* voxels, std::int64_t first, float low, float high) {
    for (std::size_t i = 0; i < target.size() / sizeof(float); ++i) {
        float code = code_at<float>(voxels, first + static_cast<std::int64_t>(i));
        if (!std::isfinite(code)) code = code > 0 ? high : low;
        std::memcpy(target.data() + i * sizeof code, &code, sizeof code);
    }
}

void widen(std::span<std::byte> target, const void* voxels, std::int64_t first) {
    for (std::size_t i = 0; i < target.size() / 2; ++i) {
        const auto code =
            static_cast<std::uint16_t>(code_at<std::uint8_t>(voxels, first + static_cast<std::int64_t>(i)) * 257);
        std::memcpy(target.data() + i * sizeof code, &code, sizeof code);
    }
}

// Voxels from `first` on, as the texture stores them.
void fill(std::span<std::byte> target, const VolumeGrid& grid, vk::Format format, const void* voxels,
          std::int64_t first, const ValueRange& range) {
    if (format == vk::Format::eR32Sfloat) {
        const auto code = [&](double value) { return static_cast<float>((value - grid.offset) / grid.scale); };
        copy_finite(target, voxels, first, code(range.low), code(range.high));
    } else if (grid.type == VoxelType::u8 && format == vk::Format::eR16Unorm) {
        widen(target, voxels, first);
    } else {
        std::memcpy(target.data(), static_cast<const std::byte*>(voxels) + first * bytes_of(grid.type), target.size());
    }
}

// Through a staging buffer of whole rows of A-scans, so that large volumes need little memory besides.
void upload(const gpu::Device& device, gpu::Queue& queue, const gpu::DeviceImage& image, const VolumeGrid& grid,
            const void* voxels, const ValueRange& range) {
    const std::int64_t voxel_bytes = image.bytes_per_pixel();
    const std::int64_t slice = grid.depth * grid.a_scans;
    const std::int64_t most_slices = std::clamp<std::int64_t>(staging_bytes / (slice * voxel_bytes), 1, grid.b_scans);
    const gpu::HostBuffer staging(device, static_cast<std::size_t>(most_slices * slice * voxel_bytes),
                                  vk::BufferUsageFlagBits::eTransferSrc);
    queue.run([&](const vk::raii::CommandBuffer& commands) { image.record_first_use(commands); });
    for (std::int64_t b_scan = 0; b_scan < grid.b_scans; b_scan += most_slices) {
        const std::int64_t slices = std::min(most_slices, grid.b_scans - b_scan);
        fill(staging.bytes().first(static_cast<std::size_t>(slices * slice * voxel_bytes)), grid, image.shape().format,
             voxels, b_scan * slice, range);
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            image.record_copy_from(commands, staging.handle(), 0, static_cast<std::uint32_t>(b_scan),
                                   static_cast<std::uint32_t>(slices));
        });
    }
}

}  // namespace

VolumeTexture::VolumeTexture(const gpu::Device& device, gpu::Queue& queue, const VolumeGrid& grid, const void* voxels)
    : grid_(grid), scale_(grid.scale * codes_of_one(grid.type)),
      image_(device, shape_for(grid, device.is_software()), described(grid)) {
    percentiles_ = percentiles_of(grid, voxels);
    upload(device, queue, image_, grid, voxels, percentiles_);
}

}  // namespace echolux
