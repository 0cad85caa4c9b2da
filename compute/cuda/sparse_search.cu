// What lies between the two transforms of an iteration, in two kernels: a block of threads for each A-scan.
#include "compute/cuda/sparse_search.h"

#include <utility>

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/launch.h"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/tf32.h"

namespace echolux::cuda {

// The scalars of one A-scan.
struct SearchState {
    SearchRules<float> rules;
    StepSums<float> sums;  // of its bins
    bool is_open = false;  // whether another try is wanted
};

// One batch; memory as in SparseSearch.
struct SearchWork {
    CompressiveRecipe recipe;
    int modes = 0, sensed = 0;
    std::int64_t mode_pitch = 0, sample_pitch = 0;
    bool takes_tf32 = false;
    float2 *profile = nullptr, *next = nullptr, *gradient = nullptr, *step = nullptr;
    float *residual = nullptr, *change = nullptr;
    SearchState* states = nullptr;
};

namespace {

// What of a batch belongs to this block's line.
struct Line {
    float2 *profile, *next, *gradient, *step;
    float *residual, *change;
    SearchState& state;

    __device__ explicit Line(const SearchWork& work)
        : profile(work.profile + blockIdx.x * work.mode_pitch), next(work.next + blockIdx.x * work.mode_pitch),
          gradient(work.gradient + blockIdx.x * work.mode_pitch), step(work.step + blockIdx.x * work.mode_pitch),
          residual(work.residual + blockIdx.x * work.sample_pitch),
          change(work.change + blockIdx.x * work.sample_pitch), state(work.states[blockIdx.x]) {}
};

// use(i) for this thread's elements of a line.
template <class Use>
__device__ inline void for_each(int count, const Use& use) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads_of_a_line) use(i);
}

__global__ void pick(const __grid_constant__ SearchWork work, const float* spectra, std::int64_t pitch,
                     const std::int32_t* samples) {
    const Line line(work);
    const float* spectrum = spectra + blockIdx.x * pitch;
    for_each(work.sensed, [&](int p) { line.residual[p] = -spectrum[samples[p]]; });
    for_each(work.modes, [&](int m) { line.profile[m] = {}; });
}

// After the first gradient.
__global__ void begin(const __grid_constant__ SearchWork work) {
    __shared__ float shared[2][32];
    const Line line(work);
    float largest = 0, energy = 0;
    for_each(work.modes, [&](int m) { largest = fmaxf(largest, amplitude(line.gradient[m])); });
    for_each(work.sensed, [&](int p) { energy += line.residual[p] * line.residual[p]; });
    largest = over_block(largest, Greatest{}, shared[0]);
    energy = over_block(energy, Sum{}, shared[1]);
    if (threadIdx.x == 0) line.state.rules.begin(work.recipe, largest, energy);
}

// The next profile and the step to it.
__global__ void try_step(const __grid_constant__ SearchWork work, std::int64_t iteration, bool first_try) {
    __shared__ StepSums<float> shared[32];
    const Line line(work);
    if (!first_try && !line.state.is_open) return;
    SearchRules<float> rules = line.state.rules;
    rules.begin_iteration(work.recipe, iteration);
    const float length = rules.length(), threshold = rules.threshold();
    StepSums<float> sums;
    for_each(work.modes, [&](int m) {
        const TriedBin bin(phasor(line.profile[m]), phasor(line.gradient[m]), length, threshold, m, sums);
        const float2 step = point(bin.step);
        line.next[m] = point(bin.next);
        line.step[m] = work.takes_tf32 ? float2{rounded_to_tf32(step.x), rounded_to_tf32(step.y)} : step;
    });
    sums = over_block(sums, Sum{}, shared);
    if (threadIdx.x == 0) line.state.sums = sums;
}

