// A recipe with precision = fast, whether it runs in halves, and its error relative to the exact CPU.
#pragma once

#include <span>
#include <string>

#include "tests/gpu/gpu_run.h"
#include "tests/support/set_fields.h"

namespace echolux {

inline ReconstructionSpec fast_spec(std::int64_t samples) {
    ReconstructionSpec spec;
    set(spec, "background=frame_mean a2_rad=9 levels=fixed quantity=amplitude precision=fast");
    spec.geometry = {.samples = samples, .a_scans = 9, .b_scans = 4};
    const auto last = static_cast<double>(samples - 1);
    spec.calibration.k_polynomial = {0.01 * last, 0.94 * last, 0.04 * last};
    return spec;
}

inline bool is_in_halves(const ReconstructionSpec& spec) {
    const ChosenReconstructor chosen = choose_reconstructor(spec, {.backend = Backend::cuda});
    const bool is_fast = chosen.reconstructor->precision() == Precision::fast;
    EXPECT_EQ(is_fast, chosen.reconstructor->backend_description().find("half precision") != std::string::npos);
    EXPECT_NE(is_fast, chosen.reason.find("recipe.precision = fast has no effect") != std::string::npos);
    return is_fast;
}

// Error of the amplitudes relative to the CPU.
inline double error_of(const ReconstructionSpec& spec, std::span<const std::byte> spectra) {
    const auto gpu = voxels_of<float>(spec, spectra, {.block_b_scans = 2});
    const auto cpu = voxels_of<float>(spec, spectra, run_on_cpu(2));
    return normalised_error(gpu, cpu);
}

}  // namespace echolux
