// Sparse search in passes through memory: sensing through a uniform grid of any length (spread, transform, correct, and
// the adjoint) with one thread block per line, and the kernels between the transforms. compute/cpu/sparse.cpp does the
// same for one line.
#include "compute/cuda/compressive.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/point_values.cuh"
#include "compute/methods/nonuniform.h"

namespace echolux::cuda {
namespace {

// Device pointers of the tables.
struct GridWork {
    const std::int32_t* begin = nullptr;    // [points + 1]
    const std::int32_t* samples = nullptr;  // contributing to each point
    const float* weights = nullptr;
    const std::int32_t* first = nullptr;  // [sensed]
    const float* from_weights = nullptr;  // [sensed][width]
    const float2* turns = nullptr;        // [sensed]
    const float* correction = nullptr;    // [modes]
    int points = 0;
    int width = 0;
    int modes = 0;
    int middle = 0;  // mode of the grid's bin 0
};

// Both kinds have the bins of one side: a real grid because the others mirror them, a complex one because it resolves
// no others (GridBand). The inverse of the latter is the forward transform with real and imaginary parts exchanged.
template <class Point>
struct Kind;

template <>
struct Kind<float> {
    static constexpr Fft::Kind forward = Fft::Kind::real_forward;
    __host__ __device__ static std::int64_t bins(std::int64_t points) { return points / 2 + 1; }
    __device__ static float turned(float2, float value) { return value; }
    __device__ static float2 backward(float2 bin, int) { return bin; }
    __device__ static float sample(float2, float value) { return value; }
};

template <>
struct Kind<float2> {
    static constexpr Fft::Kind forward = Fft::Kind::complex_forward;
    __host__ __device__ static std::int64_t bins(std::int64_t points) { return points; }
    __device__ static float2 turned(float2 turn, float value) { return times(conjugate(turn), value); }
    __device__ static float2 backward(float2 bin, int m) {
        const float share = share_of_norm(m);
        return {bin.y * share, bin.x * share};
    }
    __device__ static float sample(float2 turn, float2 value) { return value.y * turn.x - value.x * turn.y; }
};

template <class Point>
__global__ void spread(const __grid_constant__ GridWork work, const float* samples, std::int64_t pitch, Point* grids) {
    const float* line = samples + blockIdx.x * pitch;
    Point* grid = grids + static_cast<std::int64_t>(blockIdx.x) * work.points;
    for (int g = static_cast<int>(threadIdx.x); g < work.points; g += threads_of_a_line) {
        Point sum{};
        for (std::int32_t i = work.begin[g]; i < work.begin[g + 1]; ++i) {
            const std::int32_t p = work.samples[i];
            accumulate(sum, work.weights[i], Kind<Point>::turned(work.turns[p], line[p]));
        }
        grid[g] = sum;
    }
}

__global__ void correct(const __grid_constant__ GridWork work, const float2* bins, std::int64_t bins_of_a_line,
                        float2* profiles, std::int64_t pitch) {
    for (int m = static_cast<int>(threadIdx.x); m < work.modes; m += threads_of_a_line) {
        const std::int64_t bin = bin_of_grid(m, work.middle, work.points);
        profiles[blockIdx.x * pitch + m] = times(bins[blockIdx.x * bins_of_a_line + bin], work.correction[m]);
    }
}

template <class Point>
__global__ void widen(const __grid_constant__ GridWork work, const float2* profiles, std::int64_t pitch, float2* bins,
                      std::int64_t bins_of_a_line) {
    for (int bin = static_cast<int>(threadIdx.x); bin < bins_of_a_line; bin += threads_of_a_line) {
        const int m = bin + work.middle < work.points ? bin + work.middle : bin + work.middle - work.points;
        float2 value{};
        if (m < work.modes)
            value = Kind<Point>::backward(times(profiles[blockIdx.x * pitch + m], work.correction[m]), m);
        bins[blockIdx.x * bins_of_a_line + bin] = value;
    }
}

template <class Point>
__global__ void read_off(const __grid_constant__ GridWork work, const Point* grids, float* samples, int sensed,
                         std::int64_t pitch) {
    const Point* grid = grids + static_cast<std::int64_t>(blockIdx.x) * work.points;
    for (int p = static_cast<int>(threadIdx.x); p < sensed; p += threads_of_a_line) {
        Point value{};
        int g = work.first[p];
        for (int l = 0; l < work.width; ++l) {
            accumulate(value, work.from_weights[p * work.width + l], grid[g]);
            if (++g == work.points) g = 0;
        }
        samples[blockIdx.x * pitch + p] = Kind<Point>::sample(work.turns[p], value);
    }
}

std::vector<float2> turns_of(const SensingTables& tables) {
    std::vector<float2> turns;
    for (const std::complex<double>& turn : tables.turns_of_grid) {
        turns.push_back({static_cast<float>(turn.real()), static_cast<float>(turn.imag())});
    }
    return turns;
}

SensingShape shape_of(const SensingTables& tables, std::int64_t max_lines) {
    const std::int64_t sensed = std::ssize(tables.samples);
    return {Fft::lines_at_once(tables.grid, max_lines), sensed, sensed, tables.modes, tables.modes};
}

// The operator on one stream, with its grids and transforms.
template <class Point>
class ByGrid : public Sensing {
  public:
    ByGrid(const GridWork& work, const SensingShape& shape, cudaStream_t stream)
        : work_(work), shape_(shape), stream_(stream), bins_of_a_line_(Kind<Point>::bins(work.points)),
          grids_(Fft::line_memory(work.points, shape.lines, work.points * std::int64_t{sizeof(Point)})),
          forward_(Kind<Point>::forward, work.points, work.points, bins_of_a_line_, stream) {
        if constexpr (is_real) {
            bins_ = Fft::line_memory(work.points, shape.lines, bins_of_a_line_ * std::int64_t{sizeof(float2)});
            backward_.emplace(Fft::Kind::real_inverse, work.points, bins_of_a_line_, work.points, stream);
        }
    }

