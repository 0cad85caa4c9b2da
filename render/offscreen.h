// The renderer's public face: a volume in, pictures out, no screen and no Vulkan types needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/device_choice.h"
#include "render/view.h"

namespace echolux {

struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> pixels;  // RGBA, straight alpha, row by row from the top
};

// What the ray of a pixel met, exactly.
struct RayMeasure {
    float value;          // mip: the largest value; isosurface: the isovalue where it is hit
    float transmittance;  // composite: part of the light from behind that passes; 0: opaque
    float distance;       // isosurface: length along the ray to the hit; negative: none
    float path;           // length inside the volume
};

class Renderer {
  public:
    // Throws Error{device}: no loader, driver or fitting device; each device and why it was refused is named.
    explicit Renderer(const DeviceChoice& choice = {});
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    const std::string& device_name() const;

    // Copies grid.bytes() of `voxels` to the device. The old volume stays when this throws.
    // Throws Error{bad_setting, out_of_memory}.
    void set_volume(const VolumeGrid& grid, const void* voxels);

    // Throws Error{bad_setting} naming the key of a view that cannot work, or that there is no volume yet.
    // `done` hears how many more rows are finished, and may throw to stop; without it the picture is made in one go.
    Image render(const View& view, const std::function<void(std::int64_t rows)>& done = {});

    // One a pixel, row by row from the top. Lengths as in camera.h: micrometres, or voxels where nothing is known.
    std::vector<RayMeasure> measure(const View& view);

    // Everything that ever came back from the device.
    std::int64_t bytes_read_back() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
