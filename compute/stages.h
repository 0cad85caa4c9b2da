// Stages: functions of a caller that see, and may change, what is on its way through the pipeline: spectra, depth bins,
// voxels. They work in host memory, which only the CPU keeps all of it in; they are called between the steps of a block
// on the thread that submits it, and what they throw comes out of submit() or prime().
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

// The lines of a block, [b_scans][b_repeats][a_scans][a_repeats], as they were recorded: B-scans that ran backwards are
// backwards.
struct StagedLines {
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
};

// [lines][samples]: counts of the chosen channel, before anything is subtracted.
struct StagedSpectra {
    StagedLines lines;
    float* counts = nullptr;
};

// [lines][depth]: complex depth bins behind the fixed pattern's removal, before repeats are joined and flow is found.
// Times `scale` they are counts.
struct StagedBins {
    StagedLines lines;
    std::complex<float>* bins = nullptr;
    std::int64_t depth = 0;
    double scale = 1;
};

// Voxels of the structure where the caller wanted them: B-scans [first, first + count) of its volume.
struct StagedVoxels {
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;
    std::int64_t b_scans = 0;
    std::byte* voxels = nullptr;  // of the first of these
    std::int64_t a_scan_bytes = 0;
    std::int64_t b_scan_bytes = 0;
};

// Any may be empty.
struct Stages {
    std::function<void(const StagedSpectra&)> spectra;
    std::function<void(const StagedBins&)> bins;
    std::function<void(const StagedVoxels&, const VolumeGrid&)> voxels;
};

// As plan_on_cpu(spec). Spectra that a stage sees go on as f32, which are the same bits where it changes nothing.
std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec, std::shared_ptr<const Stages> stages);

}  // namespace echolux