    void to_samples(std::int64_t lines, const void* profiles, float* samples) override {
        const auto blocks = static_cast<unsigned>(lines);
        widen<Point><<<blocks, threads_of_a_line, 0, stream_>>>(work_, static_cast<const float2*>(profiles),
                                                                shape_.mode_pitch, bins(), bins_of_a_line_);
        (is_real ? *backward_ : forward_).execute(lines, bins(), grids_.data());
        read_off<<<blocks, threads_of_a_line, 0, stream_>>>(work_, grids_.as<Point>(), samples,
                                                            static_cast<int>(shape_.sensed), shape_.sample_pitch);
        checked_launch("transform depths to samples");
    }

    void to_depth(std::int64_t lines, const void* samples, void* profiles) override {
        const auto blocks = static_cast<unsigned>(lines);
        spread<<<blocks, threads_of_a_line, 0, stream_>>>(work_, static_cast<const float*>(samples),
                                                          shape_.sample_pitch, grids_.as<Point>());
        forward_.execute(lines, grids_.data(), bins());
        correct<<<blocks, threads_of_a_line, 0, stream_>>>(work_, bins(), bins_of_a_line_,
                                                           static_cast<float2*>(profiles), shape_.mode_pitch);
        checked_launch("transform samples to depths");
    }

  private:
    static constexpr bool is_real = std::is_same_v<Point, float>;

    float2* bins() const { return (is_real ? bins_ : grids_).template as<float2>(); }

    GridWork work_;
    SensingShape shape_;
    cudaStream_t stream_;
    std::int64_t bins_of_a_line_;
    DeviceBuffer grids_;
    DeviceBuffer bins_;  // used by real grids; complex ones are transformed in place
    Fft forward_;
    std::optional<Fft> backward_;
};

// The tables on the device.
class Grids : public SensingOnDevice {
  public:
    Grids(const SensingTables& tables, std::int64_t max_lines)
        : shape_(shape_of(tables, max_lines)), real_(tables.real), begin_(uploaded(tables.spread.begin)),
          samples_(uploaded(tables.spread.samples)), weights_(uploaded(tables.spread.weights)),
          first_(uploaded(tables.spread.first)), from_weights_(uploaded(tables.spread.from_weights)),
          turns_(uploaded(turns_of(tables))), correction_(uploaded(tables.correction)) {
        work_.begin = begin_.as<std::int32_t>();
        work_.samples = samples_.as<std::int32_t>();
        work_.weights = weights_.as<float>();
        work_.first = first_.as<std::int32_t>();
        work_.from_weights = from_weights_.as<float>();
        work_.turns = turns_.as<float2>();
        work_.correction = correction_.as<float>();
        work_.points = static_cast<int>(tables.grid);
        work_.width = static_cast<int>(tables.spread.width);
        work_.modes = static_cast<int>(tables.modes);
        work_.middle = static_cast<int>(tables.middle);
    }

