// Converts accumulation buffers to pictures on the device with shaders/resolve.comp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "render/annotations/annotator.h"
#include "render/raycaster.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/resolve.h"

namespace echolux {

// Channel type of a picture on the device: 8 bits, or float where more than 8 bits are needed.
enum class PictureDepth { codes, floats };

// RGBA with straight alpha. Finished when the queue reaches `value`.
struct ResolvedPicture {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

// Empty if the accumulated colours are display colours already.
std::optional<shared::ToningFrame> toning_of(const Shot& shot);

// A ring of pictures: each is valid until `pictures_in_flight` more have been made here.
class ResolvedPictures {
  public:
    explicit ResolvedPictures(const gpu::Device& device);

    // Returns true if the picture is one of these and has not been overwritten.
    bool holds(const ResolvedPicture& picture) const;

  private:
    friend class Resolver;

    // A picture in flight.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        SheetBuffers annotations;
        std::optional<gpu::DeviceImage> picture;
        bool is_fresh = false;
        // Queue value of its completion.
        std::uint64_t value = 0;
    };

    std::vector<std::unique_ptr<Frame>> frames_;
    std::size_t next_ = 0;
};

class Resolver {
  public:
    Resolver(const gpu::Device& device, gpu::Queue& queue);

    // Resolves a region as the next of `pictures`, with the annotations of `sheet` drawn over it. `pitch` is the
    // distance between rays of the buffer in pixels. `filtered` replaces the mean. Throws Error{out_of_memory}.
    ResolvedPicture resolve(ResolvedPictures& pictures, const AccumulationBuffer& accumulation, double pitch,
                            const Region& region, const Sheet& sheet, PictureDepth depth = PictureDepth::codes,
                            const std::optional<shared::ToningFrame>& toning = {},
                            const gpu::DeviceImage* filtered = nullptr);

    // Mixes two finished pictures of equal size; `share` is the weight of the second. Throws Error{out_of_memory}.
    ResolvedPicture fade(ResolvedPictures& pictures, const gpu::DeviceImage& from, const gpu::DeviceImage& to,
                         double share);

  private:
    using Frame = ResolvedPictures::Frame;
    void record(const vk::raii::CommandBuffer& commands, const Frame& frame, const vk::raii::Pipeline& shader,
                const shared::ResolvePart& part);
    ResolvedPicture submit(Frame& frame, const gpu::Recording& record);
    Frame& prepared_frame(ResolvedPictures& pictures, const Region& region, PictureDepth depth);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler sampler_;
    Annotator annotator_;
    gpu::Bindings bindings_;  // defines the layout of all pictures
    vk::raii::Pipeline as_it_is_;
    vk::raii::Pipeline enlarged_;
    vk::raii::Pipeline toned_;
    vk::raii::Pipeline faded_;
};

}  // namespace echolux
