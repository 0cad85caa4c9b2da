// A window without a screen and hands that work in it, for tests: clicks, drags, keys, and turns of the loop until
// something is so. The window's time passes by its pictures, not by the clock of the machine, so that a loaded machine
// changes nothing. ECHOLUX_PICTURES_PER_S=2 makes it one that draws two pictures a second: hands are quicker than that
// then, and whole clicks, double clicks and drags come between two pictures. Validation messages fail the test.
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
    // The window, 1280 x 800 at scale 1 unless said otherwise.
    void open_window(std::int64_t width = 1280, std::int64_t height = 800, double scale = 1);
    void TearDown() override;

    OffscreenWindow& native() { return *native_; }
    Workspace& work() { return *work_; }
    MainWindow& window() { return *window_; }
    const TemporaryFolder& folder() const { return folder_; }

    // Turns, each of which waits a little where nothing is to be done; whether it came to be so. Ends after so many, or
    // after two minutes, which fails the test and says what was waited for and what went on.
    static constexpr int any_number = std::numeric_limits<int>::max();
    bool turn_until(const std::function<bool()>& is_so, int most = any_number,
                    const std::source_location& from = std::source_location::current());
    void turns(int count);
    // All pictures are as good as they become, nothing is under way.
    bool settle(const std::source_location& from = std::source_location::current());

    void move(Pixel at);
    void click(Pixel at, int button = 0);
    void double_click(Pixel at);
    void drag(Pixel from, Pixel to, int button = 0);
    void scroll(Pixel at, double notches);
    void press(const std::string& chord);  // "Ctrl+K", "?"
    void type(const std::string& text);

    Pixel middle_of(const std::string& control);  // that must be there
    Pixel middle_of(PaneKind pane);

    // Of all of the window, or a part; three bytes a pixel count.
    Image picture() { return window_->picture(); }
    static double difference(const Image& a, const Image& b, const Region& part);
    Region part(PaneKind pane);

    // A ball that grows with the time point, in a volume file of its own.
    std::filesystem::path write_ball(const std::string& name, double radius = 0.35);

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
