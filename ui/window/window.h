// The window: events in, pictures out, the workspace between them. One turn of the loop takes events, brings the
// workspace up to date, lays out panes and panels, and shows all of it; where nothing changed, nothing is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "app/stage/pane_view.h"
#include "render/screen.h"
#include "ui/window/native_window.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct WindowStats {
    std::int64_t turns = 0;
    std::int64_t shown = 0;                 // pictures
    double interface_cpu_s = 0;             // laying out and meshing the interface, the last time
    std::optional<double> interface_gpu_s;  // drawing it
    bool is_at_rest = false;                // nothing will be drawn until something happens
    std::int64_t turns_since_input = 0;     // from the last event to the picture that shows it
    double answered_s = 0;                  // the same in seconds
};

class MainWindow {
  public:
    // Both outlive it. Throws Error{device}.
    MainWindow(NativeWindow& native, Workspace& work);
    ~MainWindow();

    // Until it is closed.
    void run();

    // One turn; waits for events at most so long where there is nothing to draw. False: it is to be closed.
    bool turn(double max_wait_s);

    // Ends the waiting of turn(), or the next one. Any thread.
    void wake();

    Image picture();  // of the whole window, as it was shown last; empty while the graphics device is lost
    WindowStats stats() const;

    // Where a pane stands, in pixels; nothing: it is not shown. For tests.
    using PaneKind = echolux::PaneKind;
    std::optional<Region> place_of(PaneKind pane) const;

    // Where a control of that key or action was drawn last (left, top, right, bottom). For tests.
    std::optional<std::array<float, 4>> place_of(const std::string& key) const;

    // The same of all controls.
    const std::map<std::string, std::array<float, 4>>& places() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
