// One kernel for the whole search of an A-scan (docs/transforms.md 9): a block of threads keeps profile and gradient in
// registers, residual and finer grid in shared memory, from the samples to the profile found. The grid is transformed
// as by line_transform.cuh: a real one as a complex line of half its length, taken apart by symmetry (J. W. Cooley, P.
// A. W. Lewis, P. D. Welch, J. Sound Vib. 12, 315 (1970)); a complex one, which has the bins of one side only, as it
// is.
#pragma once

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/line_transform.cuh"
#include "compute/cuda/over_block.cuh"

namespace echolux::cuda {

// Samples are spread in rounds: no two samples of a round touch the same grid point, so that sums need no atomics and
// have one order. All tables list samples in that order.
struct OnChipWork {
    const float* spectra = nullptr;  // [lines][pitch]
    std::int64_t pitch = 0;

    const int* samples = nullptr;      // [sensed] of a spectrum
    const int* first = nullptr;        // [sensed] of the grid points that a sample spreads to
    const float* weights = nullptr;    // [width][sensed]
    const float4* of_three = nullptr;  // instead of both, where the width is three: [sensed], the bits of `first` first
    const float2* turns = nullptr;     // [sensed], where the grid is complex
    const int* rounds = nullptr;       // [rounds + 1]: where each begins
    int sensed = 0;
    int width = 0;
    int round_count = 0;

    const float* correction = nullptr;  // [modes], where the grid is complex
    const float4* factors = nullptr;    // [modes], where it is real: with the correction, see half_length.h
    const float2* twiddles = nullptr;
    CompressiveRecipe recipe;

    float2* bins = nullptr;  // [lines][depth]
    int first_bin = 0;
    int depth = 0;
    float to_bins = 1;
};

// The shared memory of a block.
struct SearchMemory {
    float2* exchange;       // [exchange points]; the grid
    float* residual;        // [sensed] A x - y, before the last step
    float* change;          // [sensed] A s of the last step or try
    StepSums<float>* sums;  // [32]
};

// Where a sample's share of the grid begins and how large it is at each of its points: three of them, for which all is
// one entry, or any number.
struct ThreePoints {
    float4 entry;

    __device__ ThreePoints(const OnChipWork& work, int p) : entry(__ldg(work.of_three + p)) {}
    template <int points, class Use>
    __device__ void each(const Use& use) const {
        const int first = __float_as_int(entry.x);
        use(first, entry.y);
        use((first + 1) & (points - 1), entry.z);
        use((first + 2) & (points - 1), entry.w);
    }
};

struct AnyPoints {
    const OnChipWork& work;
    int p;

    __device__ AnyPoints(const OnChipWork& of, int sample) : work(of), p(sample) {}
    template <int points, class Use>
    __device__ void each(const Use& use) const {
        int g = __ldg(work.first + p);
        for (int l = 0; l < work.width; ++l) {
            use(g, __ldg(work.weights + l * work.sensed + p));
            g = (g + 1) & (points - 1);
        }
    }
};

// What both grids have in common: 2^log2_modes depth bins and a transform of twice as many complex points.
template <int log2_modes>
struct SearchSize {
    using Size = TransformSize<log2_modes + 1>;
    static constexpr int n = Size::n, threads = Size::threads, modes_of_a_thread = 8;
    static constexpr int min_blocks = 512 / threads;  // of a multiprocessor
    static_assert(modes_of_a_thread * threads == n / 2);

    static std::int64_t shared_bytes(std::int64_t sensed) {
        return Size::exchange_points * std::int64_t{sizeof(float2)} + 2 * sensed * std::int64_t{sizeof(float)} +
               32 * std::int64_t{sizeof(StepSums<float>)};
    }
};

// Without dispersion samples and grid are real: two points of it are one of the transform.
template <int log2_modes>
struct RealGrid : SearchSize<log2_modes> {
    using SearchSize<log2_modes>::n, SearchSize<log2_modes>::threads, SearchSize<log2_modes>::modes_of_a_thread;
    using Point = float;
    static constexpr int points = 2 * n;

    __device__ static Point turned(const OnChipWork&, int, float value) { return value; }
    __device__ static float sample(const OnChipWork&, int, Point value) { return value; }

