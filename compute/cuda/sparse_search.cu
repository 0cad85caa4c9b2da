// Kernels between the two transforms of an iteration: one warp per A-scan.
#include "compute/cuda/sparse_search.h"

#include <cuda_fp16.h>

#include <type_traits>
#include <utility>

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"

namespace echolux::cuda {

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
__device__ inline void give_residual(const SearchWork& work, const Line& line, float norm) {
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
    give_residual<Bin>(work, line, norm);
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
    largest = over_warp(largest, Greatest{}) * of_gradient<Bin>(line.state);
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
        give_residual<Bin>(work, line, norm);
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
    : recipe_(recipe), tries_(tries), shape_(sensing.shape()), takes_halves_(sensing.takes_halves()), stream_(stream),
      sensing_(sensing.on(stream)) {
    const std::int64_t modes = shape_.lines * shape_.mode_pitch, samples = shape_.lines * shape_.sample_pitch;
    const auto transformed = static_cast<std::int64_t>(takes_halves_ ? sizeof(__half2) : sizeof(float2));
    for (DeviceBuffer* buffer : {&profile_, &next_}) *buffer = zeroed(modes * std::int64_t{sizeof(float2)});
    for (DeviceBuffer* buffer : {&gradient_, &step_}) *buffer = zeroed(modes * transformed);
    for (DeviceBuffer* buffer : {&residual_, &change_}) *buffer = zeroed(samples * std::int64_t{sizeof(float)});
    if (takes_halves_) half_residual_ = zeroed(samples * std::int64_t{sizeof(__half)});
    states_ = zeroed(shape_.lines * std::int64_t{sizeof(SearchState)});
}

void SparseSearch::enqueue(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines) {
    if (takes_halves_) return search<__half2>(spectra, pitch, samples, lines);
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
    checked_launch("keep what was found");
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
    sensing_->to_depth(lines, (takes_halves_ ? half_residual_ : residual_).data(), gradient_.data());
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
