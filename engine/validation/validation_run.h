// How all parts of a validation reconstruct: on the backend that was asked for, through the public face of compute, one
// volume as one block; and how they tell that they are alive.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compute/backend.h"
#include "engine/progress.h"

namespace echolux {

struct ReconstructedBlock {
    VolumeGrid grid;
    std::vector<std::byte> structure;
    std::vector<std::byte> flow;  // empty where the plan has none
};

class ValidationRun {
  public:
    ValidationRun(Backend backend, bool quick, Progress& progress)
        : backend_(backend), quick_(quick), progress_(progress) {}

    bool quick() const { return quick_; }
    Progress& progress() { return progress_; }

    // Of all that reconstructed, with commas between.
    std::string backends() const;

    // The volume of `spec` in these samples. Throws Error{bad_setting, device, out_of_memory, cancelled}.
    ReconstructedBlock reconstructed(ReconstructionSpec spec, std::span<const std::byte> spectra);

    // Complex depth bins of f32 spectra, [lines][depth].
    std::vector<std::complex<float>> bins(ReconstructionSpec spec, std::span<const float> spectra);

    // Their amplitudes.
    std::vector<double> amplitudes(const ReconstructionSpec& spec, std::span<const float> spectra);

  private:
    Backend backend_;
    bool quick_;
    Progress& progress_;
    std::set<std::string> backends_;
};

// f32 spectra in one B-scan that are linear in k, through the bare transform without a window: nothing is subtracted.
ReconstructionSpec bare_spec(std::int64_t samples, std::int64_t lines);

double decibels(double amplitude_ratio);  // 20 log10

}  // namespace echolux
