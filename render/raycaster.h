// Turns a volume texture and a view into a picture on the device, by the compute shader shaders/raycast.comp.
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

// RGBA8 with straight alpha, RayMeasures, or the means of what paths of light did (PathCounts).
enum class RayOutput { colour, measures, counts };

// One picture, or a part of it.
struct Shot {
    const Scene& scene;
    const View& view;  // has been checked and resolved: see section_view()
    RayOutput output = RayOutput::colour;
    Region region = {0, 0, view.width, view.height};
    Pass pass = {};
    GroupRows part = {};  // of the region that is cast, the rest another time
    MajorantFault fault = MajorantFault::none;

    // Rays across and down the region.
    std::int64_t columns() const { return rays(region.width); }
    std::int64_t rows() const { return rays(region.height); }
    std::int64_t group_rows() const { return (rows() + shared::group_height - 1) / shared::group_height; }

  private:
    std::int64_t rays(std::int64_t pixels) const {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(pixels) / pass.pitch));
    }
};

// What is drawn over the whole picture of which the shot is a part. Its view is the one that was asked for, not yet
// that of a section.
Sheet sheet_of(const Shot& shot);

// A picture under way: finished when the queue has reached `value`. It stays until `pictures_under_way` more are cast,
// in an accumulation buffer as long as that does.
struct CastPicture {
    const gpu::DeviceImage* image = nullptr;  // of the region; measures: `measure_pixels` a ray
    std::uint64_t value = 0;
    const gpu::Stopwatch* stopwatch = nullptr;
};

class Raycaster {
  public:
    Raycaster(const gpu::Device& device, gpu::Queue& queue);

    // Submits the work as part of `chain`, in several submissions where one would keep the device for long: drivers end
    // such ones, and others could not get in between. The host waits only for the picture that was cast
    // `pictures_under_way` calls ago, and for its turn in the queue.
    CastPicture cast(const Shot& shot, const gpu::Chain& chain = {});

    // How long the device will work, from what like pictures have taken; nothing: there have been none yet.
    std::optional<double> expected_seconds(const Shot& shot);

    // Rows of work groups of the picture that fit into a time, at least one.
    std::int64_t group_rows_within(double seconds, const Shot& shot);

    // Whether the picture has not been overwritten by a later one.
    bool holds(const CastPicture& picture) const;

    // What casting has cost the device so far.
    const CastStats& stats() const { return stats_; }

  private:
    // What one picture under way needs for itself.
    struct Frame {
        explicit Frame(const gpu::Device& device);

        gpu::Bindings bindings;
        RaycastConstants constants{};
        shared::RaycastFrame facts{};
        std::vector<float> extinctions;  // of the table: a buffer is slow to read
        std::vector<std::byte> channel_tables;
        std::optional<gpu::HostBuffer> channel_staging;  // the same; nothing: there were no channels yet
        CurveTables::Tables* tables = nullptr;           // where the picture has some
        gpu::HostBuffer uniforms;                        // the facts
        gpu::HostBuffer table;  // extinctions, colours, limits of classes, entries, peaks of extinctions
        BrickClassifier::Work classes, previous_classes;
        std::optional<gpu::DeviceImage> picture;
        DrawnSheet annotations;
        bool is_fresh = false;  // the picture has not been used yet
        std::uint64_t value = 0;
        gpu::Stopwatch stopwatch;
        Pace* timed = nullptr;  // what is not learned from it yet
        double work = 0;
    };

    // Used in turn, each when the device is done with it.
    struct Frames {
        std::vector<std::unique_ptr<Frame>> all;
        std::size_t next = 0;

        Frame& take() { return *all[std::exchange(next, (next + 1) % all.size())]; }
    };

    // Textures for bindings that a picture has no use for: a shader's bindings must all be there.
    struct StandIns {
        explicit StandIns(const gpu::Device& device);

        gpu::DeviceImage plane, floats, cube;
    };

    Pace& pace_of(const Shot& shot);  // one, however the shot is lit: a picture that moves tells of the full one
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
    std::map<std::string, gpu::DeviceImage> flow_colours_;  // by the names of their maps
    StandIns absent_;
    gpu::DeviceImage noise_;
    BrickClassifier classifier_;
    CurveTables curve_tables_;
    LightVolume light_volume_;
    Majorants majorants_;
    SkyLight sky_;
    std::pair<double, SurfaceAlbedo> surface_{-1, {}};  // of the last roughness: it takes milliseconds
    Annotator annotator_;
    Frames picture_frames_;       // whose pictures are kept
    Frames accumulation_frames_;  // of panes, of which several are cast for one picture of a window
    CastStats stats_;
    std::map<RaycastConstants, Pace> paces_;
    View traced_view_;  // that paths were followed for last: others may be as much longer as can be
    std::array<std::uint64_t, 3> traced_serials_{};
};

}  // namespace echolux
