// The recording: one button, and while it runs nothing in the window is as loud as what it says: time, size, room left
// on the disk, blocks that are missing.
#pragma once

#include <optional>

#include "app/stage/live_session.h"
#include "ui/panels/free_space.h"
#include "ui/panels/panel.h"

namespace echolux {

class RecordingRow {
  public:
    void draw(const PanelContext& context, const LiveSession& live);

  private:
    void draw_running(const PanelContext& context, const RecorderStats& stats);
    void draw_room(const PanelContext& context, double bytes_per_s);

    FreeSpace free_space_;
    std::optional<double> begun_s_;  // nothing: no recording runs
};

}  // namespace echolux
