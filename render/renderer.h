// The renderer's public face: a volume in, pictures out, no screen and no Vulkan types needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/annotations/annotations.h"
#include "render/device_choice.h"
#include "render/heights.h"
#include "render/picture.h"
#include "render/probe.h"
#include "render/scan_planes.h"
#include "render/slots/live_slots.h"
#include "render/slots/voxel_source.h"
#include "render/stats.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

enum class VolumeState { still, changing };

// What a picture is of: the volume that is shown, as one texture or in pages, or slots of the live ring.
class Subject {
  public:
    Subject() = default;
    Subject(const ShownSlots& slots) : slots_(&slots) {}  // to live as long as the call that it is given to

    const ShownSlots* slots() const { return slots_; }  // nothing: the volume

  private:
    const ShownSlots* slots_ = nullptr;
};

// A volume on the device, shown or not.
struct PreparedVolume;

// The range of values that was chosen for it.
ValueRange fixed_range(const PreparedVolume& prepared);

// Volumes of files and slots of a live ring are drawn by the same calls. One thread draws; another may write to slots.
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
    // fixed_range(); nothing: this one's own. Prepared volumes must be released before the renderer; the last
    // release waits for the pictures that show it.
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

    // The slots of a live ring instead of those that were there, which stay when this throws. Valid until the next
    // call. Throws Error{bad_setting, out_of_memory, device}.
    LiveSlots make_slots(const SlotsWanted& wanted);

    // Signal a timeline of the slots from the host when the thread or device that should have signalled it is gone, so
    // that nothing waits for it forever. From any thread. Reading: waits for pictures under way first, as long as the
    // device still finishes any.
    void give_up_writing(std::uint64_t value) noexcept;
    void give_up_reading(std::uint64_t value) noexcept;

    // ---- pictures. What is new in the slots of a subject is brought to their textures before. Throw
    // Error{bad_setting} naming the key of a view that cannot work, or that there is nothing to show.

    // `done` hears how many rows more the work is worth that was done (none meanwhile, now and then), and may throw to
    // stop; without it the picture is made in one go.
    Image render(const View& view, const Subject& subject = {},
                 const std::function<void(std::int64_t rows)>& done = {});

    // The same of any size in bounded memory, at 16 bits from the floats that were summed: `take` gets all rows in
    // their order (none meanwhile, now and then), and may throw to stop.
    PagesShown render(const View& view, PictureBits bits, const std::function<void(const PictureRows& rows)>& take,
                      const Subject& subject = {});

    // Submits the same picture, and returns what waits for it and gives it: to be called once, on any thread, and to be
    // gone before the renderer. So pictures follow each other without a pause of the device, a few passes ahead of it
    // at most: whoever begins many pictures waits here. Each has memory of its own until it is gone. `pause` is called
    // between passes, and may throw to stop.
    std::function<Image()> begin(const View& view, const Subject& subject = {},
                                 const std::function<void()>& pause = {});

    // Submits a picture of one pass, which stays on the device until `pictures_under_way` later ones, and returns.
    Drawing draw(const View& view, const Subject& subject = {});

    // The picture as a window shows it: follows the view with as many rays as there is time for, is refined at rest,
    // then stays. `now_s`: seconds of any clock that never runs backwards. Pictures with other numbers of `pane` are
    // followed side by side, each with memory of its own; what is returned stays until the same pane is asked for
    // again. Slots are read only where there is something to draw.
    FollowedPicture follow(const View& view, double now_s, std::size_t pane = 0, const Subject& subject = {});

    bool is_finished(const Drawing& drawing) const;
    void wait(const Drawing& drawing);

    // Reads a picture back. Throws Error{bad_setting} when later ones have taken its place.
    Image read(const Drawing& drawing);

    // ---- what is seen, in numbers. Throw as pictures do.

    // One per pixel, row by row from the top. Lengths as in camera.h: micrometres, or voxels where nothing is known.
    std::vector<RayMeasure> measure(const View& view, const Subject& subject = {});

    // What the paths of a traced picture did, the mean of each pixel's. Throws as render() does.
    std::vector<PathCounts> count_paths(const View& view, const Subject& subject = {});

    // What is seen at the pixel (x, y), counted from the left top one: composite: where a quarter of the light is held
    // back; mip and its kin: where the extreme lies (mida: the brightest; average: the middle of the way); isosurface:
    // the hit; points: the ball. Finer than the picture: to a twentieth of the smallest voxel edge. None where nothing
    // is seen.
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y, const Subject& subject = {});

    // How often each value occurs in what is shown, counted by the device beside the pictures: the newest count that
    // is finished, of this volume or one shortly before; a new one is begun where there is something new, and slots are
    // read only then. Never waits. Nothing: none is finished yet.
    std::optional<Histogram> histogram(const Subject& subject = {});

    // The same over both axes of the view's transfer function, where it has two. Nothing also of volumes in pages, and
    // of live ones of which none is whole yet.
    std::optional<PlaneHistogram> plane_histogram(const View& view, const Subject& subject = {});

    // What the colours of flow mean, of the volume or of the ring. Nothing: there is no flow.
    std::optional<FlowScale> flow_scale(const View& view) const;

    // How fast the flow of these slots is, counted as histogram() counts: from that the colours of later pictures take
    // their range where the view leaves it open. It grows at once, and shrinks where it is more than twice too wide,
    // so that colours do not flicker. Never waits.
    void look_at_flow(const ShownSlots& shown);
    bool looks_at_flow() const;  // a count is under way

    // Submits a copy of the codes of shown.newest, and returns what waits for them and gives them, as grid.type says:
    // to be called once, on any thread, and to be gone before the renderer. It throws Error{device}.
    std::function<std::vector<std::byte>()> copy_slot(const ShownSlots& shown);
    std::vector<std::byte> read_slot(const ShownSlots& shown) { return copy_slot(shown)(); }

    // ---- what it costs

    // Of the volume that is shown, as whoever reconstructs stores them (Places::peaks, peak_depths() each): pictures of
    // a volume that has just changed make their bricks of them. False: the device does not take so many, and reads
    // voxels.
    bool set_peaks(const void* peaks);
    std::int64_t peak_depths() const;

    // What a picture of the volume costs the device, by its own clock, in seconds: where it stays, or has just changed,
    // so that its bricks are built anew. Of a traced picture a path a pixel. Nothing: the device keeps no time.
    std::optional<double> seconds_for(const View& view, VolumeState state);

    // Trilinear samples a second that this device takes at most, one figure a repetition.
    std::vector<double> texture_rates(int repetitions);

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