    SensingShape shape() const override { return shape_; }
    bool accepts_halves() const override { return false; }
    std::unique_ptr<Sensing> on(cudaStream_t stream) const override {
        if (real_) return std::make_unique<ByGrid<float>>(work_, shape_, stream);
        return std::make_unique<ByGrid<float2>>(work_, shape_, stream);
    }

  private:
    SensingShape shape_;
    bool real_;
    DeviceBuffer begin_, samples_, weights_, first_, from_weights_, turns_, correction_;
    GridWork work_;
};

}  // namespace

std::unique_ptr<SensingOnDevice> sensing_by_grid(const SensingTables& tables, std::int64_t max_lines) {
    return std::make_unique<Grids>(tables, max_lines);
}

// ---- Kernels between the two transforms of an iteration: one warp per A-scan.

// Scalars of one A-scan.
struct SearchState {
    SearchRules<float> rules;
    StepSums<float> sums;     // over its bins
    float residual_norm = 0;  // |A x - y|
    float step_scale = 1;     // scale of the step
    bool is_open = false;     // another trial is needed
};

// One batch, with memory as in SparseSearch.
struct SearchWork {
    CompressiveRecipe recipe;
    std::int64_t lines = 0;
    int modes = 0, sensed = 0;
    std::int64_t mode_pitch = 0, sample_pitch = 0;
    float2 *profile = nullptr, *next = nullptr;
    float *residual = nullptr, *change = nullptr;
    std::byte *gradient = nullptr, *step = nullptr;  // float2, or __half2 if transforms take halves
    __half* half_residual = nullptr;                 // if transforms take halves
    SearchState* states = nullptr;
};

namespace {

constexpr int lanes = 32, lines_of_a_block = threads_of_a_line / lanes;

__device__ inline std::int64_t line_of_warp() {
    return std::int64_t{blockIdx.x} * lines_of_a_block + threadIdx.x / lanes;
}

__device__ inline bool is_first_lane() {
    return threadIdx.x % lanes == 0;
}

// The part of a batch that belongs to this warp's line.
struct Line {
    std::int64_t first_mode, first_sample;
    float2 *profile, *next;
    float *residual, *change;
    SearchState& state;

    __device__ explicit Line(const SearchWork& work)
        : first_mode(line_of_warp() * work.mode_pitch), first_sample(line_of_warp() * work.sample_pitch),
          profile(work.profile + first_mode), next(work.next + first_mode), residual(work.residual + first_sample),
          change(work.change + first_sample), state(work.states[line_of_warp()]) {}
};

// Bins from and to the transforms: float2 or __half2.
__device__ inline float2 in_floats(float2 bin) {
    return bin;
}

__device__ inline float2 in_floats(__half2 bin) {
    return __half22float2(bin);
}

__device__ inline void put(float2* to, float2 bin) {
    *to = bin;
}

__device__ inline void put(__half2* to, float2 bin) {
    *to = __float22half2_rn(bin);
}

// Returns a power of two that scales numbers up to `most` for half precision: below 2^15, and with all eleven bits down
// to 2^-29 of that. Transforms are linear, so the scale can be removed from their results.
template <class Bin>
__device__ inline float scale_for(float most) {
    if constexpr (std::is_same_v<Bin, float2>) return 1;
    return scalbnf(1, 14 - min(max(ilogbf(most), -100), 100));
}

// Returns the factor that removes the scale of a gradient.
template <class Bin>
__device__ inline float of_gradient(const SearchState& state) {
    return 1 / scale_for<Bin>(state.residual_norm);
}

// Returns the scale of a step. No bin of a gradient exceeds the norm of the residual, and no bin of a step exceeds
// length times that plus the threshold. Doubled because the gradient is rounded.
template <class Bin>
__device__ inline float scale_of_step(const SearchState& state, float length, float threshold) {
    return scale_for<Bin>(2 * (length * state.residual_norm + threshold));
}

// Calls use(i) for this thread's elements of a line. Several are loaded before use.
template <class Use>
__device__ inline void for_each(int count, const Use& use) {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x) % lanes; i < count; i += lanes) use(i);
}

