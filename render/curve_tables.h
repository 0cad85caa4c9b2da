// Device tables of two-dimensional transfer functions and of roughness by value. Created for the first picture that
// needs them, and cached for a few curves so that panes with different curves do not evict each other's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "render/transfer_function.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux {

class CurveTables {
  public:
    struct Tables {
        Tables(const gpu::Device& device, const TransferFunction& function, bool with_plane);

        // Copies new tables to the device. The submission must follow, or forget() be called.
        void record(const vk::raii::CommandBuffer& commands);

        TransferFunction function;
        bool with_plane;
        TransferTable table;  // over values only; extinctions are the max over the second axis
        gpu::DeviceBuffer buffer;
        gpu::HostBuffer staging;
        bool is_fresh = true;
        std::uint64_t number = 0;  // unique per table
        std::uint64_t used = 0;    // number of the last use, for evicting the oldest
    };

    CurveTables(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Returns the tables of a function with two axes or with roughness. The second axis is ignored unless `with_plane`.
    // Valid until many other functions have been requested. Waits for pictures in flight if a table must be evicted.
    Tables& of(const TransferFunction& function, bool with_plane);

    // The last recording was not submitted: tables must be copied again.
    void forget();

  private:
    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::vector<std::unique_ptr<Tables>> kept_;
    std::uint64_t made_ = 0, used_ = 0;
};

}  // namespace echolux
