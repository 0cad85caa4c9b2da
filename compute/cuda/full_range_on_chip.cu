// The search for the true images of an A-scan, or of two in half precision, by one block of threads: the spectrum, its
// bins and what is found of them stay in registers, a thread holding points and bins t, t + threads, t + 2 threads ...
// of each.
//
// The forward transform serves both directions, so that its code, and the registers it needs, are there once: the bins
// of the peaks have real and imaginary part exchanged, and so do the points that come back.
#include "compute/cuda/defr.h"
#include "compute/cuda/half_pairs.cuh"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/transform_size.h"
#include "compute/steps/full_range.h"

namespace echolux::cuda {
namespace {

struct SearchWork {
    const float* spectra = nullptr;  // [lines][points]
    unsigned lines = 0;
    const void* rotation = nullptr;  // Form::Factor [points]
    const void* twiddles = nullptr;
    float threshold = 1;
    int iterations = 0;
    bool residual = true;
    int first_kept = 0;
    int kept = 0;
    float2* bins = nullptr;  // [lines][kept]
};

template <class Size, class Form>
constexpr int shared_bytes = static_cast<int>(Size::exchange_points * sizeof(typename Form::Point));

struct OneInFloats {
    static constexpr int lines = 1;
    using Value = float;  // of a spectrum
    using Point = float2;
    using Factor = float2;
    using Powers = float;

    __device__ static Value value(const float* const (&spectra)[1], int i) { return __ldcs(spectra[0] + i); }
    __device__ static Point turned_back(Value value, Factor by) { return {value * by.x, -value * by.y}; }
    __device__ static Powers powers(Point bin) { return power_of_bin(bin.x, bin.y); }
    __device__ static bool any(Powers powers) { return powers > 0; }
    __device__ static Point peak(Point bin, float threshold, Powers strongest) {
        return PeakDetector<float>(threshold, strongest)(powers(bin)) ? bin : Point{};
    }
    __device__ static Point before_return(Point peak) { return peak; }
    // `points`: of a transform of n peaks, not normalised.
    __device__ static Value less_shown(Value value, Point points, Factor rotation, float n) {
        return value - shown_by(points.x, points.y, rotation.x, rotation.y) * (1 / n);
    }
    __device__ static void store(Point bin, float2* const (&bins)[1], int z) { bins[0][z] = bin; }
};

struct StrongestOfTwo {
    __device__ float2 operator()(float2 a, float2 b) const { return {fmaxf(a.x, b.x), fmaxf(a.y, b.y)}; }
};

// Samples are 2^-16 of counts: a line's whole power in one bin is then below the largest half. Peaks return a sixteenth
// as strong, so that their sums are.
struct TwoInHalves {
    static constexpr int lines = 2;
    using Value = __half2;
    using Point = HalfPair;
    using Factor = HalfFactor;
    using Powers = float2;
    static constexpr float of_counts = 1.0f / 65536, of_peaks = 1.0f / 16;

    __device__ static Value value(const float* const (&spectra)[2], int i) {
        return __floats2half2_rn(__ldcs(spectra[0] + i) * of_counts, __ldcs(spectra[1] + i) * of_counts);
    }
    __device__ static Point turned_back(Value value, Factor by) {
        return {__hmul2(value, __low2half2(by.parts)), __hneg2(__hmul2(value, __high2half2(by.parts)))};
    }
    __device__ static Powers powers(Point bin) {
        const float2 re = __half22float2(bin.re), im = __half22float2(bin.im);
        return {power_of_bin(re.x, im.x), power_of_bin(re.y, im.y)};
    }
    __device__ static bool any(Powers powers) { return powers.x > 0 || powers.y > 0; }
    __device__ static Point peak(Point bin, float threshold, Powers strongest) {
        const float2 own = powers(bin);
        const unsigned a = PeakDetector<float>(threshold, strongest.x)(own.x) ? 0x0000ffffu : 0;
        const unsigned b = PeakDetector<float>(threshold, strongest.y)(own.y) ? 0xffff0000u : 0;
        return {masked(bin.re, a | b), masked(bin.im, a | b)};
    }
    __device__ static Point before_return(Point peak) {
        const __half2 share = __float2half2_rn(of_peaks);
        return {__hmul2(peak.re, share), __hmul2(peak.im, share)};
    }
    __device__ static Value less_shown(Value value, Point points, Factor rotation, float n) {
        const __half2 scale = __float2half2_rn(2 / (n * of_peaks));
        const __half2 along = __hmul2(points.im, __high2half2(rotation.parts));
        const __half2 shown = __hfma2(points.re, __low2half2(rotation.parts), __hneg2(along));
        return __hfma2(__hneg2(shown), scale, value);
    }
    __device__ static void store(Point bin, float2* const (&bins)[2], int z) {
        constexpr float counts = 1 / of_counts;
        const float2 re = __half22float2(bin.re), im = __half22float2(bin.im);
        bins[0][z] = {re.x * counts, im.x * counts};
        bins[1][z] = {re.y * counts, im.y * counts};
    }

  private:
    __device__ static __half2 masked(__half2 value, unsigned mask) {
        const unsigned bits = reinterpret_cast<const unsigned&>(value) & mask;
        return reinterpret_cast<const __half2&>(bits);
    }
};

// A thread's share of the A-scans, apart from the bins of what is left, v, and points on their way from and to depth.
template <class Size, class Form>
class Share {
  public:
    using Point = typename Form::Point;
    using Factor = typename Form::Factor;

    __device__ explicit Share(const void* rotation) : rotation_(static_cast<const Factor*>(rotation) + threadIdx.x) {}

