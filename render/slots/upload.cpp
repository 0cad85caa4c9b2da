#include "render/slots/upload.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "render/vk/memory.h"

namespace echolux {
namespace {

constexpr std::int64_t staging_bytes = 64 << 20;
constexpr std::int64_t most_counted = 1 << 20;  // voxels looked at for percentiles

template <class Code>
Code code_at(const void* voxels, std::int64_t i) {
    return static_cast<const Code*>(voxels)[i];
}

double half_to_double(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

void copy_finite(std::span<std::byte> target, const void* voxels, std::int64_t first, float low, float high) {
    for (std::size_t i = 0; i < target.size() / sizeof(float); ++i) {
        float code = code_at<float>(voxels, first + static_cast<std::int64_t>(i));
        if (!std::isfinite(code)) code = code > 0 ? high : low;
        std::memcpy(target.data() + i * sizeof code, &code, sizeof code);
    }
}

// Voxels from `first` on, as the texture stores them.
void fill(std::span<std::byte> target, const VolumeTexture& texture, const void* voxels, std::int64_t first) {
    const VolumeGrid& grid = texture.grid();
    const std::byte* codes = static_cast<const std::byte*>(voxels) + first * bytes_of(grid.type);
    if (grid.type == VoxelType::f32) {
        const auto code = [&](double value) { return static_cast<float>((value - grid.offset) / grid.scale); };
        copy_finite(target, voxels, first, code(texture.range().low), code(texture.range().high));
    } else if (is_widened(texture)) {
        widen(target, codes);
    } else {
        std::memcpy(target.data(), codes, target.size());
    }
}

}  // namespace

double value_at(const VolumeGrid& grid, const void* voxels, std::int64_t i) {
    double code = 0;
    switch (grid.type) {
        case VoxelType::u8: code = code_at<std::uint8_t>(voxels, i); break;
        case VoxelType::u16: code = code_at<std::uint16_t>(voxels, i); break;
        case VoxelType::i16: code = code_at<std::int16_t>(voxels, i); break;
        case VoxelType::f16: code = half_to_double(code_at<std::uint16_t>(voxels, i)); break;
        default: code = code_at<float>(voxels, i);
    }
    return code * grid.scale + grid.offset;
}

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

bool is_widened(const VolumeTexture& texture) {
    return texture.image().bytes_per_pixel() > bytes_of(texture.grid().type);
}

void widen(std::span<std::byte> target, const std::byte* codes) {
    for (std::size_t i = 0; i < target.size() / 2; ++i) {
        const auto code = static_cast<std::uint16_t>(std::to_integer<unsigned>(codes[i]) * 257);
        std::memcpy(target.data() + i * sizeof code, &code, sizeof code);
    }
}

void narrow(std::span<std::byte> target, const std::byte* widened) {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = widened[2 * i];  // both bytes are the code
}

void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const void* voxels) {
    const VolumeGrid& grid = texture.grid();
    const std::int64_t slice = grid.depth * grid.a_scans;
    const std::int64_t slice_bytes = slice * texture.image().bytes_per_pixel();
    const std::int64_t most_slices = std::clamp<std::int64_t>(staging_bytes / slice_bytes, 1, grid.b_scans);
    const gpu::HostBuffer staging(device, static_cast<std::size_t>(most_slices * slice_bytes),
                                  vk::BufferUsageFlagBits::eTransferSrc);
    queue.run([&](const vk::raii::CommandBuffer& commands) { texture.record_first_use(commands); });
    for (std::int64_t b_scan = 0; b_scan < grid.b_scans; b_scan += most_slices) {
        const std::int64_t slices = std::min(most_slices, grid.b_scans - b_scan);
        fill(staging.bytes().first(static_cast<std::size_t>(slices * slice_bytes)), texture, voxels, b_scan * slice);
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            texture.image().record_copy_from(commands, staging.handle(), 0, static_cast<std::uint32_t>(b_scan),
                                             static_cast<std::uint32_t>(slices));
        });
    }
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        builder.record(commands, texture.bricks(), grid.b_scans, BrickEnds::both);
    });
}

}  // namespace echolux
