#include "app/live/picture_loop.h"

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "app/seconds_since.h"

namespace echolux {
namespace {

constexpr std::chrono::microseconds look_again{200};  // poll interval for a picture in flight

}  // namespace

PictureLoop::PictureLoop(VolumePictures& path, View view, double max_per_s, std::function<void(std::int64_t)> shown)
    : path_(path), interval_(static_cast<std::int64_t>(1e9 / std::max(max_per_s, 1e-3))), shown_(std::move(shown)),
      view_(std::move(view)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

PictureLoop::~PictureLoop() {
    stop();
}

void PictureLoop::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void PictureLoop::set_view(const View& view) {
    const std::scoped_lock lock(mutex_);
    view_ = view;
    view_changed_ = true;
}

PictureStats PictureLoop::stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
}

std::optional<std::string> PictureLoop::problem() const {
    const std::scoped_lock lock(mutex_);
    return problem_;
}

// Draws at fixed times like a display: a slow picture skips the times it misses.
void PictureLoop::work(const std::stop_token& stop) try {
    std::mutex sleeping;
    std::condition_variable_any woken;
    auto beat = Clock::now();
    while (!stop.stop_requested()) {
        if (draws_anew()) draw(stop);
        const auto now = Clock::now();
        beat += interval_ * ((now - beat) / interval_ + 1);
        std::unique_lock lock(sleeping);
        woken.wait_until(lock, stop, beat, [] { return false; });
    }
    if (draws_anew()) draw({});
} catch (const std::exception& error) {
    const std::scoped_lock lock(mutex_);
    problem_ = error.what();
}

bool PictureLoop::draws_anew() {
    const std::uint64_t news = path_.news();
    const std::scoped_lock lock(mutex_);
    return std::exchange(view_changed_, false) | (std::exchange(news_, news) != news);
}

void PictureLoop::draw(const std::stop_token& stop) {
    View view;
    {
        const std::scoped_lock lock(mutex_);
        view = view_;
    }
    const auto begun = Clock::now();
    const std::optional<VolumePicture> picture = path_.picture(view);
    if (!picture) return;
    while (!path_.is_finished(*picture) && !stop.stop_requested()) std::this_thread::sleep_for(look_again);
    path_.wait(*picture);
    note(*picture, seconds_since(begun));
}

void PictureLoop::note(const VolumePicture& picture, double seconds) {
    {
        const std::scoped_lock lock(mutex_);
        ++stats_.pictures;
        stats_.drawing.add(seconds);
        busy_s_ += std::max(seconds, std::chrono::duration<double>(interval_).count());
        stats_.pictures_per_s = static_cast<double>(stats_.pictures) / busy_s_;
        if (picture.stamp.volume < last_volume_) ++stats_.out_of_order;
        if (picture.is_whole && picture.stamp.volume != last_volume_) ++stats_.volumes;
        if (picture.is_whole) last_volume_ = picture.stamp.volume;
    }
    if (picture.is_whole) shown_(picture.stamp.volume);
}

}  // namespace echolux
