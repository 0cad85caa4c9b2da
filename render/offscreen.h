// The renderer's public face: a volume in, pictures out, no screen and no Vulkan types needed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/cast_stats.h"
#include "render/device_choice.h"
#include "render/heights.h"
#include "render/histogram.h"
#include "render/scan_planes.h"
#include "render/slots/pages_shown.h"
#include "render/slots/slot_writer.h"
#include "render/slots/voxel_source.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

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

enum class PictureBits { eight = 8, sixteen = 16 };  // of a channel

// Whole rows of a picture that comes piece by piece, from the top: RGBA with straight alpha, of the machine's byte
// order.
struct PictureRows {
    std::int64_t count = 0;
    std::span<const std::byte> pixels;  // valid during the call that hands them over
};

// What the ray of a pixel met, exactly.
struct RayMeasure {
    float value;          // mip: the largest value; isosurface: the isovalue where it is hit
    float transmittance;  // composite: part of the light from behind that passes; 0: opaque
    float distance;       // length along the ray to where that is (composite: where a quarter of the light is held
                          // back); negative: nowhere
    float path;           // length inside what is not cut away
    float voxel_value;    // of the voxel in which that is
    float samples;        // of the volume that were taken
    std::array<float, 3>
        gradient;  // where that is, along depth, A-scans, B-scans: texture values per smallest voxel edge
    std::array<float, 3> voxel;
};

// The first visible voxel under a pixel. Three numbers run along depth, A-scans, B-scans.
struct Probe {
    double value = 0;  // of the voxel, as the volume holds it
    std::string unit;
    std::array<std::int64_t, 3> voxel{};  // counted from 0
    std::array<double, 3> index{};        // where the ray meets it, in voxels from the middle of the first
    std::array<double, 3> place_um{};     // the same in micrometres, or voxels where no spacing is known
    bool has_spacing = false;
    std::array<double, 3> normal{};  // of length 1, towards lower values; 0 where values do not change
    double distance_um = 0;          // from the eye, along the ray; or voxels
};

enum class VolumeState { still, changing };

// A picture of a live ring: submitted, perhaps not finished, on the device.
struct Drawing {
    const gpu::DeviceImage* image = nullptr;
    std::uint64_t value = 0;
};

// A picture as a window shows it, and how good it is.
struct FollowedPicture {
    Drawing drawing;
    double pitch = 0;         // pixels from ray to ray
    std::int64_t passes = 0;  // rays a pixel
    bool is_final = false;    // nothing is drawn any more until something changes
};

// A volume on the device, shown or not.
struct PreparedVolume;

// The range of values that was chosen for it.
ValueRange fixed_range(const PreparedVolume& prepared);

// Volumes of files and slots of a live ring are shown by the same means. One thread draws; another may write to slots.
class Renderer {
  public:
    struct Parts;  // for the files of this room

    // Throws Error{device}: no loader, driver or fitting device; each device and why it was refused is named.
    explicit Renderer(const DeviceChoice& choice = {});
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    const std::string& device_name() const;
    const DeviceId& device_id() const;
    bool is_software() const;

    // Copies grid.bytes() of `voxels` to the device. The old volume stays when this throws.
    // Throws Error{bad_setting, out_of_memory}.
    void set_volume(const VolumeGrid& grid, const void* voxels);

    // The same where the device holds the volume as one texture. A larger one is cut into pages: it is read once now,
    // for a coarse level, and pages of it again whenever a picture wants them; `done` hears how many of its voxels more
    // were read, and may throw to stop. Throws what the source throws too.
    void set_volume(std::shared_ptr<const VoxelSource> source,
                    const std::function<void(std::int64_t voxels)>& done = {});

    // Whether that was too large for one texture.
    bool is_in_pages() const;

    // The same in two parts, for the time points of a series: what is slow on any thread, beside pictures; showing it
    // on the one that draws, which waits for nothing. `chosen`: the range of values of the first one, see
    // fixed_range(); nothing: this one's own. Prepared volumes go before the renderer does; whoever lets go of one last
    // waits for the pictures that show it.
    std::shared_ptr<PreparedVolume> prepare(std::shared_ptr<const VoxelSource> source,
                                            const std::optional<ValueRange>& chosen,
                                            const std::function<void(std::int64_t voxels)>& done = {});
    void show(const std::shared_ptr<PreparedVolume>& prepared);

    // What the view means for the volume that is shown. Throws Error{bad_setting}.
    TransferFunction transfer_function(const View& view) const;

    // The flow at the moment of the volume, as large as that, until there is another volume. Real voxels are velocities
    // in grid.unit, complex ones phasors whose phase is pi at view.flow_v_max, of length 0 where nothing is known.
    // Voxels that are not finite are no flow. Throws Error{bad_setting, out_of_memory}.
    void set_flow(const VolumeGrid& grid, const void* voxels);
    void clear_flow();

