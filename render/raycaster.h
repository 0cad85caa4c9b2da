// Renders volume textures to pictures on the device with shaders/raycast.comp or trace.comp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "render/annotations/annotator.h"
#include "render/bricks.h"
#include "render/light_volume.h"  // RaycastConstants
#include "render/picture.h"
#include "render/shader_tables.h"
#include "render/view/view.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "shaders/shared/raycast.h"

namespace echolux {

// ---- Accumulation of jittered passes: the running mean of all passes as floats, and the description of a pass.

struct FilteredLight;

// Features of light paths for the denoiser, as means over the paths of each pixel.
struct PathFeatures {
    // Throws Error{out_of_memory}.
    PathFeatures(const gpu::Device& device, vk::Extent3D rays);

    gpu::DeviceImage albedo;   // of the first scattering; alpha: its depth
    gpu::DeviceImage normals;  // at the first scattering, weighted by trust; alpha: sum of squares of all features
    gpu::DeviceImage squares;  // R: squared luminance, G: luminance with alternating sign
    gpu::DeviceImage drawn;    // lines and slices: premultiplied linear display colours
};

// Premultiplied colour and opacity, one element per ray.
struct AccumulationBuffer {
    // Throws Error{out_of_memory}.
    AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows);
    ~AccumulationBuffer();

    std::int64_t columns() const { return mean.shape().extent.width; }
    std::int64_t rows() const { return mean.shape().extent.height; }

    // Allocates the features. Must precede the first path. Throws Error{out_of_memory}.
    void prepare_features(const gpu::Device& device);

    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    gpu::DeviceImage mean;
    std::optional<PathFeatures> features;     // only with traced passes
    std::unique_ptr<FilteredLight> filtered;  // only if denoised
    bool is_fresh = true;                     // not used by the device yet
};

struct Pass {
    AccumulationBuffer* accumulation = nullptr;  // null: single pass directly to a picture
    std::int64_t number = 0;                     // pass 0 is centred in pixels and steps, the others are jittered
    double pitch = 1;                            // in pixels, between rays
};

// A range of workgroup rows in order of execution, which differs from the order in the picture.
struct GroupRows {
    std::int64_t first = 0;
    std::int64_t end = INT64_MAX;  // clamped to the number of rows
};

// ---- Measured speed of a variant of the ray caster, for predicting the time of a picture. Assumes a slow device until
// the first picture has finished.

class Pace {
  public:
    // `work` is the number of rays times the max number of samples per ray.
    double seconds(double work) const { return work * seconds_per_sample_; }
    bool is_known() const { return known_; }

    // Records a measurement. If it was faster than the estimate, the estimate keeps the fraction `kept`: paths in one
    // part of a picture predict little about the next part.
    void learn(double work, std::optional<double> seconds, double kept) {
        if (!seconds || !(work > 0)) return;
        last_ = std::max(*seconds / work, min_seconds);
        seconds_per_sample_ = std::max(last_, kept * seconds_per_sample_);
        known_ = true;
    }

    // Prepares for pictures that may take up to `factor` times as long as the last one. Repeated doubts do not
    // multiply, or a continuously turning view would end up being cast row by row.
    void doubt(double factor) { seconds_per_sample_ = std::max(seconds_per_sample_, std::min(factor * last_, slow)); }

  private:
    static constexpr double min_seconds = 1e-15;
    static constexpr double slow = 1e-8;  // software Vulkan on one core

    double seconds_per_sample_ = slow;
    double last_ = slow;
    bool known_ = false;
};

// ---- Variants of the ray caster's shader, compiled for the first picture that needs them. Each takes 0.5 MB in
// software drivers, and a window can request many combinations. A new one evicts the one unused for longest.

class RaycastPrograms {
  public:
    RaycastPrograms(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Returns the program for these constants. `bindings` must have the layout of the pictures. Valid until many other
    // programs have been requested.
    const vk::raii::Pipeline& of(const RaycastConstants& constants, const gpu::Bindings& bindings);

  private:
    vk::raii::Pipeline made(const RaycastConstants& constants, const gpu::Bindings& bindings) const;

    struct Program {
        vk::raii::Pipeline pipeline;
        std::uint64_t used;  // time of last use, counted in requests
    };

    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::map<RaycastConstants, Program> programs_;
    std::uint64_t used_ = 0;
};

// Output of rays: RGBA8 with straight alpha, RayMeasures, or mean PathCounts.
enum class RayOutput { colour, measures, counts };

// A picture or a part of it.
struct Shot {
    const Scene& scene;
    const View& view;  // checked and resolved, see section_view()
    RayOutput output = RayOutput::colour;
    Region region = {0, 0, view.width, view.height};
    Pass pass = {};
    GroupRows part = {};  // rows of the region to render now
    MajorantFault fault = MajorantFault::none;

    // Number of rays across and down the region.
    std::int64_t columns() const { return rays(region.width); }
    std::int64_t rows() const { return rays(region.height); }
    std::int64_t group_rows() const { return (rows() + shared::group_height - 1) / shared::group_height; }

  private:
    std::int64_t rays(std::int64_t pixels) const {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(pixels) / pass.pitch));
    }
};

// Returns the annotations of the whole picture that contains the shot. Its view is the requested one, before
// section_view().
Sheet sheet_of(const Shot& shot);

