// The renderer's interface: volumes in, pictures out. Needs no screen and exposes no Vulkan types.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/types.h"
#include "render/annotations/annotations.h"
#include "render/gpu_device.h"
#include "render/picture.h"
#include "render/scan_geometry.h"
#include "render/slots/live_slots.h"
#include "render/slots/voxel_source.h"
#include "render/transfer_function.h"
#include "render/view/view.h"

namespace echolux {

// Whether a timed picture is of an unchanged or of a new volume.
enum class VolumeState { still, changing };

// Subject of a picture: the current volume, or slots of the live ring.
class Subject {
  public:
    Subject() = default;
    Subject(const DisplayedSlots& slots) : slots_(&slots) {}  // must outlive the call that uses the subject

    const DisplayedSlots* slots() const { return slots_; }  // null: the volume

  private:
    const DisplayedSlots* slots_ = nullptr;
};

namespace gpu {
struct SharedDevice;  // render/vk/read_back.h
}

// A volume on the device, as one texture or in pages, shown or not.
struct PreparedVolume;

// Returns the range of values that was chosen for a prepared volume.
ValueRange fixed_range(const PreparedVolume& prepared);

// Renders volumes of files and slots of a live ring by the same functions. All functions but those marked as
// thread-safe are called by the drawing thread; another thread may write to slots.
class Renderer {
  public:
    // Throws Error{device} without a loader, driver or suitable device, listing each device and the reason for its
    // refusal.
    explicit Renderer(const GpuDevice& choice = {});
    ~Renderer();
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;

    const std::string& device_name() const;
    const DeviceId& device_id() const;
    bool is_software() const;

    // Copies grid.bytes() bytes of `voxels` to the device and shows the volume. If it throws, the old volume stays.
    // Throws Error{bad_setting, out_of_memory}.
    void set_volume(const VolumeGrid& grid, const void* voxels);

    // Shows the volume of a source. A volume too large for one texture is cut into pages: it is read once now for the
    // coarse level, and its pages are read again whenever a picture needs them. `done` is called with the number of
    // voxels read since the last call; it may throw to cancel. Also throws the errors of the source.
    void set_volume(std::shared_ptr<const VoxelSource> source,
                    const std::function<void(std::int64_t voxels)>& done = {});

    // Returns true if the volume was too large for one texture.
    bool is_in_pages() const;

    // Show a volume in two steps, for the time points of a series. prepare() does the slow part and is thread-safe.
    // show() belongs to the drawing thread and does not wait for the device. `chosen` is the range of the first volume
    // (see fixed_range()); empty: the volume's own. Prepared volumes must be released before the renderer. The last
    // release waits for the pictures of the volume.
    std::shared_ptr<PreparedVolume> prepare(std::shared_ptr<const VoxelSource> source,
                                            const std::optional<ValueRange>& chosen,
                                            const std::function<void(std::int64_t voxels)>& done = {});
    void show(const std::shared_ptr<PreparedVolume>& prepared);

    // Returns the transfer function of a view for the current volume. Throws Error{bad_setting}.
    TransferFunction transfer_function(const View& view) const;

    // Sets the flow of the current volume, of the same size, until the volume changes. Real voxels are velocities in
    // grid.unit. Complex ones are phasors with a phase of pi at view.flow_v_max and a magnitude of 0 where the flow is
    // unknown. Voxels that are not finite become zero flow. Throws Error{bad_setting, out_of_memory}.
    void set_flow(const VolumeGrid& grid, const void* voxels);
    void clear_flow();

    // Releases everything shown: the volume, its flow, heights and poses, and the slots of a live ring.
    void clear();

    // Sets the maps for view.top_from and view.bottom_from. Empty maps remove them. Throws Error{bad_setting} for maps
    // of a wrong size.
    void set_heights(const HeightMaps& maps);

    // Sets the positions of separate B-scans in space, one per B-scan, for everything shown from now on. Without poses,
    // the B-scans are a volume. Modes, lighting, slices and sections do not apply to separate B-scans.
    void set_poses(const std::vector<BScanPose>& poses);

    // Replaces the slots of the live ring. If it throws, the old slots stay. The result is valid until the next call.
    // Throws Error{bad_setting, out_of_memory, device}.
    LiveSlots make_slots(const SlotRequest& wanted);

    // Signal a timeline of the slots from the host after the thread or device that should have signalled it has gone,
    // so that nothing waits forever. abandon_reading() first waits for pictures in flight as long as the device makes
    // progress. Thread-safe.
    void abandon_writing(std::uint64_t value) noexcept;
    void abandon_reading(std::uint64_t value) noexcept;

    // ---- Pictures. New slices of a subject's slots are brought to their textures first. The functions throw
    // Error{bad_setting} that names the unsuitable key of a view, or if there is nothing to show.

    // Renders a picture at full quality. `done` is called with the progress since the last call in rows, occasionally
    // 0; it may throw to cancel. Without it, the picture is made without interruption.
    Image render(const View& view, const Subject& subject = {},
                 const std::function<void(std::int64_t rows)>& done = {});

