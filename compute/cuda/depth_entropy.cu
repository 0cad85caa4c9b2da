// Depth entropy on the GPU. Spectra stay in GPU memory. For each trial phase they are multiplied, transformed by cuFFT
// and reduced to two numbers per line, which the host adds in line order, so the sums do not depend on the number of
// concurrent trials. A trial of 512 lines of 512 points takes a few microseconds, so launch overhead dominates the cost
// of a search.
#include "compute/cuda/entry.h"

#include <algorithm>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/over_block.cuh"
#include "compute/cuda/toolkit.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

// Power of a line: the sums of p and of p ln p over its bins.
struct LinePower {
    double sum;
    double with_log;

    __host__ __device__ LinePower operator+(const LinePower& other) const {
        return {sum + other.sum, with_log + other.with_log};
    }
};

// turned[trial][line][point] = spectra[line][point] * turns[trial][point]. blockIdx.y: the trial.
__global__ void __launch_bounds__(threads_of_a_range)
    turn_spectra(const float2* spectra, const float2* turns, int points, std::int64_t elements, float2* turned) {
    const std::int64_t i = element();
    if (i >= elements) return;
    const std::int64_t trial = blockIdx.y;
    const float2 s = spectra[i], t = turns[trial * points + i % points];
    turned[trial * elements + i] = make_float2(t.x * s.x - t.y * s.y, t.x * s.y + t.y * s.x);
}

// One block per line.
__global__ void __launch_bounds__(threads_of_a_line) sum_power(const float2* bins, int points, LinePower* powers) {
    const float2* line = bins + static_cast<std::int64_t>(blockIdx.x) * points;
    LinePower all{0, 0};
    for (int z = static_cast<int>(threadIdx.x); z < points; z += threads_of_a_line) {
        const float2 a = line[z];
        const float p = a.x * a.x + a.y * a.y;
        all.sum += static_cast<double>(p);
        if (p > 0) all.with_log += static_cast<double>(p * logf(p));
    }
    __shared__ LinePower of_warps[32];
    all = over_block(all, Sum{}, of_warps);
    if (threadIdx.x == 0) powers[blockIdx.x] = all;
}

// Holds the spectra and the buffers for a batch of trials.
class EntropyOnGpu : OfDevice, public DepthEntropy {
  public:
    EntropyOnGpu(const SpectraOnGrid& spectra, int device)
        : OfDevice(device), points_(spectra.points), lines_(spectra.lines()), at_once_(trials_at_once(spectra)),
          spectra_(uploaded(spectra.values)), turns_(at_once_ * points_ * complex_bytes),
          turned_(at_once_ * lines_ * points_ * complex_bytes),
          powers_(at_once_ * lines_ * static_cast<std::int64_t>(sizeof(LinePower))), on_host_(powers_.bytes()),
          transform_(Fft::Kind::complex_forward, points_, points_, points_, stream_, lines_) {}

    ~EntropyOnGpu() override { leave(stream_); }

    std::vector<double> of(std::span<const std::complex<float>> turns) override {
        const CurrentDevice current(device_);
        const std::int64_t trials = std::ssize(turns) / points_;
        std::vector<double> entropies;
        for (std::int64_t first = 0; first < trials; first += at_once_) {
            const std::int64_t count = std::min(at_once_, trials - first);
            enqueue(turns.data() + first * points_, count);
            checked(cudaStreamSynchronize(stream_), "search for the dispersion");
            const LinePower* powers = on_host_.as<LinePower>();
            for (std::int64_t trial = 0; trial < count; ++trial, powers += lines_) entropies.push_back(pooled(powers));
        }
        return entropies;
    }

    Backend backend() const override { return Backend::cuda; }

  private:
    static constexpr std::int64_t complex_bytes = sizeof(float2);

    static std::int64_t trials_at_once(const SpectraOnGrid& spectra) {
        constexpr std::int64_t bytes = 64 << 20, most = 64;  // enough for any GPU
        return std::clamp<std::int64_t>(bytes / (std::ssize(spectra.values) * complex_bytes), 1, most);
    }

    void enqueue(const std::complex<float>* turns, std::int64_t count) {
        checked(cudaMemcpyAsync(turns_.data(), turns, index(count * points_ * complex_bytes), cudaMemcpyHostToDevice,
                                stream_),
                "copy trial phases");
        const dim3 blocks(blocks_for(lines_ * points_), static_cast<unsigned>(count));
        turn_spectra<<<blocks, threads_of_a_range, 0, stream_>>>(spectra_.as<float2>(), turns_.as<float2>(),
                                                                 static_cast<int>(points_), lines_ * points_,
                                                                 turned_.as<float2>());
        checked_launch("transpose spectra");
        transform_.execute(count * lines_, turned_.data(), turned_.data());
        sum_power<<<static_cast<unsigned>(count * lines_), threads_of_a_line, 0, stream_>>>(
            turned_.as<float2>(), static_cast<int>(points_), powers_.as<LinePower>());
        checked_launch("sum the power over depth");
        checked(cudaMemcpyAsync(on_host_.data(), powers_.data(), index(count * lines_) * sizeof(LinePower),
                                cudaMemcpyDeviceToHost, stream_),
                "copy the power of lines");
    }

    double pooled(const LinePower* powers) const {
        LinePower all{0, 0};
        for (std::int64_t line = 0; line < lines_; ++line) all = all + powers[line];
        return entropy_of(all.sum, all.with_log);
    }

    std::int64_t points_, lines_;
    std::int64_t at_once_;  // trials
    DeviceBuffer spectra_;
    DeviceBuffer turns_;
    DeviceBuffer turned_;  // spectra, then depth bins, [trials][lines][points]
    DeviceBuffer powers_;  // [trials][lines]
    PinnedBuffer on_host_;
    Stream stream_;
    Fft transform_;
};

}  // namespace

std::unique_ptr<DepthEntropy> depth_entropy(const SpectraOnGrid& spectra, const BackendChoice& choice) {
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    return std::make_unique<EntropyOnGpu>(spectra, device);
}

}  // namespace echolux::cuda
