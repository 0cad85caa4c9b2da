// Sparse search in a single kernel: the kernel, its tables, and the selection of its variant for a grid.
#include "compute/cuda/sparse_search_on_chip.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <vector>

#include "compute/cuda/over_block.cuh"
#include "compute/cuda/point_values.cuh"
#include "compute/cuda/transform.cuh"
#include "compute/cuda/transform.h"
#include "compute/indexing.h"

namespace echolux::cuda {

// ---- A single kernel for the whole search of an A-scan (docs/transforms.md 9), from the samples to the profile. A
// thread block holds profile and gradient in registers, residual and finer grid in shared memory. The grid is
// transformed as in transform.cuh: a real one as a complex line of half its length, separated by symmetry (J. W.
// Cooley, P. A. W. Lewis, P. D. Welch, J. Sound Vib. 12, 315 (1970)); a complex one, which has the bins of one side
// only, directly.

// Samples are spread in rounds: no two samples of a round touch the same grid point, so sums need no atomics and have a
// fixed order. All tables list samples in that order.
struct OnChipWork {
    const float* spectra = nullptr;  // [lines][pitch]
    std::int64_t pitch = 0;

    const int* samples = nullptr;    // [sensed], indices into a spectrum
    const int* first = nullptr;      // [sensed], first grid point that a sample spreads to
    const float* weights = nullptr;  // [width][sensed]
    // [sensed], replaces both for width three; the first element holds the bits of `first`
    const float4* of_three = nullptr;
    const float2* turns = nullptr;  // [sensed], for complex grids
    const int* rounds = nullptr;    // [rounds + 1], start of each round
    int sensed = 0;
    int width = 0;
    int round_count = 0;

    const float* correction = nullptr;  // [modes], for complex grids
    const float4* factors = nullptr;    // [modes], for real grids; includes the correction, see transform.h
    const float2* twiddles = nullptr;
    CompressiveRecipe recipe;

    float2* bins = nullptr;  // [lines][depth]
    int first_bin = 0;
    int depth = 0;
    float to_bins = 1;
};

// Shared memory of a block.
struct SearchMemory {
    float2* exchange;       // [exchange points], the grid
    float* residual;        // [sensed], A x - y before the last step
    float* change;          // [sensed], A s of the last step or trial
    StepSums<float>* sums;  // [32]
};

// The grid points and weights of a sample: three of them in a single table entry, or any number.
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

// Any number of points, with their weights in separate tables.
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

// Common to both grids: 2^log2_modes depth bins and a transform of twice as many complex points.
template <int log2_modes>
struct SearchSize {
    using Size = TransformSize<log2_modes + 1>;
    static constexpr int n = Size::n, threads = Size::threads, modes_of_a_thread = 8;
    static constexpr int min_blocks = 512 / threads;  // per multiprocessor
    static_assert(modes_of_a_thread * threads == n / 2);
};

// Without dispersion, samples and grid are real: two points of the grid are one of the transform.
template <int log2_modes>
struct RealGrid : SearchSize<log2_modes> {
    using SearchSize<log2_modes>::n, SearchSize<log2_modes>::threads, SearchSize<log2_modes>::modes_of_a_thread;
    using Point = float;
    static constexpr int points = 2 * n;

    __device__ static Point turned(const OnChipWork&, int, float value) { return value; }
    __device__ static float sample(const OnChipWork&, int, Point value) { return value; }

    // Computes bins 0 .. modes of the grid's spectrum from bins m and n - m of the transform `v`.
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

// With dispersion, samples have phase factors and the grid is complex, with the middle mode at bin 0 (GridBand): mode t
// + i threads is bin t + (i - middle_row) threads, modulo the grid.
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

// A block that processes one A-scan.
template <class Grid, class Points>
class BlockSearch {
  public:
    static constexpr int modes_of_a_thread = Grid::modes_of_a_thread;

    __device__ BlockSearch(const OnChipWork& work, const SearchMemory& memory)
        : work_(work), memory_(memory), t_(static_cast<int>(threadIdx.x)) {}

