// Search for the true images in passes through memory, for many A-scans at a time, in single or double precision: cuFFT
// transforms of any length, and one thread block per A-scan between them. One buffer of bins serves both directions.
#include <type_traits>

#include "compute/cuda/defr.h"
#include "compute/cuda/fft.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/steps/sparse.h"

namespace echolux::cuda {
namespace {

template <class Real>
using ComplexOf = std::conditional_t<std::is_same_v<Real, double>, double2, float2>;

// State of a search. All arrays are [lines][points] unless noted.
template <class Real>
struct SearchState {
    using Complex = ComplexOf<Real>;

    std::int64_t points;
    const Complex* rotation;  // [points]
    Real* left;               // residual spectra
    Complex* bins;            // bins of the residual or of its peaks; points after the inverse transform
    Complex* found;

    __device__ SearchState of_line() const {
        const std::int64_t first = std::int64_t{blockIdx.x} * points;
        return {points, rotation, left + first, bins + first, found + first};
    }

    // Compensates the dispersion of true images for the transform to depth.
    __device__ void leave(std::int64_t j, Real value) const {
        left[j] = value;
        bins[j] = {value * rotation[j].x, -value * rotation[j].y};
    }
};

template <class Real>
__global__ void begin(SearchState<Real> state, const float* spectra) {
    const SearchState<Real> line = state.of_line();
    const float* spectrum = spectra + std::int64_t{blockIdx.x} * line.points;
    for (std::int64_t j = threadIdx.x; j < line.points; j += blockDim.x) {
        line.leave(j, static_cast<Real>(spectrum[j]));
        line.found[j] = {};
    }
}

// Adds the peaks to the result and leaves only them in the bins.
template <class Real>
__global__ void find(SearchState<Real> state, Real threshold) {
    __shared__ Real joined[32];
    const SearchState<Real> line = state.of_line();
    Real strongest = 0;
    for (std::int64_t z = threadIdx.x; z < line.points; z += blockDim.x) {
        strongest = Greatest{}(strongest, power_of_bin(line.bins[z].x, line.bins[z].y));
    }
    const PeakDetector<Real> is_peak(threshold, over_block(strongest, Greatest{}, joined));
    for (std::int64_t z = threadIdx.x; z < line.points; z += blockDim.x) {
        const auto bin = line.bins[z];
        if (is_peak(power_of_bin(bin.x, bin.y))) {
            line.found[z] = {line.found[z].x + bin.x, line.found[z].y + bin.y};
        } else {
            line.bins[z] = {};
        }
    }
}

// Subtracts the contribution of the peaks from the spectra.
template <class Real>
__global__ void take_away(SearchState<Real> state) {
    const SearchState<Real> line = state.of_line();
    const Real scale = 1 / static_cast<Real>(line.points);  // the transforms are not normalized
    for (std::int64_t j = threadIdx.x; j < line.points; j += blockDim.x) {
        const auto peaks = line.bins[j], rotation = line.rotation[j];
        line.leave(j, line.left[j] - scale * shown_by(peaks.x, peaks.y, rotation.x, rotation.y));
    }
}

// kept: complex [lines][depth], including the residual bins if `residual` is set.
template <class Real>
__global__ void end(SearchState<Real> state, bool residual, std::int64_t first, std::int64_t depth, float2* kept) {
    const SearchState<Real> line = state.of_line();
    for (std::int64_t z = threadIdx.x; z < depth; z += blockDim.x) {
        const std::int64_t bin = bin_of_transform(first + z, line.points);
        const auto left = residual ? line.bins[bin] : ComplexOf<Real>{};
        kept[blockIdx.x * depth + z] = {static_cast<float>(line.found[bin].x + left.x),
                                        static_cast<float>(line.found[bin].y + left.y)};
    }
}

template <class Real>
class SearchInPasses : public FullRangeSearch {
  public:
    SearchInPasses(const DefrDeviceTables& tables, std::int64_t max_lines, cudaStream_t stream)
        : tables_(tables), stream_(stream), left_(max_lines * tables.points * std::int64_t{sizeof(Real)}),
          bins_(Fft::line_memory(tables.points, max_lines, tables.points * std::int64_t{sizeof(Complex)})),
          found_(max_lines * tables.points * std::int64_t{sizeof(Complex)}),
          to_depth_(in_double ? Fft::Kind::double_forward : Fft::Kind::complex_forward, tables.points, tables.points,
                    tables.points, stream),
          from_depth_(in_double ? Fft::Kind::double_inverse : Fft::Kind::complex_inverse, tables.points, tables.points,
                      tables.points, stream) {}

    void enqueue(const float* spectra, std::int64_t lines, float2* bins) override {
        const auto blocks = static_cast<unsigned>(lines);
        const SearchState<Real> state{tables_.points, tables_.rotation.as<Complex>(), left_.as<Real>(),
                                      bins_.as<Complex>(), found_.as<Complex>()};
        begin<<<blocks, threads_of_a_line, 0, stream_>>>(state, spectra);
        to_depth_.execute(lines, bins_.data(), bins_.data());
        for (std::int64_t i = 0; i < tables_.recipe.iterations; ++i) {
            find<<<blocks, threads_of_a_line, 0, stream_>>>(state, static_cast<Real>(tables_.threshold));
            from_depth_.execute(lines, bins_.data(), bins_.data());
            take_away<<<blocks, threads_of_a_line, 0, stream_>>>(state);
            to_depth_.execute(lines, bins_.data(), bins_.data());
        }
        end<<<blocks, threads_of_a_line, 0, stream_>>>(state, tables_.recipe.residual || tables_.recipe.iterations == 0,
                                                       tables_.kept.begin, tables_.kept.end - tables_.kept.begin, bins);
        checked_launch("search the true images in passes");
    }

  private:
    using Complex = ComplexOf<Real>;
    static constexpr bool in_double = std::is_same_v<Real, double>;

    const DefrDeviceTables& tables_;
    cudaStream_t stream_;
    DeviceBuffer left_;
    DeviceBuffer bins_;
    DeviceBuffer found_;
    Fft to_depth_;
    Fft from_depth_;
};

}  // namespace

std::unique_ptr<FullRangeSearch> search_in_passes(const DefrDeviceTables& tables, std::int64_t max_lines,
                                                  cudaStream_t stream) {
    if (tables.recipe.double_precision) return std::make_unique<SearchInPasses<double>>(tables, max_lines, stream);
    return std::make_unique<SearchInPasses<float>>(tables, max_lines, stream);
}

}  // namespace echolux::cuda
