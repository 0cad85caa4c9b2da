// Callbacks of a caller that can inspect and modify data in the pipeline: spectra, depth bins, voxels. They need host
// memory, so they require the CPU backend. They run between the steps of a block on the thread that submits it. Their
// exceptions propagate from submit() or prime().
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "compute/place.h"
#include "compute/plan/params.h"
#include "compute/reconstructor.h"

namespace echolux {

// Lines of a block as recorded, [b_scans][b_repeats][a_scans][a_repeats]. Reversed B-scans are not reordered.
struct StagedLines {
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
};

// [lines][samples], counts of the selected channel before any subtraction.
struct StagedSpectra {
    StagedLines lines;
    float* counts = nullptr;
};

// [lines][depth], complex depth bins after removal of the fixed pattern, before repeats are averaged and flow is
// computed. Multiply by `scale` for counts.
struct StagedBins {
    StagedLines lines;
    std::complex<float>* bins = nullptr;
    std::int64_t depth = 0;
    double scale = 1;
};

// Structure voxels in the caller's target: B-scans [first_b_scan, first_b_scan + b_scans) of the volume.
struct StagedVoxels {
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
    std::byte* voxels = nullptr;  // first B-scan
    std::int64_t a_scan_bytes = 0;
    std::int64_t b_scan_bytes = 0;
};

// Each may be empty.
struct Stages {
    std::function<void(const StagedSpectra&)> spectra;
    std::function<void(const StagedBins&)> bins;
    std::function<void(const StagedVoxels&, const VolumeGrid&)> voxels;
};

// Like plan_on_cpu(spec), with callbacks. Spectra passed to a callback continue as f32; the results are bit-identical
// if it changes nothing.
std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec, std::shared_ptr<const Stages> stages);

}  // namespace echolux
