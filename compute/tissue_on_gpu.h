// Interfaces of the GPU for tissue: registration, and processing of volumes on their way to a display. The functions
// that create them are in compute/gpu_backend.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/backend.h"
#include "compute/speckle.h"
#include "compute/steps/registration.h"
#include "compute/types.h"
#include "compute/voxel_target.h"

namespace echolux {

// ---- GPU implementation of volume registration: features of B-scans, their correlations, and means of shifted
// volumes, all for volumes in its memory. The evaluation of the correlations (paths, reasons) and the CPU reference
// implementation are in engine/registration.

// Parameters of the features.
struct FeatureTables {
    std::array<std::int64_t, 3> size{};        // rows, A-scans, B-scans
    std::int64_t first_depth = 0, depths = 0;  // depth range to compare
    std::vector<float> smoothing;              // an odd number of weights, for power along depth and A-scans
    // background: means over slow_half samples on either side, repeated slow_times
    std::int64_t slow_half = 0, slow_times = 0;
    std::int64_t coarse = 1;  // samples along depth and A-scans per coarse sample
    LogFeature feature{};
};

// Features of a volume's B-scans, fine and coarse, in GPU memory.
class FeaturesOnGpu {
  public:
    virtual ~FeaturesOnGpu() = default;

    // Return the norms of B-scans (root of the sum of squares), in host memory.
    virtual const std::vector<float>& norms() const = 0;
    virtual const std::vector<float>& coarse_norms() const = 0;

    // Replaces the norms. 0 marks B-scans without signal, which are ignored.
    virtual void set_norms(std::vector<float> norms, std::vector<float> coarse_norms) = 0;
};

// Search ranges for the strips of a volume.
struct StripRanges {
    std::int64_t half = 0;                    // B-scans of a strip on either side of its centre
    std::int64_t first_y = 0, last_y = 0;     // B-scan offsets to the reference
    std::int32_t coarse_z = 0, coarse_x = 0;  // max coarse shifts

    std::int64_t offsets() const { return last_y - first_y + 1; }
};

// Requests correlations for a strip around `row`, offset by `y` B-scans in the reference, for shifts of up to `reach`
// samples around (z, x).
struct CorrelationRequest {
    static constexpr std::int32_t reach = 2, edge = 2 * reach + 1;

    std::int32_t row = 0, y = 0, z = 0, x = 0;
};

using Correlations = std::array<float, CorrelationRequest::edge * CorrelationRequest::edge>;  // [x][z]

// Where to add a B-scan of a registered volume to the mean.
struct LandingRow {
    double z = 0, x = 0;
    float weight = 0;
    std::int32_t row = 0, to = 0;  // in the volume and in the mean; rows with the same target are in order
};

// Called with the number of completed B-scans. May throw to cancel.
using RowCallback = std::function<void(std::int64_t)>;

// Weighted mean of registered volumes, in GPU memory.
class ShiftedMeanOnGpu {
  public:
    virtual ~ShiftedMeanOnGpu() = default;

    virtual void clear() = 0;

    // Adds rows of `power`, which is in GPU memory. `rows` are ordered by target. Throws Error{device}.
    virtual void add(const float* power, std::span<const LandingRow> rows) = 0;

    // Writes the mean power to GPU or host memory, NaN where nothing was added. Throws Error{device}.
    virtual void write(float* mean) = 0;
};

// Registration steps. Power is in the memory of one GPU, [b_scan][a_scan][depth]. Results are complete when a function
// returns.
class RegistrationOnGpu {
  public:
    virtual ~RegistrationOnGpu() = default;

    // Copies `count` runs of `length` values to the host, starting `stride` values apart.
    virtual std::vector<float> runs(const float* power, std::int64_t count, std::int64_t length,
                                    std::int64_t stride) = 0;

    // Computes the features of a volume.
    virtual std::shared_ptr<FeaturesOnGpu> features(const float* power, const FeatureTables& tables) = 0;

    // Returns the peaks of coarse correlations, [row][y]. Entries of strips that do not exist are meaningless.
    virtual std::vector<CoarsePeak> peaks(const FeaturesOnGpu& reference, const FeaturesOnGpu& moving,
                                          const StripRanges& ranges, const RowCallback& done) = 0;

    // Returns fine correlations for each request.
    virtual std::vector<Correlations> correlations(const FeaturesOnGpu& reference, const FeaturesOnGpu& moving,
                                                   std::int64_t half, std::span<const CorrelationRequest> asked) = 0;

    // Creates an empty mean. `size`: rows, A-scans, B-scans.
    virtual std::unique_ptr<ShiftedMeanOnGpu> mean(const std::array<std::int64_t, 3>& size) = 0;
};

// ---- Postprocessing of volumes in GPU memory between reconstruction and display: converts codes to linear power,
// filters, converts back to codes and writes to the display targets. No voxels pass through the host, only up to 24 KiB
// of histogram counts per volume.

// Source B-scan of a target, moved by whole voxels along depth and A-scans. A negative `from` fills the target with 0.
struct WholeMove {
    std::int32_t from = -1, z = 0, x = 0;
};

// Formats of the volumes and the requested postprocessing.
struct VolumeOnGpuOptions {
    VolumeGrid grid;
    std::optional<VolumeGrid> flow;       // at the same positions
    StoredPower stored;                   // meaning of codes
    std::vector<float> power_of_codes;    // power of each code, for integer codes
    std::optional<SpeckleTables> filter;  // its margin is recomputed for each volume
};

// Used by one thread. Calls block until their work is complete. They throw Error{device, out_of_memory}.
class VolumeOnGpu {
  public:
    virtual ~VolumeOnGpu() = default;

    // Converts packed codes in GPU memory to linear power, [b_scan][a_scan][depth], and returns it in GPU memory. The
    // caller may modify it until the next call of read() or filter().
    virtual float* read(const std::byte* voxels) = 0;

    // Replaces NaN in the power with 0.
    virtual void clear_gaps() = 0;

    // Filters the power. Throws Error{bad_setting} if no filter was requested.
    virtual void filter() = 0;

    // Moves the flow for the next write(). `moves` has one entry per B-scan.
    virtual void move_flow(const std::byte* flow, const std::vector<WholeMove>& moves) = 0;

    // Writes voxels, flow and peaks to `to`. If power was read, its codes replace `voxels`. NaN voxels stay NaN.
    virtual void write(std::byte* voxels, const std::byte* flow, const VoxelTargets& to) = 0;
};

}  // namespace echolux
