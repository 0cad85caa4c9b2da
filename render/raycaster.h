// Renders volume textures to pictures on the device with shaders/raycast.comp or trace.comp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "render/accumulation_buffer.h"
#include "render/annotations/annotator.h"
#include "render/bricks.h"
#include "render/curve_tables.h"
#include "render/light_volume.h"
#include "render/majorants.h"
#include "render/pace.h"
#include "render/raycast_programs.h"
#include "render/region.h"
#include "render/scene.h"
#include "render/sky_light.h"
#include "render/stats.h"
#include "render/surface_albedo.h"
#include "render/view/view.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "render/vk/timestamps.h"
#include "shaders/shared/raycast.h"

namespace echolux {

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

// A picture in flight. It is finished when the queue reaches `value`, and valid until `pictures_under_way` more have
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
    // and they block other users of the device. The host waits only for the picture `pictures_under_way` calls ago and
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
        DrawnSheet annotations;
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
    struct StandIns {
        explicit StandIns(const gpu::Device& device);

        gpu::DeviceImage plane, floats, cube;
    };

    Pace& pace_of(const Shot& shot);  // independent of the lighting, so that coarse pictures predict the full one
    void doubt_paces_of_other_paths(const Shot& shot);
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
    StandIns absent_;
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
