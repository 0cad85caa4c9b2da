// How long the device itself works on something: timestamps before and after it, read when it is finished.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <optional>

#include "render/vk/device.h"
#include "render/vk/queue.h"

namespace echolux::gpu {

class Stopwatch {
  public:
    explicit Stopwatch(const Device& device);

    // What one of several submissions that make up `chain` stands in: the first starts the watch and waits, the last
    // stops it and signals.
    Chain around(const Chain& chain, bool begins, bool ends) const;

    // The same around a part of one submission.
    void record_start(const vk::raii::CommandBuffer& commands) const;
    void record_stop(const vk::raii::CommandBuffer& commands) const;

    // Of work that is finished. Nothing: the device keeps no time, or the work was lost.
    std::optional<double> seconds() const;

  private:
    std::uint32_t valid_bits_;
    double tick_s_;
    vk::raii::QueryPool pool_;
};

}  // namespace echolux::gpu
