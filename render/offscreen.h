// The renderer's public face: a volume in, pictures out, no screen and no Vulkan types needed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/device_choice.h"
#include "render/slots/pages_shown.h"
#include "render/slots/slot_writer.h"
#include "render/slots/voxel_source.h"
#include "render/transfer_function.h"
#include "render/view.h"

namespace echolux {

namespace gpu {
class DeviceImage;
}

struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> pixels;  // RGBA, straight alpha, row by row from the top
    PagesShown pages = {};             // of a volume that the device holds in part
};

// What the ray of a pixel met, exactly.
struct RayMeasure {
    float value;          // mip: the largest value; isosurface: the isovalue where it is hit
    float transmittance;  // composite: part of the light from behind that passes; 0: opaque
    float distance;       // length along the ray to where that is; negative: nowhere
    float path;           // length inside what is not cut away
    float visible;        // length along the ray to the first voxel that is seen; negative: none
    float samples;        // of the volume that were taken
    std::array<float, 3>
        gradient;  // where that is, along depth, A-scans, B-scans: texture values per smallest voxel edge
    std::array<float, 3> unused;
};

// A picture of a live ring: submitted, perhaps not finished, on the device.
struct Drawing {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

// Volumes of files and slots of a live ring are shown by the same means. One thread draws; another may write to slots.
class Renderer {
  public:
    // Throws Error{device}: no loader, driver or fitting device; each device and why it was refused is named.
    explicit Renderer(const DeviceChoice& choice = {});
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    const std::string& device_name() const;
    const DeviceId& device_id() const;

    // Copies grid.bytes() of `voxels` to the device. The old volume stays when this throws.
    // Throws Error{bad_setting, out_of_memory}.
    void set_volume(const VolumeGrid& grid, const void* voxels);

    // The same where the device holds the volume as one texture. A larger one is cut into pages: it is read once now,
    // for a coarse level, and pages of it again whenever a picture wants them; `done` hears how many of its voxels more
    // were read, and may throw to stop. Throws what the source throws too.
    void set_volume(std::shared_ptr<const VoxelSource> source,
                    const std::function<void(std::int64_t voxels)>& done = {});

    // The next time point of what is shown: the range of values that was chosen for the first stays, unless the view
    // wants each volume's own.
    void next_volume(const VolumeGrid& grid, const void* voxels);

    // What the view means for the volume that is shown. Throws Error{bad_setting}.
    TransferFunction transfer_function(const View& view) const;

    // Throws Error{bad_setting} naming the key of a view that cannot work, or that there is no volume yet.
    // `done` hears how many more rows are finished (none while pages of a large volume are brought in), and may throw
    // to stop; without it the picture is made in one go.
    Image render(const View& view, const std::function<void(std::int64_t rows)>& done = {});

    // One a pixel, row by row from the top. Lengths as in camera.h: micrometres, or voxels where nothing is known.
    std::vector<RayMeasure> measure(const View& view);

    // The slots of a live ring instead of those that were there. Valid until the next call. Throws Error{bad_setting,
    // out_of_memory, device}.
    SlotWriter& make_slots(const SlotsWanted& wanted);

    // Submits a picture and returns; what is new in the slots is brought to their textures before. Throws as render().
    Drawing draw(const View& view, const ShownSlots& shown);

    bool is_finished(const Drawing& drawing) const;
    void wait(const Drawing& drawing);

    // Reads a picture back. Throws Error{bad_setting} when later ones have taken its place.
    Image read(const Drawing& drawing);

    // Reads back the codes of shown.newest from its texture, as grid.type says.
    std::vector<std::byte> read_slot(const ShownSlots& shown);

    // Everything that ever came back from the device.
    std::int64_t bytes_read_back() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
