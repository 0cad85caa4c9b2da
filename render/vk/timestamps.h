// Measures the execution time of work on the device with timestamps before and after it, read once it has finished.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <optional>

#include "render/vk/device.h"
#include "render/vk/queue.h"

namespace echolux::gpu {

class Stopwatch {
  public:
    explicit Stopwatch(const Device& device);

    // Returns the chain for one of several submissions that make up `chain`: the first waits and starts the watch, the
    // last stops it and signals.
    Chain around(const Chain& chain, bool begins, bool ends) const;

    // Start and stop the watch within one submission.
    void record_start(const vk::raii::CommandBuffer& commands) const;
    void record_stop(const vk::raii::CommandBuffer& commands) const;

    // Returns the time between start and stop of finished work. Empty if the queue has no timestamps or the work was
    // lost.
    std::optional<double> seconds() const;

  private:
    std::uint32_t valid_bits_;
    double tick_s_;
    vk::raii::QueryPool pool_;
};

}  // namespace echolux::gpu