    // Bins 0 .. modes of the grid's spectrum, from bins m and n - m of the transform `v`.
    __device__ static void take_apart(const OnChipWork& work, float2* exchange, const float2 (&v)[16],
                                      float2 (&profile)[modes_of_a_thread], int t) {
        __syncthreads();
#pragma unroll
        for (int i = 8; i < 16; ++i) exchange[t + i * threads - n / 2] = v[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) {
            const int m = t + i * threads;
            const float2 mirror = m == 0 ? v[0] : exchange[n / 2 - m];
            const float4 factor = __ldg(work.factors + m);
            profile[i] = float2{factor.x, factor.y} * v[i] + float2{factor.z, factor.w} * conjugate(mirror);
        }
        if (t == 0) profile[0].y = 0;
    }

    // The adjoint, on both sides of zero: bins m and n - m of a transform whose result is the real grid of the profile
    // and its mirror image. The other half of `exchange` may still be in use.
    __device__ static void put_together(const OnChipWork& work, float2* exchange,
                                        const float2 (&profile)[modes_of_a_thread], float2 (&v)[16], int t) {
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) {
            const int m = t + i * threads;
            const float4 factor = __ldg(work.factors + m);
            const float2 both = times(profile[i], 2);
            v[i] = conjugate(float2{factor.x, factor.y}) * both;
            exchange[m == 0 ? n / 2 : n - m] = m == 0 ? float2{} : float2{factor.z, factor.w} * conjugate(both);
        }
        __syncthreads();
#pragma unroll
        for (int i = 8; i < 16; ++i) v[i] = exchange[t + i * threads];
    }
};

// With dispersion samples are turned, and the grid is complex, the middle mode being bin 0 (GridBand): mode
// t + i threads is bin t + (i - middle_row) threads, counted around.
template <int log2_modes>
struct ComplexGrid : SearchSize<log2_modes> {
    using SearchSize<log2_modes>::n, SearchSize<log2_modes>::threads, SearchSize<log2_modes>::modes_of_a_thread;
    using Point = float2;
    static constexpr int points = n, middle_row = modes_of_a_thread / 2;
    static constexpr int row(int i) { return (i + 16 - middle_row) % 16; }

    __device__ static Point turned(const OnChipWork& work, int p, float value) {
        return times(conjugate(__ldg(work.turns + p)), value);
    }
    __device__ static float sample(const OnChipWork& work, int p, Point value) {
        const float2 turn = __ldg(work.turns + p);
        return value.x * turn.x - value.y * turn.y;
    }

    __device__ static void take_apart(const OnChipWork& work, float2*, const float2 (&v)[16],
                                      float2 (&profile)[modes_of_a_thread], int t) {
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) {
            profile[i] = times(v[row(i)], __ldg(work.correction + t + i * threads));
        }
    }

    __device__ static void put_together(const OnChipWork& work, float2*, const float2 (&profile)[modes_of_a_thread],
                                        float2 (&v)[16], int t) {
#pragma unroll
        for (int i = 0; i < 16; ++i) v[i] = {};
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) {
            const int m = t + i * threads;
            v[row(i)] = times(profile[i], share_of_norm(m) * __ldg(work.correction + m));
        }
    }
};

// One block at work on one A-scan.
template <class Grid, class Points>
class BlockSearch {
  public:
    static constexpr int modes_of_a_thread = Grid::modes_of_a_thread;

    __device__ BlockSearch(const OnChipWork& work, const SearchMemory& memory)
        : work_(work), memory_(memory), t_(static_cast<int>(threadIdx.x)) {}

    __device__ void run(const float* spectrum) {
        const float energy = begin(spectrum);
        SearchRules<float> rules;
#pragma unroll 1
        for (int i = 0; i < work_.recipe.iterations; ++i) {
            const float largest = to_depth();
            if (i == 0) {
                auto* shared = reinterpret_cast<float*>(memory_.sums);
                rules.begin(work_.recipe, over_block(largest, Greatest{}, shared),
                            over_block(energy, Sum{}, shared + 32));
            }
            rules.begin_iteration(work_.recipe, i);
            float2 next[modes_of_a_thread];
            StepSums<float> sums;
#pragma unroll 1
            for (int tries = 0; tries < rules.max_tries; ++tries) {
                if (tries > 0) rules.shorten();
                sums = tried(rules.length(), rules.threshold(), next);
                if (rules.accepts(work_.recipe, sums)) break;
            }
            take(next);
            rules.take(work_.recipe, sums);
        }
    }

