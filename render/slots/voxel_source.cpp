#include "render/slots/voxel_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "compute/empty_value.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr std::int64_t max_counted = 1 << 20;  // max number of voxels read for the percentiles

// Reads from memory in the layout [B-scan][A-scan][depth].
class VoxelsInMemory : public VoxelSource {
  public:
    VoxelsInMemory(const VolumeGrid& grid, const void* voxels, std::shared_ptr<const void> owner)
        : grid_(grid), voxels_(static_cast<const std::byte*>(voxels)), owner_(std::move(owner)) {}

    const VolumeGrid& grid() const override { return grid_; }

    void read(const VoxelBox& box, std::byte* codes) const override {
        const std::int64_t bytes = bytes_of(grid_.type);
        const std::int64_t row = box.extent[0] * bytes;
        for (std::int64_t b = 0; b < box.extent[2]; ++b) {
            for (std::int64_t a = 0; a < box.extent[1]; ++a, codes += row) {
                const std::int64_t a_scan = (box.first[2] + b) * grid_.a_scans + box.first[1] + a;
                std::memcpy(codes, voxels_ + (a_scan * grid_.depth + box.first[0]) * bytes, index(row));
            }
        }
    }

  private:
    VolumeGrid grid_;
    const std::byte* voxels_;
    std::shared_ptr<const void> owner_;
};

}  // namespace

ValueRange VoxelSource::range() const {
    const VolumeGrid& of = grid();
    // An odd stride does not step along an axis of even length.
    const std::int64_t stride = std::max<std::int64_t>(1, of.voxels() / max_counted) | 1;
    std::vector<double> values;
    EmptyValue empty;
    for (std::int64_t i = 0; i < of.voxels(); i += stride) {
        const std::int64_t a_scan = i / of.depth;
        std::array<std::byte, 8> code{};
        read({{i % of.depth, a_scan % of.a_scans, a_scan / of.a_scans}, {1, 1, 1}}, code.data());
        const double value = code_at(of.type, code.data(), 0) * of.scale + of.offset;
        if (!std::isfinite(value)) continue;
        values.push_back(value);
        empty.add(value);
    }
    if (of.quantity == "db" && empty.found()) std::erase(values, *empty.found());
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

std::shared_ptr<const VoxelSource> voxels_in_memory(const VolumeGrid& grid, const void* voxels,
                                                    std::shared_ptr<const void> owner) {
    return std::make_shared<VoxelsInMemory>(grid, voxels, std::move(owner));
}

// ---- Voxel codes

namespace {

template <class Code>
Code loaded(const void* codes, std::int64_t i) {
    Code code;
    std::memcpy(&code, static_cast<const std::byte*>(codes) + i * static_cast<std::int64_t>(sizeof code), sizeof code);
    return code;
}

// Rounds a finite value within the range of halves to the nearest half.
std::uint16_t double_to_half(double value) {
    const double size = std::abs(value);
    const int exponent = size < std::ldexp(1, -14) ? -14 : std::ilogb(size);
    const auto units = static_cast<int>(std::lrint(std::ldexp(size, 10 - exponent)));  // 1024 and up: normal
    const int bits = units < 1024 ? units : ((exponent + 14) << 10) + units;           // a carry enters the exponent
    return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000 : 0) | bits);
}

// Returns true for infinities and NaN.
bool is_beyond(std::uint16_t half) {
    return (half & 0x7C00) == 0x7C00;
}

std::uint16_t nearest_half(double value) {
    constexpr double largest = 65504;
    return double_to_half(std::clamp(value, -largest, largest));
}

// Replaces infinities by the nearest end, NaN by the low end.
void replace_missing_halves(std::byte* stored, std::int64_t count, double low, double high) {
    const std::uint16_t low_half = nearest_half(low), high_half = nearest_half(high);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto half = loaded<std::uint16_t>(stored, i);
        if (!is_beyond(half)) continue;
        std::memcpy(stored + 2 * i, half == 0x7C00 ? &high_half : &low_half, sizeof half);
    }
}

