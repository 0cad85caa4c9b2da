// The tables of transfer functions over two axes and of roughness by value, on the device: made when a picture first
// needs them, kept for a few curves, so that panes with curves of their own do not take turns.
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

        // Copies what is new; once in a submission that is made.
        void record(const vk::raii::CommandBuffer& commands);

        TransferFunction function;
        bool with_plane;
        TransferTable table;  // over the values; extinctions are the largest of each
        gpu::DeviceBuffer buffer;
        gpu::HostBuffer staging;
        bool is_fresh = true;
        std::uint64_t number = 0;  // tells tables apart
        std::uint64_t used = 0;
    };

    CurveTables(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Of a function over two axes, of which the second counts only `with_plane`, or one with roughness. Stays until
    // others are asked for. Waits for the pictures under way where one has to make room.
    Tables& of(const TransferFunction& function, bool with_plane);

    // What was to be submitted last was not submitted.
    void forget();

  private:
    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::vector<std::unique_ptr<Tables>> kept_;
    std::uint64_t made_ = 0, used_ = 0;
};

}  // namespace echolux
