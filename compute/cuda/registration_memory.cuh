// Memory owners of registration on a GPU, and the size of its batches of B-scans.
#pragma once

#include <algorithm>
#include <optional>

#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/registration_features.cuh"

namespace echolux::cuda {

inline constexpr std::int64_t float_bytes = sizeof(float);
inline constexpr std::int64_t batch_bytes = std::int64_t{16} << 20;  // per plane of a batch: three stay in the caches
inline constexpr unsigned blocks_of_a_survey = 1024;

inline std::int64_t rows_at_once(std::int64_t of_row, std::int64_t rows, std::int64_t bytes = batch_bytes) {
    return std::clamp<std::int64_t>(bytes / (of_row * float_bytes), 1, std::max<std::int64_t>(rows, 1));
}

// Base of objects with memory on a device. leave() makes the device current for the destruction of members.
class OfDevice {
  public:
    explicit OfDevice(int device) : device_(device) {}

  protected:
    void leave(cudaStream_t stream) {
        at_the_end_.emplace(device_, std::nothrow);
        cudaStreamSynchronize(stream);
    }

    int device_;

  private:
    std::optional<CurrentDevice> at_the_end_;
};

// Checks whether a volume contains NaN.
class LostSurvey {
  public:
    // Enqueues the check. Returns where the GPU writes the result, 0 or 1.
    const unsigned* enqueue(const float* values, std::int64_t count, cudaStream_t stream) {
        is_found_.reserve(sizeof(unsigned));
        checked(cudaMemsetAsync(is_found_.data(), 0, sizeof(unsigned), stream), "clear a number");
        find_lost<<<std::min(blocks_of_a_survey, blocks_for(count)), threads_of_a_range, 0, stream>>>(
            values, count, is_found_.as<unsigned>());
        checked_launch("look for values that were not recorded");
        return is_found_.as<unsigned>();
    }

    bool is_any(const float* values, std::int64_t count, cudaStream_t stream) {
        unsigned is_found = 0;
        checked(cudaMemcpyAsync(&is_found, enqueue(values, count, stream), sizeof(unsigned), cudaMemcpyDeviceToHost,
                                stream),
                "copy a number");
        checked(cudaStreamSynchronize(stream), "look for values that were not recorded");
        return is_found != 0;
    }

  private:
    DeviceBuffer is_found_;
};

}  // namespace echolux::cuda
