#include "window_run.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "app/viewer/view_source.h"
#include "compute/indexing.h"
#include "engine/io/volume_file.h"
#include "tests/support/validation.h"

namespace echolux::test {

void WindowRun::open_window(std::int64_t width, std::int64_t height, double scale) {
    options_.device.validation = validates();
    options_.device.on_message = [](const std::string& text) { ADD_FAILURE() << "validation layer: " << text; };
    options_.backend.backend = Backend::cpu;
    native_ = open_offscreen_window(width, height, scale);
    native_->keep_time_by_hand(picture_s_);
    if (!draws_each_picture_) native_->draw_when_read();
    options_.assignments.push_back("window.record_folder=" + folder_.path().string());
    options_.assignments.push_back("view.rest_samples=3");  // come to rest soon
    work_ = std::make_unique<Workspace>(options_);
    window_ = std::make_unique<MainWindow>(*native_, *work_);
    turns(3);
}

void WindowRun::TearDown() {
    if (work_ != nullptr) work_->jobs().cancel_all();
    window_.reset();
    work_.reset();
}

double WindowRun::picture_s() {
    const char* rate = std::getenv("ECHOLUX_PICTURES_PER_S");
    return 1 / (rate == nullptr ? 60 : std::atof(rate));
}

bool WindowRun::turn_until(const std::function<bool()>& is_so, int most, const std::source_location& from) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds longest{120};
    const Clock::time_point end = Clock::now() + longest;
    for (int i = 0; i < most; ++i) {
        if (is_so()) return true;
        if (!window_->turn(0.02)) return is_so();
        if (Clock::now() < end) continue;
        ADD_FAILURE() << "waited " << longest.count() << " s for what line " << from.line() << " of "
                      << std::filesystem::path(from.file_name()).filename().string() << " asks\n"
                      << what_goes_on();
        return false;
    }
    return is_so();
}

std::string WindowRun::what_goes_on() {
    std::string text;
    for (const JobState& job : work_->jobs().states()) text += "job: " + job.title + " " + job.task + "\n";
    for (const Notice& notice : work_->notices().all()) {
        if (notice.stands) text += "notice: " + notice.place + ": " + notice.line + "\n";
    }
    const WindowStats stats = window_->stats();
    return text + std::to_string(stats.turns) + " turns, " + std::to_string(stats.shown) + " pictures" +
           (stats.is_at_rest ? ", at rest" : "") + (work_->is_busy() ? ", busy" : "");
}

void WindowRun::turns(int count) {
    for (int i = 0; i < count; ++i) window_->turn(0.002);
}

bool WindowRun::settle(const std::source_location& from) {
    turns(3);  // start the work that was just requested
    const auto rests = [this] { return work_->jobs().is_idle() && window_->stats().is_at_rest; };
    return turn_until(rests, any_number, from);
}

// Sends all events at these times from now, faster than the frame rate.
void WindowRun::hands(const std::vector<std::pair<double, WindowEvent>>& events) {
    const double now_s = native_->now_s();
    for (const auto& [after_s, event] : events) native_->push(TimestampedEvent{event, now_s + after_s});
    turns(3);
}

void WindowRun::move(Pixel at) {
    native_->push(PointerMoved{at.x, at.y});
    turns(2);
}

void WindowRun::click(Pixel at, int button) {
    if (is_slow()) {
        return hands(
            {{0, PointerMoved{at.x, at.y}}, {0.03, PointerButton{button, true}}, {0.1, PointerButton{button, false}}});
    }
    move(at);
    native_->push(PointerButton{button, true});
    turns(2);
    native_->push(PointerButton{button, false});
    turns(3);
}

void WindowRun::double_click(Pixel at) {
    if (is_slow()) {
        return hands({{0, PointerMoved{at.x, at.y}},
                      {0.03, PointerButton{0, true}},
                      {0.1, PointerButton{0, false}},
                      {0.2, PointerButton{0, true}},
                      {0.27, PointerButton{0, false}}});
    }
    move(at);
    for (const bool down : {true, false, true, false}) native_->push(PointerButton{0, down});
    turns(8);
}

