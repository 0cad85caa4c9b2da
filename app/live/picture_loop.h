// Draws the volumes of a live system on its own thread: a limited number of pictures per second, none if nothing
// changed, and only one in flight. The measured figures are what a user at a screen would see.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/live/live_report.h"
#include "app/live/volume_pictures.h"
#include "render/view/view.h"

namespace echolux {

class PictureLoop {
  public:
    // `shown` is called on the loop's thread for each volume that a finished picture shows completely.
    PictureLoop(VolumePictures& path, View view, double max_per_s, std::function<void(std::int64_t volume)> shown);
    ~PictureLoop();

    void set_view(const View& view);

    PictureStats stats() const;

    // Returns the error that ended the loop early.
    std::optional<std::string> problem() const;

    // Ends the loop. The last picture shows the newest volume.
    void stop();

  private:
    using Clock = std::chrono::steady_clock;

    void work(const std::stop_token& stop);
    bool draws_anew();
    void draw(const std::stop_token& stop);
    void note(const VolumePicture& picture, double seconds);

    VolumePictures& path_;
    std::chrono::nanoseconds interval_;
    std::function<void(std::int64_t)> shown_;

    mutable std::mutex mutex_;  // guards the members below
    View view_;
    bool view_changed_ = true;
    PictureStats stats_;
    std::optional<std::string> problem_;
    double busy_s_ = 0;

    std::uint64_t news_ = 0;  // news of the path at the last picture
    std::int64_t last_volume_ = -1;
    std::jthread thread_;
};

}  // namespace echolux
