// Search for the true images: in passes through memory for many A-scans at a time, or by one thread block per A-scan.
//
// Passes support single and double precision. Between cuFFT transforms of any length, one thread block processes each
// A-scan. One buffer of bins serves both directions.
#include "compute/cuda/defr.h"

#include <type_traits>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/toolkit.h"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
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
        strongest = Larger{}(strongest, power_of_bin(line.bins[z].x, line.bins[z].y));
    }
    const PeakDetector<Real> is_peak(threshold, over_block(strongest, Larger{}, joined));
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
        checked_launch("search for true images in passes");
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

// ---- Search for the true images of an A-scan, or of two in half precision, by one thread block. The spectrum, its
// bins and the detected peaks stay in registers; each thread holds points and bins t, t + threads, t + 2 threads ...
//
// The forward transform serves both directions, so that its code and registers exist only once: for the inverse, real
// and imaginary parts of the peaks' bins are exchanged, and those of the resulting points again.

namespace {

struct SearchWork {
    const float* spectra = nullptr;  // [lines][points]
    int lines = 0;
    const float2* rotation = nullptr;
    const float2* twiddles = nullptr;
    const HalfFactor* half_rotation = nullptr;
    const HalfFactor* half_twiddles = nullptr;
    float half_scale = 1;
    float threshold = 1;
    int iterations = 0;
    bool residual = true;
    int first_kept = 0;
    int kept = 0;
    float2* bins = nullptr;  // [lines][kept]
};

// The data a block processes: an A-scan in floats, or two in halves. Values are points of spectra, bins those of their
// transforms, powers those of bins.
struct OneInFloats {
    using Value = float;
    using Bin = float2;
    using Factor = float2;
    using Power = float;
    static constexpr int lines = 1;
    static constexpr float of_peaks = 1;  // scale of peaks before the inverse transform

    __device__ static const Factor* rotation(const SearchWork& work) { return work.rotation; }
    __device__ static const Factor* twiddles(const SearchWork& work) { return work.twiddles; }
    __device__ static Value value(const SearchWork&, const float* const (&spectra)[lines], int i) {
        return __ldcs(spectra[0] + i);
    }
    __device__ static Bin turned(Value value, Factor rotation) { return {value * rotation.x, -value * rotation.y}; }
    __device__ static Value left(Value value, Bin peaks, Factor rotation, float scale) {
        return value - scale * shown_by(peaks.x, peaks.y, rotation.x, rotation.y);
    }
    __device__ static Power power(Bin bin) { return power_of_bin(bin.x, bin.y); }
    __device__ static bool is_something(Power power) { return power > 0; }
    __device__ static void store(const SearchWork&, Bin bin, float2* const (&bins)[lines], int z) { bins[0][z] = bin; }

    using Greater = Larger;

    struct Peaks {
        PeakDetector<float> is_peak;

        __device__ Peaks(float threshold, Power strongest) : is_peak(threshold, strongest) {}
        __device__ Bin operator()(Bin bin) const { return is_peak(power(bin)) ? bin : Bin{}; }
    };
};

struct TwoInHalves {
    using Value = __half2;
    using Bin = HalfPair;
    using Factor = HalfFactor;
    using Power = float2;
    static constexpr int lines = 2;
    static constexpr float of_peaks = DefrDeviceTables::half_peaks;