    // spectra: [points] each
    __device__ void begin(const float* const (&spectra)[Form::lines], Point (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i)
            leave(i, Form::value(spectra, static_cast<int>(threadIdx.x) + i * step), loaded(rotation_ + i * step), v);
    }

    template <class Strongest>
    __device__ typename Form::Powers greatest_power(const Point (&v)[16], const Strongest& strongest) const {
        typename Form::Powers greatest{};
#pragma unroll
        for (int i = 0; i < 16; ++i) greatest = strongest(greatest, Form::powers(v[i]));
        return greatest;
    }

    // Keeps the peaks and leaves nothing else; exchanged.
    __device__ void find(float threshold, typename Form::Powers strongest, Point (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const Point peak = Form::peak(v[i], threshold, strongest);
            found_[i] = found_[i] + peak;
            v[i] = exchanged(Form::before_return(peak));
        }
    }

    // Of the spectrum, what the peaks show; v: their transform back, exchanged.
    __device__ void take_away(Point (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const Factor rotation = loaded(rotation_ + i * step);
            leave(i, Form::less_shown(left_[i], exchanged(v[i]), rotation, Size::n), rotation, v);
        }
    }

    // Bins [first, first + kept), zero delay in the middle, with what is left where that is wanted.
    __device__ void store(const Point (&v)[16], bool residual, int first, int kept,
                          float2* const (&bins)[Form::lines]) const {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const int z = (i + 8) % 16 * step + static_cast<int>(threadIdx.x) - first;
            if (z >= 0 && z < kept) Form::store(residual ? found_[i] + v[i] : found_[i], bins, z);
        }
    }

  private:
    static constexpr int step = Size::threads;

    // On the way to depth the dispersion of true images is compensated for.
    __device__ void leave(int i, typename Form::Value value, Factor rotation, Point (&v)[16]) {
        left_[i] = value;
        v[i] = Form::turned_back(value, rotation);
    }

    const Factor* rotation_;
    typename Form::Value left_[16];  // of the spectrum
    Point found_[16] = {};
};

// Four blocks of 128 threads a multiprocessor is what these registers allow. The last block may have a line twice.
template <class Size, class Form>
__global__ void __launch_bounds__(Size::threads, 512 / Size::threads) search(const __grid_constant__ SearchWork work) {
    using Powers = typename Form::Powers;
    using Strongest = std::conditional_t<Form::lines == 1, Greatest, StrongestOfTwo>;
    extern __shared__ float2 shared[];
    __shared__ Powers joined[32];
    auto* exchange = reinterpret_cast<typename Form::Point*>(shared);
    const float* spectra[Form::lines];
    float2* bins[Form::lines];
#pragma unroll
    for (int l = 0; l < Form::lines; ++l) {
        const std::int64_t line = min(Form::lines * blockIdx.x + l, work.lines - 1);
        spectra[l] = work.spectra + line * Size::n;
        bins[l] = work.bins + line * work.kept;
    }
    Share<Size, Form> share(work.rotation);
    typename Form::Point v[16];
    share.begin(spectra, v);
    for (int step = 0;; ++step) {
        transform_line<Size>(exchange, v, static_cast<const typename Form::Factor*>(work.twiddles),
                             static_cast<int>(threadIdx.x));
        if (step % 2 == 0) {  // to depth
            if (step == 2 * work.iterations) break;
            const Powers strongest = over_block(share.greatest_power(v, Strongest{}), Strongest{}, joined);
            if (!Form::any(strongest)) break;
            share.find(work.threshold, strongest, v);
        } else {
            share.take_away(v);
        }
    }
    share.store(v, work.residual, work.first_kept, work.kept, bins);
}

template <class Size, class Form>
void launch_search(const SearchWork& work, cudaStream_t stream) {
    constexpr int shared = shared_bytes<Size, Form>;
    checked(cudaFuncSetAttribute(search<Size, Form>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
            "ask for shared memory");
    search<Size, Form><<<(work.lines + Form::lines - 1) / Form::lines, Size::threads, shared, stream>>>(work);
    checked_launch("search the true images");
}

class SearchOnChip : public FullRangeSearch {
  public:
    SearchOnChip(const DefrDeviceTables& tables, cudaStream_t stream)
        : points_(tables.points), in_halves_(tables.in_halves), stream_(stream) {
        work_.rotation = tables.rotation.data();
        work_.twiddles = tables.twiddles.data();
        work_.threshold = static_cast<float>(tables.threshold);
        work_.iterations = static_cast<int>(tables.recipe.iterations);
        work_.residual = tables.recipe.residual || tables.recipe.iterations == 0;
        work_.first_kept = static_cast<int>(tables.kept.begin);
        work_.kept = static_cast<int>(tables.kept.end - tables.kept.begin);
    }

    void enqueue(const float* spectra, std::int64_t lines, float2* bins) override {
        work_.spectra = spectra;
        work_.lines = static_cast<unsigned>(lines);
        work_.bins = bins;
        with_transform_size(points_, [&](auto size) {
            using Size = decltype(size);
            in_halves_ ? launch_search<Size, TwoInHalves>(work_, stream_)
                       : launch_search<Size, OneInFloats>(work_, stream_);
        });
    }

  private:
    std::int64_t points_;
    bool in_halves_;
    cudaStream_t stream_;
    SearchWork work_;
};

}  // namespace

bool search_fits_on_chip(std::int64_t points) {
    if (!has_transform_size(points)) return false;
    int bytes = 0;
    with_transform_size(points, [&](auto size) { bytes = shared_bytes<decltype(size), OneInFloats>; });
    return bytes <= max_shared_bytes();
}

std::unique_ptr<FullRangeSearch> search_on_chip(const DefrDeviceTables& tables, cudaStream_t stream) {
    return std::make_unique<SearchOnChip>(tables, stream);
}

}  // namespace echolux::cuda
