// Parallel primitives on the CPU. Analyses that run on both backends are templates over an executor: this one, or
// cuda::CudaExecutor (compute/cuda/executor.cuh), which has the same members. Functors of for_each() and sum_of() are
// marked ECHOLUX_HD. On a GPU, for_each() takes at most 65,535 maps, and the values of 32 neighbours in sum_of() add up
// to an int.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux::cpu {

// Owns an array in the memory of the executor. Views of it are pointers, so that functors can be copied to a GPU.
template <class T>
class HostArray {
  public:
    HostArray() = default;
    explicit HostArray(std::int64_t count) : data_(std::make_unique<T[]>(index(count))), count_(count) {}
    explicit HostArray(std::span<const T> values) : HostArray(std::ssize(values)) {
        std::ranges::copy(values, data_.get());
    }

    T* data() const { return data_.get(); }
    std::int64_t count() const { return count_; }

  private:
    std::unique_ptr<T[]> data_;
    std::int64_t count_ = 0;
};

// Runs each call to its end before it returns. `doing` names the action in errors of a GPU.
class CpuExecutor {
  public:
    template <class T>
    using Array = HostArray<T>;

    // Makes the device of the executor current while the result exists.
    struct [[maybe_unused]] Current {};
    Current current() const { return {}; }

    // Completes all work before the members of the caller are destroyed.
    void leave() {}

    // Blocks until all enqueued work is complete.
    void wait(const char*) {}

    // Calls each(i) for i in [0, count).
    template <class Each>
    void for_each(std::int64_t count, const Each& each, const char*) {
        in_parts(count, [&](std::int64_t first, std::int64_t end) {
            for (std::int64_t i = first; i < end; ++i) each(i);
        });
    }

    // Calls each(i, map) for i in [0, count) of every map.
    template <class Each>
    void for_each(std::int64_t count, std::int64_t maps, const Each& each, const char*) {
        const std::int64_t parts = (count + part - 1) / part;
        parallel_for(0, parts * maps, [&](std::int64_t one) {
            const std::int64_t map = one / parts, first = one % parts * part;
            for (std::int64_t i = first; i < std::min(count, first + part); ++i) each(i, map);
        });
    }

    // Returns the sum of the integers each(i) for i in [0, count).
    template <class Each>
    std::int64_t sum_of(std::int64_t count, const Each& each, const char*) {
        std::atomic<std::int64_t> sum = 0;
        in_parts(count, [&](std::int64_t first, std::int64_t end) {
            std::int64_t here = 0;
            for (std::int64_t i = first; i < end; ++i) here += each(i);
            sum += here;
        });
        return sum;
    }

    // Copies host values to an array that is large enough.
    template <class T>
    void write(const std::vector<T>& values, T* to) {
        std::ranges::copy(values, to);
    }

    // Returns `count` elements from `first` on in host memory.
    template <class T>
    std::vector<T> fetched(const T* first, std::int64_t count) {
        return std::vector<T>(first, first + count);
    }

  private:
    static constexpr std::int64_t part = 256;  // elements per task

    template <class Work>
    static void in_parts(std::int64_t count, const Work& work) {
        parallel_for(0, (count + part - 1) / part,
                     [&](std::int64_t i) { work(i * part, std::min(count, (i + 1) * part)); });
    }
};

}  // namespace echolux::cpu
