// Compares the window with reference pictures that a person has checked, to find controls that moved, are cut off or
// are missing. The references are gray pictures reduced to a quarter. Rendered panes are left out, and so is the status
// line because it names the device. ECHOLUX_RENEW_LOOKS=1 writes new references; ECHOLUX_PICTURES=FOLDER writes the
// pictures for inspection.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/open/show_opened.h"
#include "compute/indexing.h"
#include "engine/io/png_file.h"
#include "run_operation.h"
#include "window_run.h"

namespace echolux::test {
namespace {

constexpr std::int64_t reduction = 4;  // pixels at scale 1
constexpr int unlike = 48;             // gray levels
constexpr double max_unlike = 0.0015;  // share of the compared pixels
constexpr std::uint8_t masked = 0;     // value of pixels that are not compared

struct Size {
    std::int64_t width = 1280, height = 800;
    double scale = 1;
};

// Averages blocks of `by` x `by` pixels.
Picture reduced(const Image& image, std::int64_t by) {
    Picture small{image.width / by, image.height / by, 1, {}, {}};
    for (std::int64_t y = 0; y < small.height; ++y) {
        for (std::int64_t x = 0; x < small.width; ++x) {
            int sum = 0;
            for (std::int64_t i = 0; i < by * by; ++i) {
                const auto* pixel = image.pixels.data() + 4 * ((y * by + i / by) * image.width + x * by + i % by);
                sum += (pixel[0] + 2 * pixel[1] + pixel[2]) / 4;
            }
            small.pixels.push_back(static_cast<std::uint8_t>(std::max<std::int64_t>(1, sum / (by * by))));
        }
    }
    return small;
}

void leave_out(Picture& picture, const Region& part, std::int64_t by) {
    for (std::int64_t y = part.top / by; y < std::min(picture.height, (part.top + part.height + by - 1) / by); ++y) {
        for (std::int64_t x = part.left / by; x < std::min(picture.width, (part.left + part.width + by - 1) / by); ++x)
            picture.pixels[index(y * picture.width + x)] = masked;
    }
}

// Returns the share of compared pixels that differ; 1 if the sizes differ.
double share_unlike(const Picture& a, const Picture& b) {
    if (a.width != b.width || a.height != b.height) return 1;
    std::int64_t counted = 0, unlike_ones = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) {
        const bool counts_in_a = a.pixels[i] != masked, counts_in_b = b.pixels[i] != masked;
        if (!counts_in_a && !counts_in_b) continue;
        ++counted;
        if (counts_in_a != counts_in_b || std::abs(a.pixels[i] - b.pixels[i]) > unlike) ++unlike_ones;
    }
    return static_cast<double>(unlike_ones) / static_cast<double>(std::max<std::int64_t>(counted, 1));
}

class WindowPictures : public WindowRun {
  protected:
    void open(const Size& size, const std::string& panels) {
        size_ = size;
        options_.assignments = {"window.open_panels=" + panels, "view.mode=mip", "view.step=2"};
        open_window(size.width, size.height, size.scale);
        ASSERT_TRUE(work().change("view.rest_samples", std::int64_t{1}));
    }
    void open_file(const std::filesystem::path& path) {
        work().open(path);
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }));
        ASSERT_TRUE(turn_until([this] { return work().viewer().view_source()->histogram().has_value(); }));
    }
    std::filesystem::path scan() {
        run_operation("simulate",
                      {"scene=layers", "simulation.samples=256", "simulation.a_scans=32", "simulation.b_scans=24",
                       "simulation.volumes=3", "output=" + (folder() / "scan.toml").string()});
        return folder() / "scan.toml";
    }

    // Compares the window at rest with the reference picture.
    void compare(const std::string& name) {
        move({1, static_cast<double>(size_.height) / 2});
        ASSERT_TRUE(settle());
        const Image image = picture();
        const auto by = static_cast<std::int64_t>(std::lround(reduction * size_.scale));
        Picture now = reduced(image, by);
        for (const PaneKind pane : {PaneKind::volume, PaneKind::b_scan, PaneKind::en_face, PaneKind::side}) {
            if (const auto place = window().place_of(pane)) leave_out(now, *place, by);
        }
        const auto line = static_cast<std::int64_t>(30 * size_.scale);
        leave_out(now, {0, size_.height - line, size_.width, line}, by);
        if (const char* folder = std::getenv("ECHOLUX_PICTURES"))
            write_png(std::filesystem::path(folder) / ("looks-" + name + ".png"), picture_of(image));
        const std::filesystem::path kept = std::filesystem::path(ECHOLUX_LOOKS) / (name + ".png");
        if (std::getenv("ECHOLUX_RENEW_LOOKS") != nullptr) return write_png(kept, now);
        const Picture before = read_png(kept);
        EXPECT_LT(share_unlike(before, now), max_unlike)
            << name << " looks different: ECHOLUX_PICTURES=FOLDER shows how; if it is right so, ECHOLUX_RENEW_LOOKS=1";
        Picture moved = now;
        std::ranges::rotate(moved.pixels, moved.pixels.begin() + 1);
        EXPECT_GT(share_unlike(before, moved), max_unlike) << "nobody would see that it moved by four pixels";
    }

    Size size_;
};

TEST_F(WindowPictures, StartPage) {
    open({}, "source");
    compare("start-1280");
}

TEST_F(WindowPictures, WholeWindow) {
    open({}, "source,view,transfer");
    open_file(write_ball("ball.nii"));
    compare("whole-1280");
}

TEST_F(WindowPictures, SlowWholeWindowOnLargeScreens) {
    for (const Size& size : {Size{1920, 1080, 1}, Size{3840, 2160, 2}}) {
        open(size, "source,view,transfer");
        open_file(write_ball("ball.nii"));
        compare("whole-" + std::to_string(size.width));
        TearDown();
    }
}

TEST_F(WindowPictures, PanelsOfVolume) {
    open({}, "");
    open_file(write_ball("ball.nii"));
    for (const std::string panel : {"source", "view", "transfer", "measure", "export"}) {
        ASSERT_TRUE(work().change("window.open_panels", panel));
        compare("panel-" + panel);
    }
}

TEST_F(WindowPictures, PanelsOfAScan) {
    open({}, "");
    open_file(scan());
    for (const std::string panel : {"processing", "time"}) {
        ASSERT_TRUE(work().change("window.open_panels", panel));
        compare("panel-" + panel);
    }
}

}  // namespace
}  // namespace echolux::test
