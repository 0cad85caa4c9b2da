// Recording controls: the button, its folder, size, missing blocks and free disk space. The layout is the same with and
// without a recording.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <optional>
#include <vector>

#include "app/stage/live_session.h"
#include "ui/panels/panel.h"

namespace echolux {

// Free disk space, queried every 2 s on another thread, because network disks may be slow.
class FreeSpace {
  public:
    // Returns the bytes that can be written in equal parts to these folders, up to a few seconds old. Returns nullopt
    // if unknown.
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
    std::optional<double> begun_s_;  // nullopt without a recording
};

}  // namespace echolux
