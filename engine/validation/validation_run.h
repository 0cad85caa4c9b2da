// Runs the reconstructions of a validation: on the requested backend, through the public interface of compute, one
// volume as one block. Progress is advanced by 0 after each, so that the user can cancel.
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
    std::vector<std::byte> flow;  // empty if the plan has no flow
};

// Backend and progress shared by the parts of a validation.
class ValidationRun {
  public:
    ValidationRun(Backend backend, bool quick, Progress& progress)
        : backend_(backend), quick_(quick), progress_(progress) {}

    bool quick() const { return quick_; }
    Progress& progress() { return progress_; }

    // Returns the backends that were used, separated by commas.
    std::string backends() const;

    // Returns the volume of `spec` for these samples. Throws Error{bad_setting, device, out_of_memory, cancelled}.
    ReconstructedBlock reconstructed(ReconstructionSpec spec, std::span<const std::byte> spectra);

    // Returns complex depth bins of f32 spectra, [line][depth].
    std::vector<std::complex<float>> bins(ReconstructionSpec spec, std::span<const float> spectra);

    // Returns the amplitudes of these bins.
    std::vector<double> amplitudes(const ReconstructionSpec& spec, std::span<const float> spectra);

  private:
    Backend backend_;
    bool quick_;
    Progress& progress_;
    std::set<std::string> backends_;
};

// Returns the spec for f32 spectra of one B-scan that are linear in k: the bare transform, without window or background
// subtraction.
ReconstructionSpec bare_spec(std::int64_t samples, std::int64_t lines);

double decibels(double amplitude_ratio);  // 20 log10

}  // namespace echolux
