#include "compute/cpu/voxels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/cpu/four_taps.h"
#include "compute/indexing.h"
#include "compute/steps/depth.h"

namespace echolux::cpu {
namespace {

template <class Step>
void in_place(std::vector<float>& values, const Step& step) {
    for (float& value : values) value = step(value);
}

template <class Step>
void store_each(std::span<const float> values, const Step& step, std::byte* target) {
    auto* out = reinterpret_cast<decltype(step(0.0f))*>(target);
    for (std::size_t z = 0; z < values.size(); ++z) out[z] = step(values[z]);
}

}  // namespace

VoxelLine::VoxelLine(const VoxelTables& tables) : tables_(tables), mean_(index(tables.depth)), values_(mean_.size()) {}

// Power, noise floor, quantity, then the reversal for depth_flip.
std::span<const float> VoxelLine::values(const JoinedLines& joined) {
    power_of(joined);
    if (!tables_.noise_floor.empty()) subtract_noise_floor();
    to_quantity();
    if (tables_.depth_flip) std::reverse(values_.begin(), values_.end());
    return values_;
}

ECHOLUX_WIDER void VoxelLine::store(std::span<const float> values, CodeRange range, std::byte* target) const {
    switch (tables_.recipe.voxel) {
        case VoxelType::u8: return store_each(values, codes_over<std::uint8_t>(range.low, range.high), target);
        case VoxelType::u16: return store_each(values, codes_over<std::uint16_t>(range.low, range.high), target);
        case VoxelType::f16: return store_each(values, Half{}, target);
        default: std::memcpy(target, values.data(), values.size_bytes());
    }
}

void VoxelLine::store_complex(const JoinedLines& joined, std::byte* target) {
    mean_complex(joined);
    for (std::complex<float>& value : mean_) value *= tables_.scale;
    if (tables_.depth_flip) std::reverse(mean_.begin(), mean_.end());
    std::memcpy(target, mean_.data(), mean_.size() * sizeof(mean_[0]));
}

void VoxelLine::mean_complex(const JoinedLines& joined) {
    std::fill(mean_.begin(), mean_.end(), std::complex<float>{});
    for (std::size_t i = 0; i < joined.lines.size(); ++i) {
        const std::complex<float>* line = joined.lines[i];
        const float weight = joined.weights[i];
        for (std::size_t z = 0; z < mean_.size(); ++z) mean_[z] += weight * line[z];
    }
}

// Computes the mean power, or the power of the mean amplitude or of the mean complex bin if recipe.average requires it.
ECHOLUX_WIDER void VoxelLine::power_of(const JoinedLines& joined) {
    const Power power;
    const auto each = [&](const std::complex<float>* line, const auto& use) {
        for (std::size_t z = 0; z < values_.size(); ++z) use(values_[z], power(line[z].real(), line[z].imag()));
    };
    const float scale = tables_.scale;
    if (joined.lines.size() == 1 || tables_.recipe.average == Average::complex) {
        const std::complex<float>* line = joined.lines[0];
        if (joined.lines.size() > 1) {
            mean_complex(joined);
            line = mean_.data();
        }
        each(line, [scale](float& value, float p) { value = p * (scale * scale); });
        return;
    }
    std::fill(values_.begin(), values_.end(), 0.0f);
    const bool amplitudes = tables_.recipe.average == Average::magnitude;
    for (std::size_t i = 0; i < joined.lines.size(); ++i) {
        const float factor = joined.weights[i] * scale;
        if (amplitudes) {
            each(joined.lines[i], [=](float& value, float p) { value += std::sqrt(p) * factor; });
        } else {
            each(joined.lines[i], [=](float& value, float p) { value += p * (factor * scale); });
        }
    }
    if (amplitudes) in_place(values_, [](float amplitude) { return amplitude * amplitude; });
}

void VoxelLine::subtract_noise_floor() {
    const auto each = [&](const auto& step) {
        for (std::size_t z = 0; z < values_.size(); ++z) values_[z] = step(values_[z], tables_.noise_floor[z]);
    };
    if (tables_.recipe.noise_floor == NoiseFloor::amplitude) {
        each(MinusNoiseAmplitude{});
    } else {
        each(MinusNoisePower{});
    }
}

ECHOLUX_WIDER void VoxelLine::to_quantity() {
    switch (tables_.recipe.quantity) {
        case Quantity::db: return in_place(values_, Decibel{static_cast<float>(tables_.reference_db)});
        case Quantity::amplitude: return in_place(values_, Amplitude{});
        default: return in_place(values_, Intensity{});
    }
}

}  // namespace echolux::cpu
