// Draws what a live system reconstructs, on a thread of its own: at most so many pictures a second, none when nothing
// changed, at most one under way. What is measured here is what somebody at a screen would see.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/live/volume_path.h"
#include "engine/live/latency.h"
#include "render/view/view.h"

namespace echolux {

struct PictureStats {
    std::int64_t pictures = 0;
    std::int64_t volumes = 0;       // that some finished picture showed whole
    std::int64_t out_of_order = 0;  // pictures that showed an older volume than the one before
    double pictures_per_s = 0;      // in the mean, while something changed
    Latency drawing;                // of a picture, from its submission to its end
};

class PictureLoop {
  public:
    // `shown` hears of each volume that a finished picture shows whole, on the loop's thread.
    PictureLoop(VolumePath& path, View view, double max_per_s, std::function<void(std::int64_t volume)> shown);
    ~PictureLoop();

    void set_view(const View& view);

    PictureStats stats() const;

    // What ended the loop before its time.
    std::optional<std::string> problem() const;

    // Ends the loop. The last picture is of the newest volume.
    void stop();

  private:
    using Clock = std::chrono::steady_clock;

    void work(const std::stop_token& stop);
    bool draws_anew();
    void draw(const std::stop_token& stop);
    void note(const VolumePicture& picture, double seconds);

    VolumePath& path_;
    std::chrono::nanoseconds interval_;
    std::function<void(std::int64_t)> shown_;

    mutable std::mutex mutex_;  // of what follows
    View view_;
    bool view_changed_ = true;
    PictureStats stats_;
    std::optional<std::string> problem_;
    double busy_s_ = 0;

    std::uint64_t news_ = 0;  // of the path, at the last picture
    std::int64_t last_volume_ = -1;
    std::jthread thread_;
};

}  // namespace echolux
