// A window without a screen and simulated input, for tests: clicks, drags, keys, and turns of the loop until a
// condition is met. The window's time advances with its pictures instead of the machine's clock, so that load does not
// change the results. With ECHOLUX_PICTURES_PER_S=2 it draws only two pictures per second, so that whole clicks, double
// clicks and drags happen between two pictures. Validation messages fail the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "own_home.h"
#include "temporary_folder.h"
#include "ui/window/window.h"

namespace echolux::test {

struct Pixel {
    double x, y;
};

class WindowRun : public testing::Test {
  protected:
    // Opens the window, by default 1280 x 800 at scale 1.
    void open_window(std::int64_t width = 1280, std::int64_t height = 800, double scale = 1);
    void TearDown() override;

    OffscreenWindow& native() { return *native_; }
    Workspace& work() { return *work_; }
    MainWindow& window() { return *window_; }
    const TemporaryFolder& folder() const { return folder_; }

    // Turns the loop until `is_so()` returns true, and returns whether it did. Idle turns wait briefly. Stops after
    // `most` turns. A timeout of two minutes fails the test and reports the condition and the state of the window.
    static constexpr int any_number = std::numeric_limits<int>::max();
    bool turn_until(const std::function<bool()>& is_so, int most = any_number,
                    const std::source_location& from = std::source_location::current());
    void turns(int count);
    // Turns until all pictures are refined and no job is running.
    bool settle(const std::source_location& from = std::source_location::current());

    void move(Pixel at);
    void click(Pixel at, int button = 0);
    void double_click(Pixel at);
    void drag(Pixel from, Pixel to, int button = 0);
    void scroll(Pixel at, double notches);
    void press(const std::string& chord);  // "Ctrl+K", "?"
    void type(const std::string& text);

    Pixel middle_of(const std::string& control);  // it must exist
    Pixel middle_of(PaneKind pane);

    // The whole window, or a part of it. Differences are computed from the three bytes of each pixel.
    Image picture() { return window_->picture(); }
    static double difference(const Image& a, const Image& b, const Region& part);
    Region part(PaneKind pane);

    // Opens a small simulated scene, and returns whether it runs.
    bool open_simulator(const std::string& scene = "sim:vessel");

    // Writes a ball that grows with the time point to a volume file.
    std::filesystem::path write_ball(const std::string& name, double radius = 0.35);

    bool draws_each_picture_ = false;  // for tests of drawing itself, and of lost devices
    TemporaryFolder folder_;
    OwnHome home_{folder_ / "home"};
    WorkspaceOptions options_;

  private:
    void hands(const std::vector<std::pair<double, WindowEvent>>& events);
    std::string what_goes_on();

    const double picture_s_ = picture_s();
    static double picture_s();
    bool is_slow() const { return picture_s_ > 0.1; }

    std::unique_ptr<OffscreenWindow> native_;
    std::unique_ptr<Workspace> work_;
    std::unique_ptr<MainWindow> window_;
};

}  // namespace echolux::test
