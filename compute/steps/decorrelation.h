// Decorrelation of complex repeats and its flow component (docs/angiography.md). Noise decorrelates static tissue by
// the inverse of its SNR (ID-OCTA: L. Huang et al., IEEE TMI 39(9), 2020). Motion that alignment cannot undo
// decorrelates all tissue of a B-scan equally (A. Camino et al., Biomed. Opt. Express 8(6), 2017).
#pragma once

#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/depth.h"
#include "compute/steps/flow.h"

namespace echolux {

// Decorrelation of one voxel.
struct NoisyDecorrelation {
    float value = 1;  // 1 - coherence, 0 to 1
    float noise = 1;  // noise share of the power: decorrelation of static tissue due to noise alone
};

// Computes the decorrelation from the mean over a window and all pairs of repeats.
struct DecorrelationOf {
    float noise_power = 1;

    ECHOLUX_HD NoisyDecorrelation operator()(const PhaseStep& mean) const {
        if (!(mean.power > noise_power)) return {};
        const float apart = 1 - mean.product.re / mean.power;
        return {apart < 0 ? 0.0f : apart > 1 ? 1.0f : apart, noise_power / mean.power};
    }
};

// Decorrelation of a whole B-scan: the median over bright voxels of the decorrelation that noise does not explain. Uses
// a histogram, so the result does not depend on the order in which threads add to it.
struct BulkDecorrelation {
    static constexpr std::int32_t bins = 512;
    static constexpr float max_noise = 0.1f;  // limit of noise.value: 10 dB SNR
    static constexpr float max_shown = 0.5f;  // above this the B-scan carries no flow information

    // Returns the histogram bin of a voxel, or -1 for voxels that are too dark.
    ECHOLUX_HD static std::int32_t bin_of(const NoisyDecorrelation& one) {
        if (!(one.noise < max_noise)) return -1;
        const float moved = 1 - (1 - one.value) / (1 - one.noise);
        const auto bin = static_cast<std::int32_t>(moved * static_cast<float>(bins));
        return moved > 0 ? (bin < bins ? bin : bins - 1) : 0;
    }

    // Returns the median of a histogram `counts` [bins], interpolated linearly within its bin. Returns 0 if no voxel is
    // bright or the median is in the first bin.
    ECHOLUX_HD static float median(const std::uint32_t* counts) {
        std::uint64_t all = 0;
        for (std::int32_t i = 0; i < bins; ++i) all += counts[i];
        std::uint64_t below = 0;
        for (std::int32_t i = 0; i < bins; ++i) {
            if (2 * (below + counts[i]) > all) {
                const float part =
                    (0.5f * static_cast<float>(all) - static_cast<float>(below)) / static_cast<float>(counts[i]);
                return i == 0 ? 0.0f : (static_cast<float>(i) + part) / static_cast<float>(bins);
            }
            below += counts[i];
        }
        return 0;
    }
};

// Code of a voxel, a half: its decorrelation minus that of the whole B-scan. 0 if the power is too low, or if noise
// and bulk motion explain the value: value <= noise + deviations (noise + bulk).
struct DecorrelationCode {
    float max_noise = 0.1f;  // above this, voxels are masked
    float deviations = 0;    // threshold for static tissue in multiples of noise + bulk; 0 disables it
    float bulk = 0;

    ECHOLUX_HD std::uint16_t operator()(const NoisyDecorrelation& one) const {
        if (!(one.noise <= max_noise)) return 0;
        const float apart = 1 - (1 - one.value) / (1 - bulk);
        const float value = apart > 0 ? apart : 0.0f;
        const float of_static = deviations > 0 ? one.noise + deviations * (one.noise + bulk) : -1.0f;
        return value > of_static ? Half{}(value) : std::uint16_t{0};
    }
};

}  // namespace echolux