// The last try is taken as it is.
__global__ void judge(const __grid_constant__ SearchWork work, std::int64_t iteration, bool first_try, bool last_try) {
    __shared__ StepSums<float> shared[32];
    const Line line(work);
    if (!first_try && !line.state.is_open) return;
    SearchRules<float> rules = line.state.rules;
    rules.begin_iteration(work.recipe, iteration);
    const StepSums<float> of_bins = line.state.sums;
    StepSums<float> sums;
    for_each(work.sensed, [&](int p) { add_change(line.residual[p], line.change[p], sums); });
    sums = of_bins + over_block(sums, Sum{}, shared);
    const bool taken = last_try || rules.accepts(work.recipe, sums);
    if (taken) for_each(work.sensed, [&](int p) { line.residual[p] += line.change[p]; });
    if (threadIdx.x != 0) return;
    if (taken) {
        rules.take(work.recipe, sums);
    } else {
        rules.shorten();
    }
    line.state.rules = rules;
    line.state.is_open = !taken;
}

__global__ void store_bins(const __grid_constant__ SearchWork work, int first_bin, int depth, float to_bins,
                           float2* bins) {
    const Line line(work);
    float2* kept = bins + static_cast<std::int64_t>(blockIdx.x) * depth;
    for_each(depth, [&](int z) { kept[z] = times(line.profile[first_bin + z], to_bins); });
}

}  // namespace

SparseSearch::SparseSearch(const SensingOnDevice& sensing, const CompressiveRecipe& recipe, int tries,
                           cudaStream_t stream)
    : recipe_(recipe), tries_(tries), shape_(sensing.shape()), takes_tf32_(sensing.takes_tf32()), stream_(stream),
      sensing_(sensing.on(stream)) {
    for (DeviceBuffer* buffer : {&profile_, &next_, &gradient_, &step_}) {
        *buffer = zeroed(shape_.lines * shape_.mode_pitch * std::int64_t{sizeof(float2)});
    }
    for (DeviceBuffer* buffer : {&residual_, &change_}) {
        *buffer = zeroed(shape_.lines * shape_.sample_pitch * std::int64_t{sizeof(float)});
    }
    states_ = zeroed(shape_.lines * std::int64_t{sizeof(SearchState)});
}

void SparseSearch::enqueue(const float* spectra, std::int64_t pitch, const std::int32_t* samples, std::int64_t lines) {
    const auto blocks = static_cast<unsigned>(lines);
    pick<<<blocks, threads_of_a_line, 0, stream_>>>(work(), spectra, pitch, samples);
    checked_launch("pick the samples");
    for (std::int64_t i = 0; i < recipe_.iterations; ++i) iterate(i, lines);
}

void SparseSearch::store(std::int64_t lines, DepthRange kept, float to_bins, float2* bins) const {
    store_bins<<<static_cast<unsigned>(lines), threads_of_a_line, 0, stream_>>>(
        work(), static_cast<int>(kept.begin), static_cast<int>(kept.end - kept.begin), to_bins, bins);
    checked_launch("keep what was found");
}

SearchWork SparseSearch::work() const {
    SearchWork work;
    work.recipe = recipe_;
    work.modes = static_cast<int>(shape_.modes);
    work.sensed = static_cast<int>(shape_.sensed);
    work.mode_pitch = shape_.mode_pitch;
    work.sample_pitch = shape_.sample_pitch;
    work.takes_tf32 = takes_tf32_;
    work.profile = profile_.as<float2>();
    work.next = next_.as<float2>();
    work.gradient = gradient_.as<float2>();
    work.step = step_.as<float2>();
    work.residual = residual_.as<float>();
    work.change = change_.as<float>();
    work.states = states_.as<SearchState>();
    return work;
}

void SparseSearch::iterate(std::int64_t iteration, std::int64_t lines) {
    const auto blocks = static_cast<unsigned>(lines);
    sensing_->to_depth(lines, residual_.as<float>(), gradient_.as<float2>());
    if (iteration == 0) begin<<<blocks, threads_of_a_line, 0, stream_>>>(work());
    for (int i = 0; i < tries_; ++i) {
        try_step<<<blocks, threads_of_a_line, 0, stream_>>>(work(), iteration, i == 0);
        sensing_->to_samples(lines, step_.as<float2>(), change_.as<float>());
        judge<<<blocks, threads_of_a_line, 0, stream_>>>(work(), iteration, i == 0, i + 1 == tries_);
    }
    checked_launch("search");
    std::swap(profile_, next_);
}

}  // namespace echolux::cuda