    __device__ void store(float2* bins) const {
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) {
            const int z = mode(i) - work_.first_bin;
            if (z >= 0 && z < work_.depth) bins[z] = times(profile_[i], work_.to_bins);
        }
    }

  private:
    __device__ int mode(int i) const {
        return t_ + i * Grid::threads;
    }

    // Nothing is found yet. Returns this thread's part of |y|^2.
    __device__ float begin(const float* spectrum) {
        float energy = 0;
        for (int p = t_; p < work_.sensed; p += Grid::threads) {
            const float value = spectrum[__ldg(work_.samples + p)];
            memory_.residual[p] = -value;
            memory_.change[p] = 0;
            energy += value * value;
        }
        return energy;
    }

    // The gradient. Returns the largest amplitude that this thread has seen.
    __device__ float to_depth() {
        float2 v[16];
        spread(v);
        transform_line<typename Grid::Size>(memory_.exchange, v, work_.twiddles, t_);
        Grid::take_apart(work_, memory_.exchange, v, gradient_, t_);
        float largest = 0;
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) largest = fmaxf(largest, amplitude(gradient_[i]));
        return largest;
    }

    // The residual, with what the last step changed, on the grid, and points t, t + threads ... of that.
    __device__ void spread(float2 (&v)[16]) {
        auto* grid = reinterpret_cast<typename Grid::Point*>(memory_.exchange);
#pragma unroll
        for (int i = 0; i < 16; ++i) memory_.exchange[mode(i)] = {};
        __syncthreads();
        int begin = 0;
#pragma unroll 1
        for (int round = 0; round < work_.round_count; ++round) {
            const int end = __ldg(work_.rounds + round + 1);
#pragma unroll 1
            for (int p = begin + t_; p < end; p += Grid::threads) {
                const float residual = memory_.residual[p] + memory_.change[p];
                memory_.residual[p] = residual;
                const auto value = Grid::turned(work_, p, residual);
                Points(work_, p).template each<Grid::points>(
                    [&](int g, float weight) { accumulate(grid[g], weight, value); });
            }
            begin = end;
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 16; ++i) v[i] = memory_.exchange[mode(i)];
    }

    // The profile after a step along the gradient and the threshold; what that brings.
    __device__ StepSums<float> tried(float length, float threshold, float2 (&next)[modes_of_a_thread]) {
        StepSums<float> sums;
        float2 step[modes_of_a_thread];
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) {
            const TriedBin bin(phasor(profile_[i]), phasor(gradient_[i]), length, threshold, mode(i), sums);
            next[i] = point(bin.next);
            step[i] = point(bin.step);
        }
        to_samples(step, sums);
        return over_block(sums, Sum{}, memory_.sums);
    }

    __device__ void to_samples(const float2 (&step)[modes_of_a_thread], StepSums<float>& sums) {
        float2 v[16];
        Grid::put_together(work_, memory_.exchange, step, v, t_);
        transform_line_back<typename Grid::Size>(memory_.exchange, v, work_.twiddles, t_);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) memory_.exchange[mode(i)] = v[i];
        __syncthreads();
        const auto* grid = reinterpret_cast<const typename Grid::Point*>(memory_.exchange);
#pragma unroll 1
        for (int p = t_; p < work_.sensed; p += Grid::threads) {
            typename Grid::Point value{};
            Points(work_, p).template each<Grid::points>(
                [&](int g, float weight) { accumulate(value, weight, grid[g]); });
            const float change = Grid::sample(work_, p, value);
            memory_.change[p] = change;
            add_change(memory_.residual[p], change, sums);
        }
    }

    __device__ void take(const float2 (&next)[modes_of_a_thread]) {
#pragma unroll
        for (int i = 0; i < modes_of_a_thread; ++i) profile_[i] = next[i];
    }

    const OnChipWork& work_;
    SearchMemory memory_;
    int t_;
    float2 profile_[modes_of_a_thread] = {};
    float2 gradient_[modes_of_a_thread];
};

template <class Grid, class Points>
__global__ void __launch_bounds__(Grid::threads, Grid::min_blocks)
    search_lines(const __grid_constant__ OnChipWork work) {
    extern __shared__ float2 shared[];
    SearchMemory memory{};
    memory.exchange = shared;
    memory.sums = reinterpret_cast<StepSums<float>*>(memory.exchange + Grid::Size::exchange_points);
    memory.residual = reinterpret_cast<float*>(memory.sums + 32);
    memory.change = memory.residual + work.sensed;
    BlockSearch<Grid, Points> search(work, memory);
    search.run(work.spectra + blockIdx.x * work.pitch);
    search.store(work.bins + static_cast<std::int64_t>(blockIdx.x) * work.depth);
}

}  // namespace echolux::cuda
