// One finished picture that takes the place of another little by little: a traced picture that of the ray caster, and
// each that is less noisy that of the one before, so that nothing flickers. For displays alone; both are of one view
// and one volume.
#pragma once

#include <cstdint>
#include <optional>

#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

class CrossFade {
  public:
    CrossFade(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // From what is shown to what shall be shown, pictures of one size, which are copied. Throws Error{out_of_memory}.
    void begin(const gpu::DeviceImage& from, const gpu::DeviceImage& to, double now_s);
    void end() { begun_s_.reset(); }
    bool is_under_way() const { return begun_s_.has_value(); }

    // Of the picture that comes, over a fade of so many seconds: from 0 to 1.
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
    std::optional<double> begun_s_;  // nothing: no fade is under way
};

}  // namespace echolux
