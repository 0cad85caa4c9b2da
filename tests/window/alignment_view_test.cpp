// The alignment view in the window: its controls work, and all of them are visible at common window sizes.
#include "app/open/show_opened.h"
#include "app/viewer/view_source.h"
#include "engine/io/png_file.h"
#include "ui/workspace/calibrating.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class AlignmentViewTest : public WindowRun {
  protected:
    void open_mirror() {
        SourceRequest wanted;
        wanted.name = "sim:mirror";
        wanted.assignments = {"simulation.samples=1024", "simulation.a_scans=64", "simulation.b_scans=4",
                              "simulation.a2_rad=12"};
        work().open_source(wanted);
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
        ASSERT_TRUE(work().change("window.layout", std::string("alignment")));
        ASSERT_TRUE(turn_until([this] { return calibrating().watch().moments().size() > 5; }));
        turns(3);
    }
    Calibrating& calibrating() { return work().calibrating(); }
    std::array<float, 4> place(const std::string& name) {
        const auto found = window().place_of(name);
        if (!found) ADD_FAILURE() << name << " is not there";
        return found.value_or(std::array<float, 4>{});
    }
    // Writes a picture for visual inspection if ECHOLUX_PICTURES names a folder.
    void keep_picture(const std::string& name) {
        const char* pictures = std::getenv("ECHOLUX_PICTURES");
        if (pictures == nullptr) return;
        write_png(std::filesystem::path(pictures) / (name + ".png"), picture_of(picture()));
    }
};

const std::array plots{"plot.Spectrum", "plot.Fringe on the k grid", "plot.A-scan", "plot.Peak over time"};
const std::array controls{"alignment.hold", "alignment.freeze", "calibrate.take_dark", "calibrate.take_background"};

TEST_F(AlignmentViewTest, SlowShowsEverythingAtManySizes) {
    struct Size {
        std::int64_t width, height;
        double scale;
    };
    for (const Size size : {Size{1280, 800, 1}, Size{1024, 700, 1}, Size{1920, 1080, 1}, Size{3840, 2160, 2}}) {
        open_window(size.width, size.height, size.scale);
        open_mirror();
        for (const char* name : plots) {
            const auto [left, top, right, bottom] = place(name);
            EXPECT_GT(right - left, 60 * size.scale) << name << " at " << size.width;
            EXPECT_GT(bottom - top, 50 * size.scale) << name << " at " << size.width;
            EXPECT_LE(static_cast<double>(right), static_cast<double>(size.width));
            EXPECT_LE(static_cast<double>(bottom), static_cast<double>(size.height));
        }
        const bool has_room = static_cast<double>(size.width) / size.scale >= 1900;  // otherwise some need scrolling
        for (const char* name : has_room ? std::span<const char* const>(controls) : std::span<const char* const>()) {
            place(name);
        }
        keep_picture("alignment-" + std::to_string(size.width));
        TearDown();
    }
}

TEST_F(AlignmentViewTest, PeaksAreHeldAndAScansFrozen) {
    open_window();
    open_mirror();
    EXPECT_TRUE(calibrating().watch().newest()->stats.has_peak);
    click(middle_of("alignment.hold"));
    EXPECT_TRUE(calibrating().watch().holds_peaks());
    click(middle_of("alignment.freeze"));
    ASSERT_TRUE(calibrating().watch().frozen().has_value());
    turns(10);
    keep_picture("alignment-frozen");
    click(middle_of("alignment.thaw"));
    EXPECT_FALSE(calibrating().watch().frozen().has_value());
    click(middle_of("alignment.hold"));
    EXPECT_FALSE(calibrating().watch().holds_peaks());
}

TEST_F(AlignmentViewTest, WheelZoomsPlot) {
    open_window();
    open_mirror();
    click(middle_of("alignment.still"));
    work().viewer().view_source()->live()->stop();
    ASSERT_TRUE(settle());
    const auto [left, top, right, bottom] = place("plot.Spectrum");
    const Region part{static_cast<std::int64_t>(left), static_cast<std::int64_t>(top),
                      static_cast<std::int64_t>(right - left), static_cast<std::int64_t>(bottom - top)};
    const Pixel middle = middle_of("plot.Spectrum");
    move({5, 5});
    turns(5);
    const Image before = picture();
    scroll(middle, 4);
    move({5, 5});
    turns(5);
    EXPECT_GT(difference(before, picture(), part), 0.3);
    double_click(middle);
    move({5, 5});
    turns(5);
    EXPECT_LT(difference(before, picture(), part), 0.05) << "a double click shows all of it again";
}

TEST_F(AlignmentViewTest, ButtonTakesBackground) {
    open_window();
    open_mirror();
    click(middle_of("calibrate.take_background"));
    EXPECT_TRUE(turn_until([this] { return calibrating().measured(Spectrum::background) != nullptr; }));
    EXPECT_TRUE(turn_until(
        [this] { return !std::get<std::string>(work().settings().field("calibration.background")->get()).empty(); }));
    keep_picture("alignment-taken");
}

}  // namespace
}  // namespace echolux::test
