// Turns accumulation buffers into pictures on the device, by the compute shader shaders/resolve.comp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "render/accumulation_buffer.h"
#include "render/annotations/annotator.h"
#include "render/raycaster.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

// What a channel of a picture is on the device: 8 bits, or a float for those of which more than 8 bits are wanted.
enum class PictureDepth { codes, floats };

// RGBA with straight alpha. Finished when the queue has reached `value`.
struct ResolvedPicture {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

// Light that was traced, on its way to a display.
struct Toning {
    shared::vec4 tone;        // see tone.glsl
    shared::vec4 background;  // RGB, opacity 0 or 1
    shared::vec4 rim{0};      // rays before the picture's first: to the left, above; rows of the whole picture above it
    shared::vec4 below{0};    // the background at the lower edge; 1 / height of the whole picture
};

// Nothing where what is accumulated are colours of the display already.
std::optional<Toning> toning_of(const Shot& shot);

// Where pictures that follow each other take turns: each stays until `pictures_under_way` more are made here.
class ResolvedPictures {
  public:
    explicit ResolvedPictures(const gpu::Device& device);

    // Whether the picture is one of these and has not been overwritten by a later one.
    bool holds(const ResolvedPicture& picture) const;

  private:
    friend class Resolver;

    // One picture under way.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        DrawnSheet annotations;
        std::optional<gpu::DeviceImage> picture;
        bool is_fresh = false;
        std::uint64_t value = 0;
    };

    std::vector<std::unique_ptr<Frame>> frames_;
    std::size_t next_ = 0;
};

struct ResolveScale;

class Resolver {
  public:
    Resolver(const gpu::Device& device, gpu::Queue& queue);

    // The picture of a region, `pitch` pixels from ray to ray of the buffer, with what of `sheet` is drawn over it, as
    // the next one of `pictures`. `filtered`: what is shown in place of the mean. Throws Error{out_of_memory}.
    ResolvedPicture resolve(ResolvedPictures& pictures, const AccumulationBuffer& accumulation, double pitch,
                            const Region& region, const Sheet& sheet, PictureDepth depth = PictureDepth::codes,
                            const std::optional<Toning>& toning = {}, const gpu::DeviceImage* filtered = nullptr);

    // What lies between two finished pictures of one size: `share` of the second. Throws Error{out_of_memory}.
    ResolvedPicture fade(ResolvedPictures& pictures, const gpu::DeviceImage& from, const gpu::DeviceImage& to,
                         double share);

  private:
    using Frame = ResolvedPictures::Frame;
    void record(const vk::raii::CommandBuffer& commands, const Frame& frame, const vk::raii::Pipeline& shader,
                const ResolveScale& scale);
    ResolvedPicture submit(Frame& frame, const gpu::Recording& record);
    Frame& prepared_frame(ResolvedPictures& pictures, const Region& region, PictureDepth depth);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler sampler_;
    Annotator annotator_;
    gpu::Bindings bindings_;  // the layout of every picture's
    vk::raii::Pipeline as_it_is_;
    vk::raii::Pipeline enlarged_;
    vk::raii::Pipeline toned_;
    vk::raii::Pipeline faded_;
};

}  // namespace echolux