    // Renders a picture of any size in bounded memory, with 16 bits computed from the accumulated floats. `take`
    // receives all rows in order, occasionally none; it may throw to cancel.
    PageCoverage render(const View& view, PictureBits bits, const std::function<void(const PictureRows& rows)>& take,
                        const Subject& subject = {});

    // Submits a picture and returns a function that waits for it and returns it. The function must be called once, on
    // any thread, and destroyed before the renderer. Successive pictures keep the device busy; the host is at most a
    // few passes ahead and otherwise waits here. Each picture has its own memory until its function is destroyed.
    // `pause` is called between passes and may throw to cancel.
    std::function<Image()> begin(const View& view, const Subject& subject = {},
                                 const std::function<void()>& pause = {});

    // Submits a single-pass picture and returns at once. It stays on the device until `pictures_in_flight` later ones.
    Drawing draw(const View& view, const Subject& subject = {});

    // Returns the picture of a window: follows the view within the frame time, is refined at rest, then stays. `now_s`
    // is the time of a monotonic clock in seconds. Each `pane` has its own picture and memory; the result is valid
    // until the next call for the pane. Slots are only read if there is something to draw.
    PanePicture follow(const View& view, double now_s, std::size_t pane = 0, const Subject& subject = {});

    // Return true if, or wait until, a submitted picture is finished.
    bool is_finished(const Drawing& drawing) const;
    void wait(const Drawing& drawing);

    // Reads a picture back. Throws Error{bad_setting} if later ones have replaced it.
    Image read(const Drawing& drawing);

    // ---- Measurements. Throw as pictures do.

    // Returns one measurement per pixel, row by row from the top. Lengths are in um, or in voxels without a spacing.
    std::vector<RayMeasure> measure(const View& view, const Subject& subject = {});

    // Returns the mean statistics of the light paths per pixel of a traced picture.
    std::vector<PathCounts> count_paths(const View& view, const Subject& subject = {});

    // Returns the voxel seen at pixel (x, y), counted from the top left. composite: where a quarter of the light is
    // blocked; mip and similar: at the extreme (mida: the brightest sample; average: the middle of the ray);
    // isosurface: the hit; points: the ball. The precision is a twentieth of the smallest voxel edge. Empty if nothing
    // is visible.
    std::optional<Probe> probe(const View& view, std::int64_t x, std::int64_t y, const Subject& subject = {});

    // Returns the latest finished histogram of the values shown, of this volume or a slightly earlier one. Starts a new
    // one if there is new data, and only then reads slots. Never waits. Empty before the first.
    std::optional<Histogram> histogram(const Subject& subject = {});

    // Returns the histogram over both axes of the view's transfer function. Empty if it has only one axis, for paged
    // volumes, and before the first complete volume of a live ring.
    std::optional<PlaneHistogram> plane_histogram(const View& view, const Subject& subject = {});

    // Returns the scale of the flow colours, of the volume or the ring. Empty without flow.
    std::optional<FlowScale> flow_scale(const View& view) const;

    // Measures the speed of the slots' flow, like histogram(). It sets the automatic range of the colours in later
    // pictures. The range grows at once, but shrinks only if it is more than twice too wide, to avoid flicker. Never
    // waits.
    void look_at_flow(const DisplayedSlots& shown);
    bool looks_at_flow() const;  // a measurement is in flight

    // Submits a copy of the codes of shown.newest and returns a function that waits for them and returns them in the
    // type of grid.type. The function must be called once, on any thread, and destroyed before the renderer. It throws
    // Error{device}.
    std::function<std::vector<std::byte>()> copy_slot(const DisplayedSlots& shown);
    std::vector<std::byte> read_slot(const DisplayedSlots& shown) { return copy_slot(shown)(); }

    // ---- Costs.

    // Sets the peaks of the current volume (VoxelTargets::peaks, peak_depths() voxels each), as a reconstructor stores
    // them. Pictures of a changed volume then compute its bricks from peaks. Returns false if the device cannot hold
    // them and reads voxels instead.
    bool set_peaks(const void* peaks);
    // Returns the number of voxels along depth per peak.
    std::int64_t peak_depths() const;

    // Returns the time that a picture of the volume takes the device, in seconds, with or without rebuilding the bricks
    // of a changed volume. For traced pictures, of one path per pixel. Empty if the device has no timestamps.
    std::optional<double> seconds_for(const View& view, VolumeState state);

    // Returns the max rate of trilinear samples per second of this device, one value per repetition.
    std::vector<double> texture_rates(int repetitions);

    // Returns the accumulated device time of ray casting.
    CastStats cast_stats() const;

    // Return the total number of bytes read back: pictures, measurements and volumes; and separately statistics such as
    // histograms of 1 KiB.
    std::int64_t bytes_read_back() const;
    std::int64_t statistics_read_back() const;

    // Returns the number of removed fireflies in the traced picture of a pane. Waits for it.
    std::int64_t fireflies(std::size_t pane = 0);

    // Returns the device for the screen, which shares it.
    gpu::SharedDevice shared_device() const;

    struct Parts;  // defined in renderer.cpp

  private:
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
