// The renderer and what stands on it: nothing (the start page), or one exhibit. When the graphics device is lost, all
// is made anew.
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

// Puts something on the stage's renderer; called again when the device came back.
using MakeExhibit = std::function<std::unique_ptr<Exhibit>(Renderer&)>;

class Stage {
  public:
    // Throws Error{device}.
    Stage(DeviceChoice device, BackendChoice backend);
    ~Stage();

    Renderer& renderer() { return *renderer_; }                 // that must be there
    bool has_renderer() const { return renderer_ != nullptr; }  // false: revive() has failed, and may be tried again
    const BackendChoice& backend() const { return backend_; }

    Exhibit* exhibit() { return exhibit_.get(); }
    StandIn* stand_in() { return exhibit_.get(); }  // the same

    // In place of what was shown, which is gone when this throws (memory may not hold both).
    void show(MakeExhibit make);
    void clear();

    // After Error{device}: a new renderer, and the exhibit on it. Everything that holds the old renderer (screens) has
    // been let go before. Throws Error{device} when that does not help.
    void revive();

  private:
    DeviceChoice device_;
    BackendChoice backend_;
    std::unique_ptr<Renderer> renderer_;
    MakeExhibit make_;
    std::unique_ptr<StandIn> exhibit_;  // goes first
};

}  // namespace echolux
