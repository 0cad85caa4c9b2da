// Cross-fade between two finished pictures of the same view and volume: from ray cast to traced, and from each traced
// picture to the next less noisy one, to avoid flicker. For displays only.
#pragma once

#include <cstdint>
#include <optional>

#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

class CrossFade {
  public:
    CrossFade(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Starts a fade between copies of two pictures of equal size. Throws Error{out_of_memory}.
    void begin(const gpu::DeviceImage& from, const gpu::DeviceImage& to, double now_s);
    void end() { begun_s_.reset(); }
    bool is_under_way() const { return begun_s_.has_value(); }

    // Returns the weight of the new picture, 0 to 1, for a fade that takes `seconds`.
    double share(double now_s, double seconds) const;

    const gpu::DeviceImage& from() const { return images_->from; }
    const gpu::DeviceImage& to() const { return images_->to; }

  private:
    struct Images {
        Images(const gpu::Device& device, vk::Extent3D pixels);

        gpu::DeviceImage from, to;
        bool are_fresh = true;
    };

    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::optional<Images> images_;
    std::optional<double> begun_s_;  // empty: not fading
};

}  // namespace echolux
