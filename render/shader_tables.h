// Tables on the device that shaders look up: transfer functions over two axes and roughness by value, colours of the
// flow, directional albedo of surfaces, and the sky picture; and the blue noise that distributes samples.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "render/sky_picture.h"
#include "render/transfer_function.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/surface.h"

namespace echolux {

// ---- Device tables of two-dimensional transfer functions and of roughness by value. Created for the first picture
// that needs them, and cached for a few curves so that panes with different curves do not evict each other's.

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

// ---- Colour map of flow as a texture for the ray caster.

// Uploads a colour map as a 1-D texture of shared::flow_colour_entries colours, from the fastest flow in one direction
// to the fastest in the other. Waits for the upload.
gpu::DeviceImage flow_colours(const gpu::Device& device, gpu::Queue& queue, const std::string& map);

// ---- Directional albedo of a surface's facets.

// Share of light that facets reflect: by the cosine of the incident direction, and the mean over all directions.
struct SurfaceAlbedo {
    std::array<float, shared::albedo_steps> of_cosine{};  // cosines from 0 to 1
    float mean = 0;
};

// `roughness` is the square root of GGX's alpha.
SurfaceAlbedo surface_albedo(double roughness);

// Interpolates linearly, like the shader.
float albedo_at(const SurfaceAlbedo& albedo, float cosine);

// ---- The sky picture on the device.

// Uploads a sky picture when it changes.
class SkyLight {
  public:
    SkyLight(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Sets the bindings of a picture. Waits for pictures in flight if the sky has changed. Throws Error{out_of_memory}.
    void bind(gpu::Bindings& bindings, const std::shared_ptr<const SkyPicture>& sky);

  private:
    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::shared_ptr<const SkyPicture> shown_;
    std::optional<gpu::DeviceBuffer> texels_;
};

// ---- Blue noise: numbers uniform in [0, 1] whose neighbours are also evenly distributed. Tiles seamlessly. R.
// Ulichney, "The void-and-cluster method for dither array generation", Proc. SPIE 1913, 1993.

// Returns edge * edge numbers, row by row: each (i + 0.5) / edge^2 exactly once. The result is the same on every
// machine. `edge` must be a power of two.
std::vector<float> blue_noise(int edge);

}  // namespace echolux
