// Angiography on the GPU (docs/algorithms.md, Flow): one thread block per output line, one thread per depth bin. An
// estimate computes the angiogram of one recorded A-scan position and bin. It may read bins repeatedly, because they
// are cached.
#include "compute/cuda/flow.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"

namespace echolux::cuda {
namespace {

// The repeats at one bin of an A-scan position.
struct RepeatsAt {
    const FlowWork& work;
    std::int64_t slow;
    std::int64_t position;
    int z;

    __device__ Phasor operator()(std::int64_t series, std::int64_t repeat) const {
        return phasor_at(work.column(slow, z) + work.repeats.line(position, series, repeat) * work.stride);
    }
};

// A method that only uses the voxel itself.
template <class Method>
struct OfVoxel {
    __device__ Angiogram operator()(const FlowWork& work, std::int64_t slow, std::int64_t position, int z) const {
        return angiogram<Method>(work.compared_of(slow), RepeatsAt{work, slow, position, z},
                                 [&](std::int64_t s, std::int64_t i) { return work.bulk_of(slow, position, s, i); });
    }
};

// Computes the mean power of the repeats only; the caller adds values.
struct PowerOnly {
    __device__ void first(Phasor) {}
    __device__ void next(Phasor, Phasor, Phasor) {}
    __device__ float value() const { return 0; }
};

// Mean decorrelation over the sub-bands of the spectrum.
struct OfBands {
    const Phasor* filters;
    std::int64_t bands;
    std::int64_t reach;

    __device__ Angiogram operator()(const FlowWork& work, std::int64_t slow, std::int64_t position, int z) const {
        const auto no_bulk = [](std::int64_t, std::int64_t) { return Phasor{1, 0}; };
        const Repeats repeats = work.compared_of(slow);
        Angiogram mean = angiogram<PowerOnly>(repeats, RepeatsAt{work, slow, position, z}, no_bulk);
        for (std::int64_t band = 0; band < bands; ++band) {
            const BandBin filtered{filters + band * (2 * reach + 1), reach, work.depth};
            const auto repeat = [&](std::int64_t series, std::int64_t i) {
                const float2* line = work.column(slow, 0) + work.repeats.line(position, series, i) * work.stride;
                return filtered([&](std::int64_t at) { return phasor_at(line + at); }, z);
            };
            mean.value += angiogram<Decorrelation>(repeats, repeat, no_bulk).value;
        }
        mean.value /= static_cast<float>(bands);
        return mean;
    }
};

// Complex differential variance over a depth window.
struct OfDepthWindow {
    std::int64_t width;

    __device__ Angiogram operator()(const FlowWork& work, std::int64_t slow, std::int64_t position, int z) const {
        const Repeats repeats = work.compared_of(slow);
        Angiogram mean =
            angiogram<PowerOnly>(repeats, RepeatsAt{work, slow, position, z}, [](std::int64_t, std::int64_t) {
                return Phasor{1, 0};
            });
        const WindowSpan window(z, width, work.depth);
        for (std::int64_t s = 0; s < repeats.series; ++s) {
            ComplexDifferentialVariance variance;
            for (std::int64_t i = 1; i < repeats.count; ++i) {
                PhaseStep sum;
                for (std::int64_t at = window.begin; at < window.end; ++at) {
                    const RepeatsAt repeat{work, slow, position, static_cast<int>(at)};
                    sum.add(phase_step(repeat(s, i - 1), repeat(s, i)));
                }
                variance.add(sum);
            }
            mean.value += variance.value();
        }
        mean.value /= static_cast<float>(repeats.series);
        return mean;
    }
};

// Correlation mapping over a window in depth and A-scans.
struct OfNeighbourhood {
    std::int64_t reach;

    __device__ Angiogram operator()(const FlowWork& work, std::int64_t slow, std::int64_t position, int z) const {
        const Repeats repeats = work.compared_of(slow);
        Angiogram mean =
            angiogram<PowerOnly>(repeats, RepeatsAt{work, slow, position, z}, [](std::int64_t, std::int64_t) {
                return Phasor{1, 0};
            });
        const WindowSpan positions(position, 2 * reach + 1, repeats.positions), bins(z, 2 * reach + 1, work.depth);
        for (std::int64_t s = 0; s < repeats.series; ++s) {
            for (std::int64_t i = 1; i < repeats.count; ++i) {
                CorrelationSums sums;
                for (std::int64_t p = positions.begin; p < positions.end; ++p) {
                    for (std::int64_t at = bins.begin; at < bins.end; ++at) {
                        const RepeatsAt repeat{work, slow, p, static_cast<int>(at)};
                        sums.add(std::sqrt(power_of(repeat(s, i - 1))), std::sqrt(power_of(repeat(s, i))));
                    }
                }
                mean.value += sums.value(static_cast<float>(positions.size() * bins.size()));
            }
        }
        mean.value /= static_cast<float>(repeats.pairs());
        return mean;
    }
};

__device__ inline void store_empty(const FlowWork& work, const TargetRow& row) {
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x))
        row.store(work.offset(z), std::uint16_t{0});
}

template <class Estimate>
__global__ void store_angiograms(FlowWork work, Estimate estimate, AngiogramCode code, std::int64_t min_count) {
    const std::int64_t slow = blockIdx.x / work.a_scans, a = blockIdx.x % work.a_scans;
    const TargetRow row = work.row(slow, a);
    if (work.compared_of(slow).count < min_count) return store_empty(work, row);
    for (int z = static_cast<int>(threadIdx.x); z < work.depth; z += static_cast<int>(blockDim.x)) {
        const Angiogram found =
            work.mixed(slow, a, [&](std::int64_t recorded) { return estimate(work, slow, recorded, z); });
        row.store(work.offset(z), code(found));
    }
}

}  // namespace

void enqueue_angiography(cudaStream_t stream, const FlowWork& work, const FlowTables& tables, const Phasor* filters) {
    const AngiogramCode code{tables.min_power, tables.unit};
    const auto store = [&](auto estimate) {
        store_angiograms<<<static_cast<unsigned>(work.outputs()), threads_of_a_line, 0, stream>>>(
            work, estimate, code, min_compared(tables.method));
        checked_launch("compare repeats");
    };
    switch (tables.method) {
        case FlowMethod::speckle_variance: return store(OfVoxel<SpeckleVariance>{});
        case FlowMethod::omag: return store(OfVoxel<Omag>{});
        case FlowMethod::phase_variance: return store(OfVoxel<PhaseVariance>{});
        case FlowMethod::cdv: return store(OfDepthWindow{tables.window_depth});
        case FlowMethod::correlation: return store(OfNeighbourhood{tables.reach});
        default: break;
    }
    if (tables.bands > 1) return store(OfBands{filters, tables.bands, tables.band_reach});
    store(OfVoxel<Decorrelation>{});
}

}  // namespace echolux::cuda