    // The search loop. All threads evaluate the same scalar rules, so they take the same branches.
    __device__ void run(const float* spectrum) {
        const float energy = begin(spectrum);
        SearchRules<float> rules;
#pragma unroll 1
        for (int i = 0; i < work_.recipe.iterations; ++i) {
            const float largest = to_depth();
            if (i == 0) {
                auto* shared = reinterpret_cast<float*>(memory_.sums);
                rules.begin(work_.recipe, over_block(largest, Larger{}, shared),
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

    // Starts with an empty profile. Returns this thread's part of |y|^2.
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

    // Computes the gradient. Returns the largest amplitude in this thread.
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

    // Spreads the residual, updated by the last step, over the grid, and loads points t, t + threads ... of it.
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

    // Computes the profile after a step along the gradient and the threshold. Returns its sums.
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

namespace {

// Calls use(Grid) for tables with a supported grid.
template <class Use>
void with_grid(std::int64_t modes, bool real, const Use& use) {
    const auto with_kind = [&](auto log2_modes) {
        if (real) return use(RealGrid<log2_modes>{});
        use(ComplexGrid<log2_modes>{});
    };
    switch (modes) {
        case 512: return with_kind(std::integral_constant<int, 9>{});
        case 1024: return with_kind(std::integral_constant<int, 10>{});
        default: with_kind(std::integral_constant<int, 11>{});
    }
}

// Returns the points of the kernel's grid per point of the tables' grid: 2 for real tables on the k grid itself,
// because the kernel's real grid is twice as fine; otherwise 1.
std::int64_t stretch_of(const SensingTables& tables) {
    return tables.on_k_grid && tables.real ? 2 : 1;
}

// Samples sorted by round.
struct Rounds {
    std::vector<std::size_t> order;
    std::vector<std::int32_t> begins;  // [rounds + 1]
};

// Assigns each sample to the first round that does not use its grid points.
Rounds rounds_of(const SpreadSamples& spread, std::int64_t points) {
    std::vector<std::vector<bool>> taken;
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t p = 0; p < spread.first.size(); ++p) {
        const auto point = [&](std::int64_t l) { return index((spread.first[p] + l) % points); };
        std::size_t round = 0;
        const auto is_free = [&](std::size_t r) {
            for (std::int64_t l = 0; l < spread.width; ++l) {
                if (taken[r][point(l)]) return false;
            }
            return true;
        };
        while (round < taken.size() && !is_free(round)) ++round;
        if (round == taken.size()) {
            taken.emplace_back(index(points));
            members.emplace_back();
        }
        for (std::int64_t l = 0; l < spread.width; ++l) taken[round][point(l)] = true;
        members[round].push_back(p);
    }
    Rounds rounds{{}, {0}};
    for (const auto& samples : members) {
        rounds.order.insert(rounds.order.end(), samples.begin(), samples.end());
        rounds.begins.push_back(static_cast<std::int32_t>(rounds.order.size()));
    }
    return rounds;
}

// Uploads values[p] of the samples in round order.
template <class Value>
DeviceBuffer uploaded_in_order(const Rounds& rounds, const Value& value) {
    std::vector<decltype(value(std::size_t{0}))> values;
    for (const std::size_t p : rounds.order) values.push_back(value(p));
    return uploaded(values);
}

// Uploads [width][sensed].
DeviceBuffer uploaded_weights(const Rounds& rounds, const SpreadSamples& spread) {
    std::vector<float> weights;
    for (std::int64_t l = 0; l < spread.width; ++l) {
        for (const std::size_t p : rounds.order) {
            weights.push_back(spread.from_weights[p * index(spread.width) + index(l)]);
        }
    }
    return uploaded(weights);
}

// See OnChipWork::of_three.
DeviceBuffer uploaded_threes(const Rounds& rounds, const SpreadSamples& spread, std::int32_t stretch) {
    return uploaded_in_order(rounds, [&](std::size_t p) {
        const float* weights = spread.from_weights.data() + 3 * p;
        return float4{std::bit_cast<float>(spread.first[p] * stretch), weights[0], weights[1], weights[2]};
    });
}

}  // namespace

SparseSearchOnChip::SparseSearchOnChip(const SensingTables& tables, const CompressiveRecipe& recipe, DepthRange kept)
    : recipe_(recipe), kept_(kept), real_(tables.real), modes_(tables.modes), sensed_(std::ssize(tables.samples)),
      width_(tables.spread.width), to_bins_(tables.to_bins), correction_(uploaded(tables.correction)),
      factors_(uploaded(spectrum_factors(2 * tables.modes, 0, tables.correction))) {
    const Rounds rounds = rounds_of(tables.spread, tables.grid);
    round_count_ = std::ssize(rounds.begins) - 1;
    rounds_ = uploaded(rounds.begins);
    const auto stretch = static_cast<std::int32_t>(stretch_of(tables));
    samples_ = uploaded_in_order(rounds, [&](std::size_t p) { return tables.samples[p]; });
    if (width_ == 3) {
        threes_ = uploaded_threes(rounds, tables.spread, stretch);
    } else {
        first_ = uploaded_in_order(rounds, [&](std::size_t p) { return tables.spread.first[p] * stretch; });
        weights_ = uploaded_weights(rounds, tables.spread);
    }
    turns_ = uploaded_in_order(rounds, [&](std::size_t p) {
        const std::complex<float> turn(tables.turns_of_grid[p]);
        return float2{turn.real(), turn.imag()};
    });
    with_grid(modes_, real_, [&](auto grid) { twiddles_ = uploaded(transform_twiddles(decltype(grid)::Size::n)); });
}

void SparseSearchOnChip::enqueue(cudaStream_t stream, const float* spectra, std::int64_t pitch, std::int64_t lines,
                                 float2* bins) const {
    OnChipWork work;
    work.spectra = spectra;
    work.pitch = pitch;
    work.samples = samples_.as<std::int32_t>();
    work.first = first_.as<std::int32_t>();
    work.weights = weights_.as<float>();
    work.of_three = threes_.as<float4>();
    work.turns = turns_.as<float2>();
    work.rounds = rounds_.as<std::int32_t>();
    work.sensed = static_cast<int>(sensed_);
    work.width = static_cast<int>(width_);
    work.round_count = static_cast<int>(round_count_);
    work.correction = correction_.as<float>();
    work.factors = factors_.as<float4>();
    work.twiddles = twiddles_.as<float2>();
    work.recipe = recipe_;
    work.bins = bins;
    work.first_bin = static_cast<int>(kept_.begin);
    work.depth = static_cast<int>(kept_.end - kept_.begin);
    work.to_bins = to_bins_;
    const auto shared = static_cast<int>(sparse_search_bytes(modes_, sensed_));
    with_grid(modes_, real_, [&](auto grid) {
        using Grid = decltype(grid);
        const auto kernel = width_ == 3 ? search_lines<Grid, ThreePoints> : search_lines<Grid, AnyPoints>;
        checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                "request shared memory");
        kernel<<<static_cast<unsigned>(lines), Grid::threads, index(shared), stream>>>(work);
    });
    checked_launch("search in one kernel");
}

}  // namespace echolux::cuda
