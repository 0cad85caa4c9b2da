// The renderer and what it shows: nothing (the start page) or one exhibit. Both are recreated if the graphics device is
// lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/stage/stand_in.h"
#include "compute/backend.h"
#include "render/device_choice.h"
#include "render/renderer.h"

namespace echolux {

// Creates an exhibit on the renderer; called again after a lost device.
using MakeExhibit = std::function<std::unique_ptr<Exhibit>(Renderer&)>;

class Stage {
  public:
    // Throws Error{device}.
    Stage(DeviceChoice device, BackendChoice backend);
    ~Stage();

    Renderer& renderer() { return *renderer_; }                 // must exist
    bool has_renderer() const { return renderer_ != nullptr; }  // false after revive() failed; it may be called again
    const BackendChoice& backend() const { return backend_; }

    Exhibit* exhibit() { return exhibit_.get(); }
    StandIn* stand_in() { return exhibit_.get(); }  // the exhibit as a StandIn

    // Replaces what was shown. The old exhibit is destroyed first, since memory may not hold both, so it is gone even
    // if this throws.
    void show(MakeExhibit make);
    void clear();

    // Call after Error{device}: creates a new renderer with the exhibit. Everything that uses the old renderer
    // (screens) must have been released. Throws Error{device} if it fails.
    void revive();

  private:
    DeviceChoice device_;
    BackendChoice backend_;
    std::unique_ptr<Renderer> renderer_;
    MakeExhibit make_;
    std::unique_ptr<StandIn> exhibit_;  // destroyed before the renderer
};

}  // namespace echolux
