// Turns films into pictures on the device, by the compute shader shaders/resolve.comp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "render/annotations/annotator.h"
#include "render/film.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

// RGBA8 with straight alpha. Finished when the queue has reached `value`; stays until `pictures_under_way` more are
// made.
struct ResolvedPicture {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

class Resolver {
  public:
    Resolver(const gpu::Device& device, gpu::Queue& queue);

    // The picture of a region, `pitch` pixels from ray to ray of the film, with what of `sheet` is drawn over it.
    // Throws Error{out_of_memory}.
    ResolvedPicture resolve(const Film& film, double pitch, const Region& region, const Sheet& sheet);

    // Whether the picture has not been overwritten by a later one.
    bool holds(const ResolvedPicture& picture) const;

    // One picture under way.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        DrawnSheet annotations;
        std::optional<gpu::DeviceImage> picture;
        bool is_fresh = false;
        std::uint64_t value = 0;
    };

  private:
    Frame& prepared_frame(const Film& film, std::int64_t width, std::int64_t height);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler sampler_;
    Annotator annotator_;
    std::vector<std::unique_ptr<Frame>> frames_;
    std::size_t next_frame_ = 0;
    vk::raii::Pipeline as_it_is_;
    vk::raii::Pipeline enlarged_;
};

}  // namespace echolux
