// A picture that follows its view as a window shows it: while anything changes, with as many rays as the device casts
// in the time for a frame; at rest in full, then ever finer by jittered passes, and in the end not drawn any more.
#pragma once

#include <cstdint>
#include <optional>

#include "render/film.h"
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

class ProgressivePicture {
  public:
    ProgressivePicture(const gpu::Device& device, gpu::Queue& queue, Raycaster& raycaster, Resolver& resolver)
        : device_(device), queue_(queue), raycaster_(raycaster), resolver_(resolver) {}

    // Whether update() would give the device work. `serial` changes with the scene, and with whatever of the view is
    // not described; `now_s` never runs backwards.
    bool is_due(const View& view, std::uint64_t serial, double now_s) const;

    // What is to be shown now. Submits what is_due() says as part of `chain`, less than a frame's worth where nothing
    // moves, so that a movement is answered at once; `chain` is left alone where nothing is due. `view` has been
    // checked.
    const ShownPicture& update(const View& view, const Scene& scene, std::uint64_t serial, double now_s,
                               const gpu::Chain& chain = {});

    const ShownPicture& shown() const { return shown_; }

  private:
    bool has_changed(const View& view, std::uint64_t serial) const;
    bool is_resting(double now_s) const;
    double pitch_for(const Scene& scene);
    void prepare_film();
    void move(const Scene& scene, const gpu::Chain& chain);
    void refine(const Scene& scene, const gpu::Chain& chain);
    void show(const Scene& scene, double pitch, std::int64_t passes);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    Raycaster& raycaster_;
    Resolver& resolver_;
    std::optional<Film> film_;
    View view_;
    std::uint64_t serial_ = 0;
    double changed_s_ = 0;
    std::int64_t group_rows_cast_ = 0;  // of the pass that is under way
    std::uint64_t submitted_ = 0;
    ShownPicture shown_;
};

}  // namespace echolux
