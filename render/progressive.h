// A picture that follows its view as a window shows it: while anything changes, with as many rays as the device casts
// in the time for a frame; at rest in full, then ever finer by jittered passes, and in the end not drawn any more.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "render/accumulation_buffer.h"
#include "render/cross_fade.h"
#include "render/denoiser.h"
#include "render/raycaster.h"
#include "render/resolver.h"

namespace echolux {

// What is to be shown, and how good it is.
struct ShownPicture {
    ResolvedPicture picture;
    double pitch = 0;         // pixels from ray to ray
    std::int64_t passes = 0;  // in the mean
    bool is_final = false;    // it stays as it is until something changes
};

// Others where the scene changes, and whatever of the view is not described; compared as a whole.
using SceneSerials = std::array<std::uint64_t, 3>;

class ProgressivePicture {
  public:
    ProgressivePicture(const gpu::Device& device, gpu::Queue& queue, Raycaster& raycaster, Resolver& resolver,
                       Denoiser& denoiser)
        : device_(device), queue_(queue), raycaster_(raycaster), resolver_(resolver), denoiser_(denoiser),
          pictures_(device), fade_(device, queue) {}

    // Whether what it has cast is of this view already.
    bool is_of(const View& view) const;

    // Whether update() would give the device work. `now_s` never runs backwards.
    bool is_due(const View& view, const SceneSerials& serials, double now_s) const;

    // What is to be shown now. Submits what is_due() says as part of `chain`, less than a frame's worth where nothing
    // moves, so that a movement is answered at once; `chain` is left alone where nothing is due. `view` has been
    // checked. What this throws leaves nothing shown: the next call begins anew.
    const ShownPicture& update(const View& view, const Scene& scene, const SceneSerials& serials, double now_s,
                               const gpu::Chain& chain = {});

    // Stays until the next update.
    const ShownPicture& shown() const { return shown_; }

    // Pixels of it that stood out by chance and were taken out. Waits for it.
    std::int64_t fireflies();

    // Whether the picture is one of this and has not been overwritten by a later one.
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
    struct Piece {  // of a pass
        std::int64_t number;
        GroupRows rows;
    };
    std::vector<Piece> pieces_within(double seconds, const Scene& scene, double unchanged_s);
    void refine(const Scene& scene, double now_s, const gpu::Chain& chain);
    bool is_clean();
    void go_on_fading(double now_s);
    const gpu::DeviceImage* light_shown();
    void show(const Scene& scene, const View& view, double pitch);
    void begin_anew();

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
    double shown_s_ = 0;                // when there was something new to be seen
    std::int64_t passes_ = 0;           // of this view in full that are summed
    std::int64_t group_rows_cast_ = 0;  // of the pass that is under way
    std::uint64_t submitted_ = 0;
    struct Lit {
        std::int64_t paths = 0;  // none: nothing yet
        bool is_filtered = false;
        bool is_judged = false;  // how noisy it is, as it is shown now
        Denoiser::Light light;
    } lit_;                     // what is shown of paths
    bool is_complete_ = false;  // nothing is cast any more
    ShownPicture shown_;        // no passes: nothing yet
};

}  // namespace echolux
