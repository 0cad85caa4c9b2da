// Main window. Each turn of the loop takes events, updates the workspace, lays out panes and panels, and displays them.
// Nothing is drawn if nothing changed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/viewer/pane_view.h"
#include "render/screen.h"
#include "ui/window/native_window.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct WindowStats {
    std::int64_t turns = 0;
    std::int64_t shown = 0;                 // frames
    double interface_cpu_s = 0;             // time of the last layout of the interface
    std::optional<double> interface_gpu_s;  // time to draw it; nullopt if the device has no timestamps
    bool is_at_rest = false;                // nothing will be drawn until an event
    std::int64_t turns_since_input = 0;     // turns from the last event to the frame that displays it
    double answered_s = 0;                  // the same time in seconds
};

class MainWindow {
  public:
    // `native` and `work` must outlive this object. Throws Error{device}.
    MainWindow(NativeWindow& native, Workspace& work);
    ~MainWindow();

    // Runs until the window is closed.
    void run();

    // Runs one turn. Waits at most `max_wait_s` seconds for events if nothing is due. Returns false when the window is
    // to be closed.
    bool turn(double max_wait_s);

    // Interrupts the current or next wait in turn(). Thread-safe.
    void wake();

    Image picture();  // last frame of the whole window; empty while the graphics device is lost
    WindowStats stats() const;

    // Position of a pane in pixels, or nullopt if it is hidden. For tests.
    using PaneKind = echolux::PaneKind;
    std::optional<Region> place_of(PaneKind pane) const;

    // Position of the control of a key or action in the last frame (left, top, right, bottom). For tests.
    std::optional<std::array<float, 4>> place_of(const std::string& key) const;

    // Azimuth of the camera of the displayed picture, and of the marks above it; nullopt without a picture. For tests.
    std::optional<double> shown_azimuth_deg(PaneKind pane) const;
    std::optional<double> marked_azimuth_deg(PaneKind pane) const;

    // Positions of all controls.
    const std::map<std::string, std::array<float, 4>>& places() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