    __device__ static const Factor* rotation(const SearchWork& work) { return work.half_rotation; }
    __device__ static const Factor* twiddles(const SearchWork& work) { return work.half_twiddles; }
    __device__ static Value value(const SearchWork& work, const float* const (&spectra)[lines], int i) {
        return __floats2half2_rn(__ldcs(spectra[0] + i) * work.half_scale, __ldcs(spectra[1] + i) * work.half_scale);
    }
    __device__ static Bin turned(Value value, Factor rotation) {
        return {__hmul2(value, __low2half2(rotation.parts)), __hmul2(value, __hneg2(__high2half2(rotation.parts)))};
    }
    __device__ static Value left(Value value, Bin peaks, Factor rotation, float scale) {
        const __half2 shown =
            __hfma2(peaks.re, __low2half2(rotation.parts), __hneg2(__hmul2(peaks.im, __high2half2(rotation.parts))));
        return __hfma2(shown, __float2half2_rn(-2 * scale / of_peaks), value);
    }
    __device__ static Power power(Bin bin) {
        const float2 re = __half22float2(bin.re), im = __half22float2(bin.im);
        return {power_of_bin(re.x, im.x), power_of_bin(re.y, im.y)};
    }
    __device__ static bool is_something(Power power) { return power.x > 0 || power.y > 0; }
    __device__ static void store(const SearchWork& work, Bin bin, float2* const (&bins)[lines], int z) {
        const float whole = 1 / work.half_scale;
        const float2 re = __half22float2(bin.re), im = __half22float2(bin.im);
        bins[0][z] = {re.x * whole, im.x * whole};
        bins[1][z] = {re.y * whole, im.y * whole};
    }

    struct Greater {
        __device__ Power operator()(Power a, Power b) const { return {Larger{}(a.x, b.x), Larger{}(a.y, b.y)}; }
    };

    struct Peaks {
        PeakDetector<float> first, second;

        __device__ Peaks(float threshold, Power strongest)
            : first(threshold, strongest.x), second(threshold, strongest.y) {}
        __device__ Bin operator()(Bin bin) const {
            const Power found = power(bin);
            const unsigned mask = (first(found.x) ? 0xffffu : 0u) | (second(found.y) ? 0xffff0000u : 0u);
            return {masked(bin.re, mask), masked(bin.im, mask)};
        }
        __device__ static __half2 masked(__half2 value, unsigned mask) {
            const unsigned bits = reinterpret_cast<const unsigned&>(value) & mask;
            return reinterpret_cast<const __half2&>(bits);
        }
    };
};

__device__ inline float2 scaled(float2 bin, float) {
    return bin;
}

__device__ inline HalfPair scaled(HalfPair bin, float factor) {
    const __half2 both = __float2half2_rn(factor);
    return {__hmul2(bin.re, both), __hmul2(bin.im, both)};
}

template <class Size, class Form>
constexpr int shared_bytes = static_cast<int>(Size::exchange_points * sizeof(typename Form::Bin));

// A thread's part of its A-scans, except for the residual bins v and points being transformed.
template <class Size, class Form>
class Share {
  public:
    using Bin = typename Form::Bin;
    using Power = typename Form::Power;

    __device__ explicit Share(const SearchWork& work) : rotation_(Form::rotation(work) + threadIdx.x) {}

    // `spectra` points to [points] each.
    __device__ void begin(const SearchWork& work, const float* const (&spectra)[Form::lines], Bin (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            leave(i, Form::value(work, spectra, static_cast<int>(threadIdx.x) + i * step), loaded(rotation_ + i * step),
                  v);
        }
    }

    __device__ Power max_power(const Bin (&v)[16]) const {
        Power greatest{};
#pragma unroll
        for (int i = 0; i < 16; ++i) greatest = typename Form::Greater{}(greatest, Form::power(v[i]));
        return greatest;
    }

    // Adds the peaks to the result and leaves only them in v, with real and imaginary parts exchanged.
    __device__ void find(const typename Form::Peaks& peaks, Bin (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const Bin peak = peaks(v[i]);
            found_[i] = found_[i] + peak;
            v[i] = exchanged(scaled(peak, Form::of_peaks));
        }
    }

    // Subtracts the contribution of the peaks from the spectrum. v holds their inverse transform, exchanged.
    __device__ void take_away(Bin (&v)[16]) {
        constexpr float scale = 1.0f / Size::n;  // the transforms are not normalized
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const auto rotation = loaded(rotation_ + i * step);
            leave(i, Form::left(left_[i], exchanged(v[i]), rotation, scale), rotation, v);
        }
    }