// A picture in flight. It is finished when the queue reaches `value`, and valid until `pictures_in_flight` more have
// been cast, or as long as its accumulation buffer.
struct CastPicture {
    const gpu::DeviceImage* image = nullptr;  // of the region; measures: `measure_pixels` pixels per ray
    std::uint64_t value = 0;
    const gpu::Stopwatch* stopwatch = nullptr;
};

class Raycaster {
  public:
    Raycaster(const gpu::Device& device, gpu::Queue& queue);

    // Submits the work as part of `chain`. Long work is split into several submissions, because drivers abort long ones
    // and they block other users of the device. The host waits only for the picture `pictures_in_flight` calls ago and
    // for the queue. Throws Error{bad_setting, device, out_of_memory}.
    CastPicture cast(const Shot& shot, const gpu::Chain& chain = {});

    // Returns the expected time on the device from similar pictures. Empty before the first one.
    std::optional<double> expected_seconds(const Shot& shot);

    // Returns the number of workgroup rows that fit into a time, at least 1.
    std::int64_t group_rows_within(double seconds, const Shot& shot);

    // Returns true if the picture has not been overwritten.
    bool holds(const CastPicture& picture) const;

    // Accumulated cost of casting.
    const CastStats& stats() const { return stats_; }

  private:
    // Resources of one picture in flight.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        RaycastConstants constants{};
        shared::RaycastFrame facts{};
        std::vector<float> extinctions;  // transfer table: buffers are slow to read
        std::vector<std::byte> channel_tables;
        std::optional<gpu::HostBuffer> channel_staging;  // host copy for the device; empty before the first channel
        CurveTables::Tables* tables = nullptr;           // only for two-axis functions or roughness
        gpu::HostBuffer uniforms;                        // RaycastFrame
        gpu::HostBuffer table;  // extinctions, colours, class limits, entries, peaks of extinctions
        BrickClassifier::Work classes, previous_classes;
        std::optional<gpu::DeviceImage> picture;
        SheetBuffers annotations;
        bool is_fresh = false;  // not used by the device yet
        std::uint64_t value = 0;
        gpu::Stopwatch stopwatch;
        Pace* timed = nullptr;  // pace that has not learned this picture's time yet
        double work = 0;
    };

    // A ring of frames; each is reused once the device has finished with it.
    struct Frames {
        std::vector<std::unique_ptr<Frame>> all;
        std::size_t next = 0;

        Frame& take() { return *all[std::exchange(next, (next + 1) % all.size())]; }
    };

    // Placeholders for unused bindings: all bindings of a shader must be valid.
    struct Placeholders {
        explicit Placeholders(const gpu::Device& device);

        gpu::DeviceImage plane, floats, cube;
    };

    Pace& pace_of(const Shot& shot);  // independent of the lighting, so that coarse pictures predict the full one
    void reset_other_paces(const Shot& shot);
    void make_frames(Frames& frames, std::size_t count);
    void learn_paces();
    void learn_paces(const Frames& frames);
    void prepare_noise();
    Frame& prepared_frame(const Shot& shot);
    void prepare_picture(Frame& frame, const Shot& shot);
    void prepare_output(Frame& frame, const Shot& shot);
    void prepare_annotations(Frame& frame, const Shot& shot);
    void bind_absent(Frame& frame);
    void bind_no_light(gpu::Bindings& bindings);
    void bind_no_majorants(gpu::Bindings& bindings);
    void bind_features(gpu::Bindings& bindings, const PathFeatures* features);
    const gpu::DeviceImage& flow_colours_of(const Shot& shot);
    void bind_flow(gpu::Bindings& bindings, const VolumeTexture* flow, std::uint32_t texture, std::uint32_t bricks);
    void bind_channels(gpu::Bindings& bindings, const Scene& scene);
    void stage_channels(Frame& frame, const Shot& shot);
    void bind(Frame& frame, const Shot& shot);
    LightSources light_sources(const Frame& frame, const Shot& shot) const;
    void fill_tables(Frame& frame, const Shot& shot);
    void record_inputs(const vk::raii::CommandBuffer& commands, Frame& frame, const Shot& shot);
    void record_rays(const vk::raii::CommandBuffer& commands, const Frame& frame, const Shot& shot,
                     const GroupRows& rows);
    std::vector<gpu::Recording> parts_of(Frame& frame, const Shot& shot);
    void submit_parts(Frame& frame, const Shot& shot, const gpu::Chain& chain);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    RaycastPrograms programs_;
    vk::raii::Sampler sampler_;
    gpu::DeviceImage extinctions_;
    gpu::DeviceImage colours_;
    gpu::DeviceImage limits_;
    gpu::DeviceBuffer entries_;
    std::optional<gpu::DeviceBuffer> channel_entries_;
    std::map<std::string, gpu::DeviceImage> flow_colours_;  // by name of the colour map
    Placeholders absent_;
    gpu::DeviceImage noise_;
    BrickClassifier classifier_;
    CurveTables curve_tables_;
    LightVolume light_volume_;
    Majorants majorants_;
    SkyLight sky_;
    std::pair<double, SurfaceAlbedo> surface_{-1, {}};  // cached for the last roughness: it takes milliseconds
    Annotator annotator_;
    Frames picture_frames_;       // whose pictures stay valid
    Frames accumulation_frames_;  // for panes, several of which are cast per window picture
    CastStats stats_;
    std::map<RaycastConstants, Pace> paces_;
    View traced_view_;  // view of the last paths: other paths may take much longer
    std::array<std::uint64_t, 3> traced_serials_{};
};

}  // namespace echolux
