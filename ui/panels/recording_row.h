// The recording: one button, and while it runs its time, its size, the room left on the disk and missing blocks, larger
// than anything else in the window.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>

#include "app/stage/live_session.h"
#include "ui/panels/panel.h"

namespace echolux {

// How much room a disk has, asked now and then on a thread of its own: a network's disk may take its time, and the
// picture does not wait for it.
class FreeSpace {
  public:
    // Bytes on the disk of that folder, as of a second or two ago; nothing: not known (yet).
    std::optional<std::int64_t> bytes(const std::filesystem::path& folder, double now_s);

  private:
    std::filesystem::path folder_;
    std::optional<std::int64_t> known_;
    std::future<std::optional<std::int64_t>> asked_;
    double asked_at_s_ = -1e9;
};

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
