// Progressive picture of a window. While anything changes, it casts as many rays as fit into the frame time. At rest,
// it renders at full resolution, then refines with jittered passes, and finally stops.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "render/denoiser.h"
#include "render/raycaster.h"
#include "render/resolver.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// ---- Cross-fade between two finished pictures of the same view and volume: from ray cast to traced, and from each
// traced picture to the next less noisy one, to avoid flicker. For displays only.

class CrossFade {
  public:
    CrossFade(const gpu::Device& device, gpu::Queue& queue) : device_(device), queue_(queue) {}

    // Starts a fade between copies of two pictures of equal size. Throws Error{out_of_memory}.
    void begin(const gpu::DeviceImage& from, const gpu::DeviceImage& to, double now_s);
    void end() { begun_s_.reset(); }
    bool is_running() const { return begun_s_.has_value(); }

    // Returns the weight of the new picture, 0 to 1, for a fade that takes `seconds`.
    double share(double now_s, double seconds) const;

    const gpu::DeviceImage& from() const { return images_->from; }
    const gpu::DeviceImage& to() const { return images_->to; }

  private:
    struct Images {
        Images(const gpu::Device& device, vk::Extent3D pixels);

        gpu::DeviceImage from, to;
        bool are_fresh = true;
    };

    const gpu::Device& device_;
    gpu::Queue& queue_;
    std::optional<Images> images_;
    std::optional<double> begun_s_;  // empty: not fading
};

// The picture to show, and its quality.
struct DisplayedPicture {
    ResolvedPicture picture;
    double pitch = 0;         // in pixels, between rays
    std::int64_t passes = 0;  // number of passes in the mean
    bool is_final = false;    // unchanged until something changes
};

// Change counters of the scene and of undescribed parts of the view. Compared as a whole.
using SceneSerials = std::array<std::uint64_t, 3>;

class ProgressivePicture {
  public:
    ProgressivePicture(const gpu::Device& device, gpu::Queue& queue, Raycaster& raycaster, Resolver& resolver,
                       Denoiser& denoiser)
        : device_(device), queue_(queue), raycaster_(raycaster), resolver_(resolver), denoiser_(denoiser),
          pictures_(device), fade_(device, queue) {}

    // Returns true if the current picture is of this view.
    bool is_of(const View& view) const;

    // Returns true if update() would submit work. `now_s` must not decrease.
    bool is_due(const View& view, const SceneSerials& serials, double now_s) const;

    // Returns the picture to show now. Submits the pending work as part of `chain`, at most a frame's worth at rest, so
    // that the next motion starts without delay. Without pending work, `chain` is not used. `view` must have been
    // checked. After an exception nothing is shown, and the next call starts over.
    const DisplayedPicture& update(const View& view, const Scene& scene, const SceneSerials& serials, double now_s,
                                   const gpu::Chain& chain = {});

    // Valid until the next update.
    const DisplayedPicture& shown() const { return shown_; }

    // Returns the number of removed fireflies in the picture. Waits for it.
    std::int64_t fireflies();

    // Returns true if the picture is one of these and has not been overwritten.
    bool holds(const ResolvedPicture& picture) const { return pictures_.holds(picture); }

  private:
    bool has_changed(const View& view, const SceneSerials& serials) const;
    bool is_resting(double now_s) const;
    void advance(const View& view, const Scene& scene, const SceneSerials& serials, double now_s,
                 const gpu::Chain& chain);
    std::optional<double> expected_seconds(const Scene& scene, double pitch);
    double pitch_for(const Scene& scene);
    void prepare_accumulation();
    void move(const Scene& scene, const gpu::Chain& chain);
    struct Piece {  // part of a pass
        std::int64_t number;
        GroupRows rows;
    };
    std::vector<Piece> pieces_within(double seconds, const Scene& scene, double unchanged_s);
    void refine(const Scene& scene, double now_s, const gpu::Chain& chain);
    bool is_clean();
    void continue_fading(double now_s);
    const gpu::DeviceImage* light_shown();
    void show(const Scene& scene, const View& view, double pitch);
    void restart();

    const gpu::Device& device_;
    gpu::Queue& queue_;
    Raycaster& raycaster_;
    Resolver& resolver_;
    Denoiser& denoiser_;
    ResolvedPictures pictures_;
    CrossFade fade_;
    std::optional<AccumulationBuffer> accumulation_;
    View view_;
    SceneSerials serials_{};
    double changed_s_ = 0;
    double shown_s_ = 0;                // time of the last visible change
    std::int64_t passes_ = 0;           // completed passes of this view at full resolution
    std::int64_t group_rows_cast_ = 0;  // rows of the pass in progress
    std::uint64_t submitted_ = 0;
    struct Lit {
        std::int64_t paths = 0;  // 0 before the first
        bool is_filtered = false;
        bool is_judged = false;  // noise of the displayed light is estimated
        Denoiser::Light light;
    } lit_;                     // displayed light of paths
    bool is_complete_ = false;  // no more passes
    DisplayedPicture shown_;    // no passes: nothing shown yet
};

}  // namespace echolux
