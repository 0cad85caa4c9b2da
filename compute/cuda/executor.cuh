// Parallel primitives on a GPU, with the members of cpu::CpuExecutor (compute/cpu/executor.h). Also the owners of
// memory and streams on one device, and the selection of a value by its rank.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/over_block.cuh"
#include "compute/indexing.h"

namespace echolux::cuda {

// See cpu::HostArray. Allocated on the current device, not cleared.
template <class T>
class DeviceArray {
  public:
    DeviceArray() = default;
    explicit DeviceArray(std::int64_t count) : buffer_(count * static_cast<std::int64_t>(sizeof(T))), count_(count) {}
    explicit DeviceArray(std::span<const T> values) : DeviceArray(std::ssize(values)) {
        upload(values.data(), buffer_.bytes(), buffer_.data());
    }

    T* data() const { return buffer_.template as<T>(); }
    std::int64_t count() const { return count_; }

  private:
    DeviceBuffer buffer_;
    std::int64_t count_ = 0;
};

template <class Each>
__global__ void __launch_bounds__(threads_of_a_range) run_each(std::int64_t count, Each each) {
    const std::int64_t i = element();
    if (i < count) each(i);
}

// blockIdx.y: the map.
template <class Each>
__global__ void __launch_bounds__(threads_of_a_range) run_each_of_maps(std::int64_t count, Each each) {
    const std::int64_t i = element();
    if (i < count) each(i, static_cast<std::int64_t>(blockIdx.y));
}

template <class Each>
__global__ void __launch_bounds__(threads_of_a_range) run_sum(std::int64_t count, Each each, unsigned long long* sum) {
    const std::int64_t i = element();
    const int of_warp = over_warp(i < count ? static_cast<int>(each(i)) : 0, Sum{});
    if (of_warp != 0 && threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<unsigned long long>(of_warp));
}

// Enqueues on one stream of a device.
class CudaExecutor : public OfDevice {
  public:
    template <class T>
    using Array = DeviceArray<T>;

    explicit CudaExecutor(int device) : OfDevice(device), sum_(1) {}

    CurrentDevice current() const { return CurrentDevice(device_); }
    void leave() { OfDevice::leave(stream_); }
    void wait(const char* doing) { checked(cudaStreamSynchronize(stream_), doing); }

    template <class Each>
    void for_each(std::int64_t count, const Each& each, const char* doing) {
        if (count == 0) return;
        run_each<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(count, each);
        checked_launch(doing);
    }

    template <class Each>
    void for_each(std::int64_t count, std::int64_t maps, const Each& each, const char* doing) {
        if (count == 0 || maps == 0) return;
        const dim3 blocks(blocks_for(count), static_cast<unsigned>(maps));
        run_each_of_maps<<<blocks, threads_of_a_range, 0, stream_>>>(count, each);
        checked_launch(doing);
    }

    template <class Each>
    std::int64_t sum_of(std::int64_t count, const Each& each, const char* doing) {
        if (count == 0) return 0;
        checked(cudaMemsetAsync(sum_.data(), 0, sizeof(unsigned long long), stream_), doing);
        run_sum<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(count, each, sum_.data());
        checked_launch(doing);
        return static_cast<std::int64_t>(fetched(sum_.data(), 1).front());
    }

    template <class T>
    void write(const std::vector<T>& values, T* to) {
        upload(values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)), reinterpret_cast<std::byte*>(to));
    }

    template <class T>
    std::vector<T> fetched(const T* first, std::int64_t count) {
        std::vector<T> values(index(count));
        checked(cudaMemcpyAsync(values.data(), first, values.size() * sizeof(T), cudaMemcpyDeviceToHost, stream_),
                "copy results");
        checked(cudaStreamSynchronize(stream_), "wait for results");
        return values;
    }

  protected:
    cudaStream_t stream() const { return stream_; }

  private:
    Stream stream_;
    DeviceArray<unsigned long long> sum_;
};

// ---- Selection of the value at a rank among numbers that are not negative, by counting their bits from the top.
// Copies only histograms to the host.

inline constexpr int bins_of_a_count = 2048, bits_of_a_count = 11;

// The numbers to select from: `count` of them, `stride` apart, either all or only those above 0.
struct RankedNumbers {
    const float* values;
    std::int64_t count, stride = 1;
    bool has_zeros = true;
};

// Counts the numbers whose bits above `shift` + `bits` equal `prefix` by their next `bits` bits.
static __global__ void __launch_bounds__(threads_of_a_range)
    count_bits(RankedNumbers numbers, unsigned prefix, int shift, int bits, unsigned* counts) {
    __shared__ unsigned own[bins_of_a_count];
    for (int i = static_cast<int>(threadIdx.x); i < bins_of_a_count; i += static_cast<int>(blockDim.x)) own[i] = 0;
    __syncthreads();
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = element(); i < numbers.count; i += step) {
        const float number = numbers.values[i * numbers.stride];
        if (!numbers.has_zeros && !(number > 0)) continue;
        const auto value = static_cast<unsigned long long>(__float_as_uint(number));
        if (value >> (shift + bits) == prefix) atomicAdd(&own[value >> shift & ((1u << bits) - 1)], 1u);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < bins_of_a_count; i += static_cast<int>(blockDim.x)) {
        if (own[i] > 0) atomicAdd(&counts[i], own[i]);
    }
}

// Selects values on the current device.
class ValueAtRank {
  public:
    // Returns the value at rank rank_of(n) of the n numbers in ascending order, 0 without any. Blocks.
    template <class RankOf>
    float operator()(const RankedNumbers& numbers, const RankOf& rank_of, cudaStream_t stream) {
        std::int64_t rank = 0;
        unsigned prefix = 0;
        for (int shift = 32; shift > 0;) {
            const int bits = std::min(bits_of_a_count, shift);
            const bool is_first = shift == 32;
            shift -= bits;
            const unsigned* counts = counted(numbers, prefix, shift, bits, stream);
            if (is_first) {
                std::int64_t all = 0;
                for (int i = 0; i < bins_of_a_count; ++i) all += counts[i];
                if (all == 0) return 0;
                rank = rank_of(all);
            }
            unsigned bin = 0;
            for (; bin + 1 < 1u << bits && rank >= counts[bin]; ++bin) rank -= counts[bin];
            prefix = prefix << bits | bin;
        }
        return std::bit_cast<float>(prefix);
    }

  private:
    const unsigned* counted(const RankedNumbers& numbers, unsigned prefix, int shift, int bits, cudaStream_t stream) {
        checked(cudaMemsetAsync(counts_.data(), 0, index(bytes), stream), "clear counts");
        constexpr unsigned blocks = 512;
        count_bits<<<std::min(blocks, blocks_for(numbers.count)), threads_of_a_range, 0, stream>>>(
            numbers, prefix, shift, bits, counts_.data());
        checked_launch("count values");
        checked(cudaMemcpyAsync(on_host_.data(), counts_.data(), index(bytes), cudaMemcpyDeviceToHost, stream),
                "copy counts");
        checked(cudaStreamSynchronize(stream), "count values");
        return on_host_.as<unsigned>();
    }

    static constexpr std::int64_t bytes = bins_of_a_count * sizeof(unsigned);
    DeviceArray<unsigned> counts_{bins_of_a_count};
    PinnedBuffer on_host_{bytes};
};

}  // namespace echolux::cuda