// Each thread converts its own samples for the transform.
template <class Bin>
__device__ inline void store_residual(const SearchWork& work, const Line& line, float norm) {
    if constexpr (std::is_same_v<Bin, __half2>) {
        const float scale = scale_for<Bin>(norm);
        __half* halves = work.half_residual + line.first_sample;
        for_each(work.sensed, [&](int p) { halves[p] = __float2half_rn(line.residual[p] * scale); });
    }
}

template <class Bin>
__global__ void pick(const __grid_constant__ SearchWork work, const float* spectra, std::int64_t pitch,
                     const std::int32_t* samples) {
    if (line_of_warp() >= work.lines) return;
    const Line line(work);
    const float* spectrum = spectra + line_of_warp() * pitch;
    float energy = 0;
    for_each(work.sensed, [&](int p) {
        const float value = spectrum[samples[p]];
        line.residual[p] = -value;
        energy += value * value;
    });
    for_each(work.modes, [&](int m) { line.profile[m] = {}; });
    energy = over_warp(energy, Sum{});
    const float norm = sqrtf(energy);
    store_residual<Bin>(work, line, norm);
    if (!is_first_lane()) return;
    line.state.sums.left = energy;
    line.state.residual_norm = norm;
}

// Starts the searches after the first gradient.
template <class Bin>
__global__ void begin(const __grid_constant__ SearchWork work) {
    if (line_of_warp() >= work.lines) return;
    const Line line(work);
    const Bin* gradient = reinterpret_cast<const Bin*>(work.gradient) + line.first_mode;
    float largest = 0;
    for_each(work.modes, [&](int m) { largest = fmaxf(largest, amplitude(in_floats(gradient[m]))); });
    largest = over_warp(largest, Larger{}) * of_gradient<Bin>(line.state);
    if (is_first_lane()) line.state.rules.begin(work.recipe, largest, line.state.sums.left);
}

// Computes the next profile and the step to it. Bound by memory latency, so four blocks per multiprocessor are
// requested.
template <class Bin>
__global__ void __launch_bounds__(threads_of_a_line, 4)
    try_step(const __grid_constant__ SearchWork work, std::int64_t iteration, bool first_try) {
    if (line_of_warp() >= work.lines) return;
    const Line line(work);
    if (!first_try && !line.state.is_open) return;
    SearchRules<float> rules = line.state.rules;
    rules.begin_iteration(work.recipe, iteration);
    const float length = rules.length(), threshold = rules.threshold();
    const float gradient_scale = of_gradient<Bin>(line.state);
    const float step_scale = scale_of_step<Bin>(line.state, length, threshold);
    const Bin* gradient = reinterpret_cast<const Bin*>(work.gradient) + line.first_mode;
    Bin* step = reinterpret_cast<Bin*>(work.step) + line.first_mode;
    StepSums<float> sums;
    for_each(work.modes, [&](int m) {
        // Profiles bypass the L2 cache, which is left to the operands and results of products.
        const float2 now = __ldcs(line.profile + m), direction = times(in_floats(__ldcs(gradient + m)), gradient_scale);
        const TriedBin bin(phasor(now), phasor(direction), length, threshold, m, sums);
        __stcs(line.next + m, point(bin.next));
        put(step + m, times(point(bin.step), step_scale));
    });
    sums = over_warp(sums, Sum{});
    if (!is_first_lane()) return;
    line.state.sums = sums;
    line.state.step_scale = step_scale;
}

// Accepts or rejects a trial. The last trial is always accepted.
template <class Bin>
__global__ void judge(const __grid_constant__ SearchWork work, std::int64_t iteration, bool first_try, bool last_try) {
    if (line_of_warp() >= work.lines) return;
    const Line line(work);
    if (!first_try && !line.state.is_open) return;
    SearchRules<float> rules = line.state.rules;
    rules.begin_iteration(work.recipe, iteration);
    const StepSums<float> of_bins = line.state.sums;
    const float of_change = 1 / line.state.step_scale;
    StepSums<float> sums;
    for_each(work.sensed, [&](int p) { add_change(line.residual[p], line.change[p] * of_change, sums); });
    sums = of_bins + over_warp(sums, Sum{});
    const bool taken = last_try || rules.accepts(work.recipe, sums);
    const float norm = sqrtf(sums.left);
    if (taken) {
        for_each(work.sensed, [&](int p) { line.residual[p] += line.change[p] * of_change; });
        store_residual<Bin>(work, line, norm);
    }
    if (!is_first_lane()) return;
    if (taken) {
        rules.take(work.recipe, sums);
        line.state.residual_norm = norm;
    } else {
        rules.shorten();
    }
    line.state.rules = rules;
    line.state.is_open = !taken;
}