void replace_missing_floats(std::byte* stored, std::int64_t count, float low, float high) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = loaded<float>(stored, i);
        if (!std::isfinite(value)) std::memcpy(stored + 4 * i, value > 0 ? &high : &low, sizeof value);
    }
}

template <class Code>
void scaled(const std::byte* stored, std::int64_t count, float scale, float* values) {
    for (std::int64_t i = 0; i < count; ++i) values[i] = scale * static_cast<float>(loaded<Code>(stored, i));
}

template <class Code>
void rounded(const float* values, std::int64_t count, float scale, std::byte* stored) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto code = static_cast<Code>(std::lrint(scale * values[i]));
        std::memcpy(stored + i * static_cast<std::int64_t>(sizeof code), &code, sizeof code);
    }
}

}  // namespace

double code_at(VoxelType type, const void* codes, std::int64_t i) {
    switch (type) {
        case VoxelType::u8: return loaded<std::uint8_t>(codes, i);
        case VoxelType::u16: return loaded<std::uint16_t>(codes, i);
        case VoxelType::i16: return loaded<std::int16_t>(codes, i);
        case VoxelType::f16: return value_of_half(loaded<std::uint16_t>(codes, i));
        default: return loaded<float>(codes, i);
    }
}

void widen(std::span<std::byte> target, const std::byte* codes) {
    for (std::size_t i = 0; i < target.size() / 2; ++i) {
        // 255 * 257 = 65535, so both formats have the same texture values.
        const auto code = static_cast<std::uint16_t>(std::to_integer<unsigned>(codes[i]) * 257);
        std::memcpy(target.data() + i * sizeof code, &code, sizeof code);
    }
}

void narrow(std::span<std::byte> target, const std::byte* widened) {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = widened[2 * i];  // both bytes equal the code
}

StoredCodes::StoredCodes(const VolumeGrid& grid, bool widened, const ValueRange& range)
    : type_(grid.type), stored_(widened ? VoxelType::u16 : grid.type),
      low_(static_cast<float>((range.low - grid.offset) / grid.scale)),
      high_(static_cast<float>((range.high - grid.offset) / grid.scale)) {}

void StoredCodes::store(const std::byte* codes, std::int64_t count, std::byte* stored) const {
    if (stored_ != type_) {
        widen({stored, index(count * bytes())}, codes);
        return;
    }
    std::memcpy(stored, codes, index(count * bytes()));
    if (type_ == VoxelType::f32) replace_missing_floats(stored, count, low_, high_);
    if (type_ == VoxelType::f16) replace_missing_halves(stored, count, low_, high_);
}

void StoredCodes::to_texture_values(const std::byte* stored, std::int64_t count, float* values) const {
    switch (stored_) {
        case VoxelType::u8: return scaled<std::uint8_t>(stored, count, 1.0F / 255, values);
        case VoxelType::u16: return scaled<std::uint16_t>(stored, count, 1.0F / 65535, values);
        case VoxelType::i16: return scaled<std::int16_t>(stored, count, 1.0F / 32767, values);
        case VoxelType::f16:
            for (std::int64_t i = 0; i < count; ++i) {
                values[i] = value_of_half(loaded<std::uint16_t>(stored, i));
            }
            return;
        default: std::memcpy(values, stored, index(count * bytes()));
    }
}

void StoredCodes::from_texture_values(const float* values, std::int64_t count, std::byte* stored) const {
    switch (stored_) {
        case VoxelType::u8: return rounded<std::uint8_t>(values, count, 255, stored);
        case VoxelType::u16: return rounded<std::uint16_t>(values, count, 65535, stored);
        case VoxelType::i16: return rounded<std::int16_t>(values, count, 32767, stored);
        case VoxelType::f16:
            for (std::int64_t i = 0; i < count; ++i) {
                const std::uint16_t code = double_to_half(values[i]);
                std::memcpy(stored + i * 2, &code, sizeof code);
            }
            return;
        default: std::memcpy(stored, values, index(count * bytes()));
    }
}

}  // namespace echolux