    // Lets go of all that is shown: the volume, its flow, heights and poses, the slots of a live ring.
    void clear();

    // What view.top_from and view.bottom_from name; empty maps: nothing. Throws Error{bad_setting} for maps of another
    // size.
    void set_heights(const HeightMaps& maps);

    // Where B-scans lie that are planes in space and no volume, as many as there are of them, for whatever is shown
    // from now on; none: they are a volume. Modes, light, slices and sections mean nothing then.
    void set_poses(const std::vector<BScanPose>& poses);

    // Throws Error{bad_setting} naming the key of a view that cannot work, or that there is no volume yet.
    // `done` hears how many more rows are finished (none meanwhile, now and then), and may throw
    // to stop; without it the picture is made in one go.
    Image render(const View& view, const std::function<void(std::int64_t rows)>& done = {});

    // The same of any size in bounded memory, at 16 bits from the floats that were summed: `take` gets all rows in
    // their order (none meanwhile, now and then), and may throw to stop.
    PagesShown render(const View& view, PictureBits bits, const std::function<void(const PictureRows& rows)>& take);

    // Submits the same picture, and returns what waits for it and gives it: to be called once, on any thread, and to be
    // gone before the renderer. So pictures follow each other without a pause of the device, a few passes ahead of it
    // at most: whoever begins many pictures waits here. Each has memory of its own until it is gone. Throws as
    // render().
    std::function<Image()> begin(const View& view);

    // The same of a live ring, finished; in one go.
    Image render(const View& view, const ShownSlots& shown);

    // One a pixel, row by row from the top. Lengths as in camera.h: micrometres, or voxels where nothing is known.
    std::vector<RayMeasure> measure(const View& view);

    // What a picture costs the device, by its own clock, in seconds: of a volume that stays, or of one that has just
    // changed, whose bricks are built anew. Nothing: the device keeps no time.
    std::optional<double> seconds_for(const View& view, VolumeState state);

    // Trilinear samples a second that this device takes at most, one figure a repetition.
    std::vector<double> texture_rates(int repetitions);

    // What is seen at the pixel (x, y), counted from the left top one: composite: where a quarter of the light is held
    // back; mip and its kin: where the extreme lies (mida: the brightest; average: the middle of the way); isosurface:
    // the hit; points: the ball. Finer than the picture: to a twentieth of the smallest voxel edge. None where nothing
    // is seen. Throws Error{bad_setting}.
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y);

    // The slots of a live ring instead of those that were there, which stay when this throws. Valid until the next
    // call. Throws Error{bad_setting, out_of_memory, device}.
    SlotWriter& make_slots(const SlotsWanted& wanted);

    // Submits a picture and returns; what is new in the slots is brought to their textures before. Throws as render().
    Drawing draw(const View& view, const ShownSlots& shown);

    // The picture of the volume that was set, as a window shows it: follows the view with as many rays as there is time
    // for, is refined at rest, then stays. `now_s`: seconds of any clock that never runs backwards. Throws as render().
    // Pictures with other numbers of `pane` are followed side by side, each with memory of its own; what is returned
    // stays until the same pane is asked for again.
    FollowedPicture follow(const View& view, double now_s, std::size_t pane = 0);

    // The same of a live ring; `shown` is asked for its slots only where there is something to draw.
    FollowedPicture follow(const View& view, const ShownSlot& newest, const std::function<ShownSlots()>& shown,
                           double now_s, std::size_t pane = 0);

    // How often each value occurs in what is shown, counted by the device beside the pictures: the newest count that
    // is finished, of this volume or one shortly before; a new one is begun where there is something new. Never waits.
    // Nothing: none is finished yet.
    std::optional<Histogram> histogram();
    std::optional<Histogram> histogram(const ShownSlot& newest, const std::function<ShownSlots()>& shown);

    bool is_finished(const Drawing& drawing) const;
    void wait(const Drawing& drawing);

    // Reads a picture back. Throws Error{bad_setting} when later ones have taken its place.
    Image read(const Drawing& drawing);

    // Submits a copy of the codes of shown.newest, and returns what waits for them and gives them, as grid.type says:
    // to be called once, on any thread, and to be gone before the renderer. It throws Error{device}.
    std::function<std::vector<std::byte>()> copy_slot(const ShownSlots& shown);
    std::vector<std::byte> read_slot(const ShownSlots& shown) { return copy_slot(shown)(); }

    // Of what a live ring shows.
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y, const ShownSlots& shown);

    // What casting rays has cost the device so far.
    CastStats cast_stats() const;

    // Everything that ever came back from the device: pictures, measures, volumes; and, apart from that, statistics,
    // which are histograms of 1 KiB.
    std::int64_t bytes_read_back() const;
    std::int64_t statistics_read_back() const;

    Parts& parts() const { return *parts_; }

  private:
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