void WindowRun::drag(Pixel from, Pixel to, int button) {
    constexpr int steps = 4;
    const auto way = [&](int i) {
        return Pixel{from.x + (to.x - from.x) * i / steps, from.y + (to.y - from.y) * i / steps};
    };
    if (is_slow()) {
        std::vector<std::pair<double, WindowEvent>> events{{0, PointerMoved{from.x, from.y}},
                                                           {0.03, PointerButton{button, true}}};
        for (int i = 1; i <= steps; ++i) events.emplace_back(0.03 * (i + 1), PointerMoved{way(i).x, way(i).y});
        events.emplace_back(0.2, PointerButton{button, false});
        return hands(events);
    }
    move(from);
    native_->push(PointerButton{button, true});
    turns(2);
    for (int i = 1; i <= steps; ++i) move(way(i));
    native_->push(PointerButton{button, false});
    turns(3);
}

void WindowRun::scroll(Pixel at, double notches) {
    move(at);
    native_->push(Scrolled{0, notches});
    turns(3);
}

void WindowRun::press(const std::string& chord) {
    std::vector<std::string> keys(1);
    for (std::size_t i = 0; i < chord.size(); ++i) {
        if (chord[i] == '+' && !keys.back().empty() && i + 1 < chord.size())
            keys.emplace_back();
        else
            keys.back() += chord[i];
    }
    for (const std::string& key : keys) native_->push(KeyPressed{key, true, false});
    if (chord.size() == 1) native_->push(TextTyped{static_cast<std::uint32_t>(chord[0])});
    turns(2);
    for (const std::string& key : keys) native_->push(KeyPressed{key, false, false});
    turns(3);
}

void WindowRun::type(const std::string& text) {
    for (const char letter : text) native_->push(TextTyped{static_cast<std::uint32_t>(letter)});
    turns(3);
}

Pixel WindowRun::middle_of(const std::string& control) {
    const auto place = window_->place_of(control);
    if (!place) {
        ADD_FAILURE() << "there is no control " << control;
        return {0, 0};
    }
    return {0.5 * static_cast<double>((*place)[0] + (*place)[2]), 0.5 * static_cast<double>((*place)[1] + (*place)[3])};
}

Region WindowRun::part(PaneKind pane) {
    const auto place = window_->place_of(pane);
    if (!place) ADD_FAILURE() << "there is no such pane";
    return place.value_or(Region{});
}

Pixel WindowRun::middle_of(PaneKind pane) {
    const Region place = part(pane);
    return {static_cast<double>(place.left) + 0.5 * static_cast<double>(place.width),
            static_cast<double>(place.top) + 0.5 * static_cast<double>(place.height)};
}

double WindowRun::difference(const Image& a, const Image& b, const Region& part) {
    EXPECT_EQ(a.width, b.width);
    double sum = 0;
    for (std::int64_t y = part.top; y < part.top + part.height; ++y) {
        for (std::int64_t x = part.left; x < part.left + part.width; ++x) {
            for (std::int64_t channel = 0; channel < 3; ++channel) {
                const auto at = index(4 * (y * a.width + x) + channel);
                sum += std::abs(static_cast<double>(a.pixels[at]) - static_cast<double>(b.pixels[at]));
            }
        }
    }
    return sum / static_cast<double>(3 * part.width * part.height);
}

bool WindowRun::open_simulator(const std::string& scene) {
    work_->open_source({.name = scene,
                        .assignments = {"simulation.samples=128", "simulation.a_scans=24", "simulation.b_scans=12",
                                        "simulation.line_rate_hz=20000"}});
    return turn_until([this] {
        const LiveController* live = work_->viewer().is_open() ? work_->viewer().live() : nullptr;
        return live != nullptr && live->is_running();
    });
}

std::filesystem::path WindowRun::write_ball(const std::string& name, double radius) {
    Volume volume;
    volume.grid.depth = 24;
    volume.grid.a_scans = 40;
    volume.grid.b_scans = 32;
    volume.grid.type = VoxelType::u16;
    volume.grid.spacing_um = {10, 10, 10};
    volume.grid.unit = "counts";
    for (std::int64_t b = 0; b < 32; ++b) {
        for (std::int64_t a = 0; a < 40; ++a) {
            for (std::int64_t z = 0; z < 24; ++z) {
                const double r = std::hypot(static_cast<double>(z) - 11.5, static_cast<double>(a) - 19.5,
                                            static_cast<double>(b) - 15.5);
                const double value =
                    std::max(0.0, 1 - r / (radius * 32)) * 1000 + static_cast<double>((7 * z + 13 * a + 29 * b) % 17);
                const auto code = static_cast<std::uint16_t>(value);
                std::byte bytes[2];
                std::memcpy(bytes, &code, 2);
                volume.voxels.insert(volume.voxels.end(), bytes, bytes + 2);
            }
        }
    }
    const std::filesystem::path path = folder_ / name;
    write_volume(path, volume);
    return path;
}

}  // namespace echolux::test
