// The search for the true images of an A-scan by one block of threads: the spectrum, its bins and what is found of them
// stay in registers, a thread holding points and bins t, t + threads, t + 2 threads ... of each.
//
// The forward transform serves both directions, so that its code, and the registers it needs, are there once: the bins
// of the peaks have real and imaginary part exchanged, and so do the points that come back.
#include "compute/cuda/defr.h"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/transform_size.h"
#include "compute/steps/full_range.h"

namespace echolux::cuda {
namespace {

struct SearchWork {
    const float* spectra = nullptr;  // [lines][points]
    const float2* rotation = nullptr;
    const float2* twiddles = nullptr;
    float threshold = 1;
    int iterations = 0;
    bool residual = true;
    int first_kept = 0;
    int kept = 0;
    float2* bins = nullptr;  // [lines][kept]
};

template <class Size>
constexpr int shared_bytes = static_cast<int>(Size::exchange_points * sizeof(float2));

// A thread's share of an A-scan, apart from the bins of what is left, v, and points on their way from and to depth.
template <class Size>
class Share {
  public:
    __device__ explicit Share(const float2* rotation) : rotation_(rotation + threadIdx.x) {}

    // spectrum: [points]
    __device__ void begin(const float* spectrum, float2 (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i)
            leave(i, __ldcs(spectrum + threadIdx.x + i * step), __ldg(rotation_ + i * step), v);
    }

    __device__ float greatest_power(const float2 (&v)[16]) const {
        float greatest = 0;
#pragma unroll
        for (int i = 0; i < 16; ++i) greatest = Greatest{}(greatest, power_of_bin(v[i].x, v[i].y));
        return greatest;
    }

    // Keeps the peaks and leaves nothing else; exchanged.
    __device__ void find(PeakDetector<float> is_peak, float2 (&v)[16]) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const float2 peak = is_peak(power_of_bin(v[i].x, v[i].y)) ? v[i] : float2{};
            found_[i] = found_[i] + peak;
            v[i] = exchanged(peak);
        }
    }

    // Of the spectrum, what the peaks show; v: their transform back, exchanged.
    __device__ void take_away(float2 (&v)[16]) {
        constexpr float scale = 1.0f / Size::n;  // neither transform is normalised
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const float2 rotation = __ldg(rotation_ + i * step), peaks = exchanged(v[i]);
            leave(i, left_[i] - scale * shown_by(peaks.x, peaks.y, rotation.x, rotation.y), rotation, v);
        }
    }

    // Bins [first, first + kept), zero delay in the middle, with what is left where that is wanted.
    __device__ void store(const float2 (&v)[16], bool residual, int first, int kept, float2* bins) const {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            const int z = (i + 8) % 16 * step + static_cast<int>(threadIdx.x) - first;
            if (z >= 0 && z < kept) bins[z] = residual ? found_[i] + v[i] : found_[i];
        }
    }

  private:
    static constexpr int step = Size::threads;

    // On the way to depth the dispersion of true images is compensated for.
    __device__ void leave(int i, float value, float2 rotation, float2 (&v)[16]) {
        left_[i] = value;
        v[i] = {value * rotation.x, -value * rotation.y};
    }

    const float2* rotation_;
    float left_[16];  // of the spectrum
    float2 found_[16] = {};
};

// Four blocks of 128 threads a multiprocessor is what these registers allow.
template <class Size>
__global__ void __launch_bounds__(Size::threads, 512 / Size::threads) search(const __grid_constant__ SearchWork work) {
    extern __shared__ float2 exchange[];
    __shared__ float joined[32];
    Share<Size> share(work.rotation);
    float2 v[16];
    share.begin(work.spectra + std::int64_t{blockIdx.x} * Size::n, v);
    for (int step = 0;; ++step) {
        transform_line<Size>(exchange, v, work.twiddles, static_cast<int>(threadIdx.x));
        if (step % 2 == 0) {  // to depth
            if (step == 2 * work.iterations) break;
            const float strongest = over_block(share.greatest_power(v), Greatest{}, joined);
            if (!(strongest > 0)) break;
            share.find({work.threshold, strongest}, v);
        } else {
            share.take_away(v);
        }
    }
    share.store(v, work.residual, work.first_kept, work.kept, work.bins + std::int64_t{blockIdx.x} * work.kept);
}

class SearchOnChip : public FullRangeSearch {
  public:
    SearchOnChip(const DefrDeviceTables& tables, cudaStream_t stream) : points_(tables.points), stream_(stream) {
        work_.rotation = tables.rotation.as<float2>();
        work_.twiddles = tables.twiddles.as<float2>();
        work_.threshold = static_cast<float>(tables.threshold);
        work_.iterations = static_cast<int>(tables.recipe.iterations);
        work_.residual = tables.recipe.residual || tables.recipe.iterations == 0;
        work_.first_kept = static_cast<int>(tables.kept.begin);
        work_.kept = static_cast<int>(tables.kept.end - tables.kept.begin);
    }

    void enqueue(const float* spectra, std::int64_t lines, float2* bins) override {
        work_.spectra = spectra;
        work_.bins = bins;
        with_transform_size(points_, [&](auto size) {
            using Size = decltype(size);
            constexpr int shared = shared_bytes<Size>;
            checked(cudaFuncSetAttribute(search<Size>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                    "ask for shared memory");
            search<Size><<<static_cast<unsigned>(lines), Size::threads, shared, stream_>>>(work_);
        });
        checked_launch("search the true images");
    }

  private:
    std::int64_t points_;
    cudaStream_t stream_;
    SearchWork work_;
};

}  // namespace

bool search_fits_on_chip(std::int64_t points) {
    if (!has_transform_size(points)) return false;
    int bytes = 0;
    with_transform_size(points, [&](auto size) { bytes = shared_bytes<decltype(size)>; });
    return bytes <= max_shared_bytes();
}

std::unique_ptr<FullRangeSearch> search_on_chip(const DefrDeviceTables& tables, cudaStream_t stream) {
    return std::make_unique<SearchOnChip>(tables, stream);
}

}  // namespace echolux::cuda
