// The recording: one button, where it goes, its size, missing blocks and the room left on the disk. All of it stands
// where it stands whether a recording runs or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include "app/stage/live_session.h"
#include "ui/panels/panel.h"

namespace echolux {

// How much room a disk has, asked now and then on a thread of its own: a network's disk may take its time, and the
// picture does not wait for it.
class FreeSpace {
  public:
    // Bytes of what goes in equal parts to the disks of these folders, as of a second or two ago; nothing: not known
    // (yet).
    std::optional<std::int64_t> bytes(const std::vector<std::filesystem::path>& folders, double now_s);

  private:
    std::vector<std::filesystem::path> folders_;
    std::optional<std::int64_t> known_;
    std::future<std::optional<std::int64_t>> asked_;
    double asked_at_s_ = -1e9;
};

class RecordingRow {
  public:
    void draw(const PanelContext& context, const LiveSession& live);

  private:
    void draw_written(const PanelContext& context, const std::optional<RecorderStats>& stats);
    void draw_room(const PanelContext& context, double bytes_per_s);

    FreeSpace free_space_;
    std::optional<double> begun_s_;  // nothing: no recording runs
};

}  // namespace echolux
