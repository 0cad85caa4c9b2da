#include "bench/noise.h"

#include <chrono>
#include <cmath>
#include <thread>

namespace echolux {

RestedPicture rested_picture(Renderer& renderer, const View& view, double seconds, const std::function<void()>& poll) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto now_s = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    RestedPicture seen;
    for (double now = 0; now < seconds; now = now_s()) {
        poll();
        const FollowedPicture shown = renderer.follow(view, now);
        if (shown.passes == seen.paths && !shown.is_final) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));  // yield: the CPU may be rendering
            continue;
        }
        Image image = renderer.read(shown.drawing);
        const double read = now_s();
        if (read > seconds && seen.paths > 0) break;
        seen = {std::move(image), shown.passes, read};
        if (shown.is_final) break;
    }
    return seen;
}

double rms_apart(const Image& a, const Image& b) {
    double squares = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) {
        if (i % 4 != 3) squares += std::pow(int{a.pixels[i]} - int{b.pixels[i]}, 2);
    }
    return std::sqrt(squares / (0.75 * static_cast<double>(a.pixels.size())));
}

double psnr_db(const Image& image, const Image& right) {
    return 20 * std::log10(255 / rms_apart(image, right));
}

}  // namespace echolux