__global__ void store_bins(const __grid_constant__ SearchWork work, int first_bin, int depth, float to_bins,
                           float2* bins) {
    if (line_of_warp() >= work.lines) return;
    const Line line(work);
    float2* kept = bins + line_of_warp() * depth;
    for_each(depth, [&](int z) { kept[z] = times(line.profile[first_bin + z], to_bins); });
}

unsigned blocks_of(std::int64_t lines) {
    return static_cast<unsigned>((lines + lines_of_a_block - 1) / lines_of_a_block);
}

}  // namespace

SparseSearch::SparseSearch(const SensingOnDevice& sensing, const CompressiveRecipe& recipe, int tries,
                           cudaStream_t stream)
    : recipe_(recipe), tries_(tries), shape_(sensing.shape()), accepts_halves_(sensing.accepts_halves()),
      stream_(stream), sensing_(sensing.on(stream)) {
    const std::int64_t modes = shape_.lines * shape_.mode_pitch, samples = shape_.lines * shape_.sample_pitch;
    const auto transformed = static_cast<std::int64_t>(accepts_halves_ ? sizeof(__half2) : sizeof(float2));
    for (DeviceBuffer* buffer : {&profile_, &next_}) *buffer = zeroed(modes * std::int64_t{sizeof(float2)});
    for (DeviceBuffer* buffer : {&gradient_, &step_}) *buffer = zeroed(modes * transformed);
    for (DeviceBuffer* buffer : {&residual_, &change_}) *buffer = zeroed(samples * std::int64_t{sizeof(float)});
    if (accepts_halves_) half_residual_ = zeroed(samples * std::int64_t{sizeof(__half)});
    states_ = zeroed(shape_.lines * std::int64_t{sizeof(SearchState)});
}

void SparseSearch::enqueue(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines) {
    if (accepts_halves_) return search<__half2>(spectra, pitch, samples, lines);
    search<float2>(spectra, pitch, samples, lines);
}

template <class Bin>
void SparseSearch::search(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines) {
    pick<Bin><<<blocks_of(lines), threads_of_a_line, 0, stream_>>>(work(lines), spectra, pitch, samples);
    checked_launch("pick the samples");
    for (std::int64_t i = 0; i < recipe_.iterations; ++i) iterate<Bin>(i, lines);
}

void SparseSearch::store(std::int64_t lines, DepthRange kept, float to_bins, float2* bins) const {
    store_bins<<<blocks_of(lines), threads_of_a_line, 0, stream_>>>(
        work(lines), static_cast<int>(kept.begin), static_cast<int>(kept.end - kept.begin), to_bins, bins);
    checked_launch("store the reflectors");
}

SearchWork SparseSearch::work(std::int64_t lines) const {
    SearchWork work;
    work.lines = lines;
    work.recipe = recipe_;
    work.modes = static_cast<int>(shape_.modes);
    work.sensed = static_cast<int>(shape_.sensed);
    work.mode_pitch = shape_.mode_pitch;
    work.sample_pitch = shape_.sample_pitch;
    work.profile = profile_.as<float2>();
    work.next = next_.as<float2>();
    work.gradient = gradient_.data();
    work.step = step_.data();
    work.half_residual = half_residual_.as<__half>();
    work.residual = residual_.as<float>();
    work.change = change_.as<float>();
    work.states = states_.as<SearchState>();
    return work;
}

template <class Bin>
void SparseSearch::iterate(std::int64_t iteration, std::int64_t lines) {
    const unsigned blocks = blocks_of(lines);
    sensing_->to_depth(lines, (accepts_halves_ ? half_residual_ : residual_).data(), gradient_.data());
    if (iteration == 0) begin<Bin><<<blocks, threads_of_a_line, 0, stream_>>>(work(lines));
    for (int i = 0; i < tries_; ++i) {
        try_step<Bin><<<blocks, threads_of_a_line, 0, stream_>>>(work(lines), iteration, i == 0);
        sensing_->to_samples(lines, step_.data(), change_.as<float>());
        judge<Bin><<<blocks, threads_of_a_line, 0, stream_>>>(work(lines), iteration, i == 0, i + 1 == tries_);
    }
    checked_launch("search");
    std::swap(profile_, next_);
}

}  // namespace echolux::cuda
