// Registration of volumes as a GPU offers it: features of B-scans, their correlations, and means of what was shifted,
// all of volumes in its memory. What is made of the correlations (paths, reasons) and the CPU's own, the reference, is
// in engine/registration.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "compute/backend.h"
#include "compute/steps/registration.h"

namespace echolux {

// By which features are made.
struct FeatureTables {
    std::array<std::int64_t, 3> size{};          // of the volume: rows, A-scans, B-scans
    std::int64_t first_depth = 0, depths = 0;    // that are compared
    std::vector<float> smoothing;                // weights, an odd number, of power along depth and along A-scans
    std::int64_t slow_half = 0, slow_times = 0;  // what is slow: means over so many to either side, so often
    std::int64_t coarse = 1;                     // samples along depth and A-scans in a coarse one
    LogFeature feature{};
};

// Of a volume's B-scans, fine and coarse, in a GPU's memory.
class FeaturesOnGpu {
  public:
    virtual ~FeaturesOnGpu() = default;

    // Of B-scans, root of the sum of squares; in the host's memory.
    virtual const std::vector<float>& norms() const = 0;
    virtual const std::vector<float>& coarse_norms() const = 0;

    // In their place: 0 where there is no signal, so that the B-scan takes no part.
    virtual void set_norms(std::vector<float> norms, std::vector<float> coarse_norms) = 0;
};

struct StripRanges {
    std::int64_t half = 0;                    // B-scans of a strip on either side of its middle
    std::int64_t first_y = 0, last_y = 0;     // B-scans of the reference, from the strip's own on
    std::int32_t coarse_z = 0, coarse_x = 0;  // coarse shifts

    std::int64_t offsets() const { return last_y - first_y + 1; }
};

// Of a strip about `row`, `y` B-scans further on in the reference, shifts of up to `reach` samples about one.
struct CorrelationsAsked {
    static constexpr std::int32_t reach = 2, edge = 2 * reach + 1;

    std::int32_t row = 0, y = 0, z = 0, x = 0;
};

using Correlations = std::array<float, CorrelationsAsked::edge * CorrelationsAsked::edge>;  // [x][z]

// Where to put B-scans of a volume that was registered.
struct LandingRow {
    double z = 0, x = 0;
    float weight = 0;
    std::int32_t row = 0, to = 0;  // of the volume, of the mean; rows that land together are in order
};

// Told how many B-scans are done; may throw, which ends the work.
using RowsDone = std::function<void(std::int64_t)>;

// The weighted mean of registered volumes, in a GPU's memory.
class ShiftedMeanOnGpu {
  public:
    virtual ~ShiftedMeanOnGpu() = default;

    virtual void clear() = 0;

    // `power` on the GPU; `rows` in the order of their targets. Throws Error{device}.
    virtual void add(const float* power, std::span<const LandingRow> rows) = 0;

    // The mean power, NaN where nothing came, to memory of the GPU or of the host. Throws Error{device}.
    virtual void write(float* mean) = 0;
};

// Power lies in the memory of one GPU, [b_scan][a_scan][depth]; what is asked for is there when a function returns.
class RegistrationOnGpu {
  public:
    virtual ~RegistrationOnGpu() = default;

    // `count` runs of `length` values, each beginning `stride` values after the one before.
    virtual std::vector<float> runs(const float* power, std::int64_t count, std::int64_t length,
                                    std::int64_t stride) = 0;

    virtual std::shared_ptr<FeaturesOnGpu> features(const float* power, const FeatureTables& tables) = 0;

    // Peaks of coarse correlations, [row][y]; those of strips that are not there say nothing.
    virtual std::vector<CoarsePeak> peaks(const FeaturesOnGpu& reference, const FeaturesOnGpu& moving,
                                          const StripRanges& ranges, const RowsDone& done) = 0;

    virtual std::vector<Correlations> correlations(const FeaturesOnGpu& reference, const FeaturesOnGpu& moving,
                                                   std::int64_t half, std::span<const CorrelationsAsked> asked) = 0;

    virtual std::unique_ptr<ShiftedMeanOnGpu> mean(const std::array<std::int64_t, 3>& size) = 0;
};

// Throws Error{device, out_of_memory}; where there is no GPU that is Error{device}.
std::shared_ptr<RegistrationOnGpu> registration_on_gpu(const BackendChoice& choice);

}  // namespace echolux