    // Stores bins [first, first + kept), with zero delay in the middle, including the residual if requested.
    __device__ void store(const SearchWork& work, const Bin (&v)[16], float2* const (&bins)[Form::lines]) const {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const int z = (i + 8) % 16 * step + static_cast<int>(threadIdx.x) - work.first_kept;
            if (z >= 0 && z < work.kept) Form::store(work, work.residual ? found_[i] + v[i] : found_[i], bins, z);
        }
    }

  private:
    static constexpr int step = Size::threads;

    // Compensates the dispersion of true images for the transform to depth.
    __device__ void leave(int i, typename Form::Value value, typename Form::Factor rotation, Bin (&v)[16]) {
        left_[i] = value;
        v[i] = Form::turned(value, rotation);
    }

    const typename Form::Factor* rotation_;
    typename Form::Value left_[16];  // residual spectrum
    Bin found_[16] = {};
};

// The registers allow four blocks of 128 threads per multiprocessor.
template <class Size, class Form>
__global__ void __launch_bounds__(Size::threads, 512 / Size::threads) search(const __grid_constant__ SearchWork work) {
    extern __shared__ float2 memory[];
    __shared__ typename Form::Power joined[32];
    auto* exchange = reinterpret_cast<typename Form::Bin*>(memory);
    const float* spectra[Form::lines];
    float2* bins[Form::lines];
#pragma unroll
    for (int l = 0; l < Form::lines; ++l) {  // a missing line is replaced by the last one
        const std::int64_t line = min(static_cast<int>(blockIdx.x) * Form::lines + l, work.lines - 1);
        spectra[l] = work.spectra + line * Size::n;
        bins[l] = work.bins + line * work.kept;
    }
    Share<Size, Form> share(work);
    typename Form::Bin v[16];
    share.begin(work, spectra, v);
    for (int step = 0;; ++step) {
        transform_line<Size>(exchange, v, Form::twiddles(work), static_cast<int>(threadIdx.x));
        if (step % 2 == 0) {  // to depth
            if (step == 2 * work.iterations) break;
            const auto strongest = over_block(share.max_power(v), typename Form::Greater{}, joined);
            if (!Form::is_something(strongest)) break;
            share.find({work.threshold, strongest}, v);
        } else {
            share.take_away(v);
        }
    }
    share.store(work, v, bins);
}

class SearchOnChip : public FullRangeSearch {
  public:
    SearchOnChip(const DefrDeviceTables& tables, cudaStream_t stream)
        : points_(tables.points), in_halves_(tables.in_halves()), stream_(stream) {
        work_.rotation = tables.rotation.as<float2>();
        work_.twiddles = tables.twiddles.as<float2>();
        work_.half_rotation = tables.half_rotation.as<HalfFactor>();
        work_.half_twiddles = tables.half_twiddles.as<HalfFactor>();
        work_.half_scale = tables.half_scale;
        work_.threshold = static_cast<float>(tables.threshold);
        work_.iterations = static_cast<int>(tables.recipe.iterations);
        work_.residual = tables.recipe.residual || tables.recipe.iterations == 0;
        work_.first_kept = static_cast<int>(tables.kept.begin);
        work_.kept = static_cast<int>(tables.kept.end - tables.kept.begin);
    }

    void enqueue(const float* spectra, std::int64_t lines, float2* bins) override {
        work_.spectra = spectra;
        work_.lines = static_cast<int>(lines);
        work_.bins = bins;
        with_transform_size(points_, [&](auto size) {
            if (in_halves_) return launch<decltype(size), TwoInHalves>();
            launch<decltype(size), OneInFloats>();
        });
        checked_launch("search for true images");
    }

  private:
    template <class Size, class Form>
    void launch() const {
        constexpr int shared = shared_bytes<Size, Form>;
        const auto kernel = search<Size, Form>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "request shared memory");
        const int blocks = (work_.lines + Form::lines - 1) / Form::lines;
        kernel<<<static_cast<unsigned>(blocks), Size::threads, shared, stream_>>>(work_);
    }

    std::int64_t points_;
    bool in_halves_;
    cudaStream_t stream_;
    SearchWork work_;
};

}  // namespace

std::unique_ptr<FullRangeSearch> search_on_chip(const DefrDeviceTables& tables, cudaStream_t stream) {
    return std::make_unique<SearchOnChip>(tables, stream);
}

}  // namespace echolux::cuda
