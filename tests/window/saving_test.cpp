// Saving in the window: a dialog that remembers folder and extension, no files in the working directory of the shell,
// and a way to find the saved file.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>

#include "app/movie/movie_plan.h"
#include "app/viewer/view_source.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/recordings.h"
#include "window_run.h"

namespace echolux::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
}

class Saving : public WindowRun {
  protected:
    void open_ball() {
        open_window();
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
        work().change_together("view", {{"view.width", std::int64_t{40}}, {"view.height", std::int64_t{30}}});
        ASSERT_TRUE(settle());
    }
    void save_picture_as(const std::string& typed) {
        press("Ctrl+Shift+P");
        ASSERT_TRUE(turn_until([this] { return window().place_of("files.typed") && work().jobs().is_idle(); }));
        turns(4);
        type(typed);
        press("Enter");
    }
    bool has_come(const fs::path& path) {
        return turn_until([&] { return fs::exists(path) && !work().is_busy(); });
    }
    void open_live() {
        open_window();
        ASSERT_TRUE(open_simulator());
    }
    void record() {
        work().recordings().start();
        EXPECT_EQ(work().jobs().states().back().title, "starting the recording") << "a slow disk is no slow picture";
        ASSERT_TRUE(turn_until([this] {
            const auto written = work().viewer().live()->stats().recorder;
            return written && written->blocks > 20;
        }));
        work().recordings().stop();
        ASSERT_TRUE(turn_until([this] { return !work().viewer().live()->is_recording() && work().jobs().is_idle(); }));
    }
};

TEST_F(Saving, SelectsNameAndKeepsExtensionAndFolder) {
    open_ball();
    save_picture_as((folder() / "kept").string());
    EXPECT_TRUE(has_come(folder() / "kept.png")) << "the ending of the name that was proposed";
    save_picture_as("second");
    EXPECT_TRUE(has_come(folder() / "second.png")) << "in the folder of the last one";
    const auto before = fs::last_write_time(folder() / "kept.png");
    save_picture_as("kept");
    EXPECT_TRUE(window().place_of("files.typed").has_value()) << "it asks before it replaces";
    EXPECT_EQ(fs::last_write_time(folder() / "kept.png"), before);
    press("Esc");
}

TEST_F(Saving, AvoidsFolderOfShell) {
    const fs::path home = folder() / "home";
    for (const char* name : {"Pictures", "Filme", "config"}) fs::create_directories(home / name);
    std::ofstream(home / "config" / "user-dirs.dirs") << "XDG_VIDEOS_DIR=\"$HOME/Filme\"\n";
    const std::string old_home = std::getenv("HOME") == nullptr ? "/" : std::getenv("HOME");
    setenv("HOME", home.c_str(), 1);
    setenv("XDG_CONFIG_HOME", (home / "config").c_str(), 1);
    const auto here = names_in(fs::current_path());
    open_live();
    setenv("HOME", old_home.c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
    work().change("window.record_folder", std::string());
    EXPECT_EQ(work().keeping_folder(UserFolder::pictures), home / "Pictures");
    EXPECT_EQ(work().keeping_folder(UserFolder::videos), home / "Filme") << "as the desktop calls it";
    EXPECT_EQ(work().keeping_folder(UserFolder::documents), home) << "there is no folder of documents";
    work().change_together("view", {{"view.width", std::int64_t{40}}, {"view.height", std::int64_t{30}}});
    ASSERT_TRUE(turn_until([this] { return work().viewer().view_source()->grid().has_value(); }));
    press("F12");
    ASSERT_TRUE(turn_until([&] { return names_in(home / "Pictures").size() == 1 && !work().is_busy(); }));
    record();
    EXPECT_EQ(names_in(home / "Filme").size(), 1u) << "a folder for the recording";
    EXPECT_EQ(names_in(fs::current_path()), here);
}

// The first Ctrl+S must not write a file to a place that the user has not seen.
TEST_F(Saving, SessionAsksForItsNameOnce) {
    open_ball();
    const auto before = names_in(folder().path());
    press("Ctrl+S");
    ASSERT_TRUE(turn_until([this] { return window().place_of("files.typed") && work().jobs().is_idle(); }, 200));
    turns(4);
    EXPECT_EQ(names_in(folder().path()), before);
    press("Enter");
    ASSERT_TRUE(has_come(folder() / "session.toml"));
    const auto written = fs::last_write_time(folder() / "session.toml");
    press("Ctrl+S");
    ASSERT_TRUE(turn_until([&] { return fs::last_write_time(folder() / "session.toml") != written; }));
    EXPECT_FALSE(window().place_of("files.typed").has_value());
}

TEST_F(Saving, ClickOpensRecording) {
    open_live();
    record();
    turns(3);
    click(middle_of("notice.folder"));
    ASSERT_EQ(native().shown_outside().size(), 1U);
    EXPECT_EQ(native().shown_outside().front().parent_path(), folder().path()) << "each recording has its folder";
    click(middle_of("notice.open"));
    ASSERT_TRUE(turn_until([this] { return window().place_of("question.confirm").has_value(); }, 20));
    click(middle_of("question.confirm"));
    ASSERT_TRUE(
        turn_until([this] { return work().viewer().live() != nullptr && work().viewer().live()->is_recorded(); }));
}

TEST_F(Saving, ReportsPictureAtOnceAndShowsItOnDesktop) {
    open_ball();
    work().change("view.rest_samples", std::int64_t{200});
    press("F12");
    EXPECT_TRUE(work().notices().all().back().line.starts_with("rendering the image")) << "before it is there";
    ASSERT_TRUE(turn_until([this] { return work().notices().all().back().line.starts_with("saved"); }));
    const fs::path saved = work().notices().all().back().file.path;
    EXPECT_TRUE(fs::exists(saved));
    turns(3);
    click(middle_of("notice.open"));
    EXPECT_EQ(native().shown_outside(), std::vector<fs::path>{saved});
}

// One frame of this movie takes minutes without a GPU.
TEST_F(Saving, CancelledMovieEndsSoon) {
    open_ball();
    work().change_together("view", {{"view.width", std::int64_t{1600}},
                                    {"view.height", std::int64_t{1200}},
                                    {"view.rest_samples", std::int64_t{4096}}});
    work().exporting().make_movie(folder() / "m_%d.png", {.frames = 100});
    const auto is_drawing = [this] {
        const auto jobs = work().jobs().states();
        return !jobs.empty() && jobs.front().task == "movie" && jobs.front().seconds > 1;
    };
    ASSERT_TRUE(turn_until(is_drawing));
    const auto begun = std::chrono::steady_clock::now();
    work().jobs().cancel_all();
    ASSERT_TRUE(turn_until([this] { return work().jobs().is_idle(); }));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    EXPECT_TRUE(turn_until([this] { return work().notices().all().back().line.starts_with("movie cancelled"); }))
        << "the kept part is reported";
    std::printf("cancelled within %.2f s\n", took.count());
    EXPECT_LT(took.count(), 20);  // 2 s on an idle machine
}

// ---- opening --------------------------------------------------------------------------------------------------------

TEST_F(Saving, ReopenedRecordingShowsItsNotes) {
    open_live();
    work().change("window.record_folder", folder().path().string());
    work().change("window.record_note", std::string("after drops"));
    ASSERT_NO_FATAL_FAILURE(record());
    EXPECT_FALSE(window().place_of("recording.note").has_value()) << "a live source";
    const std::filesystem::path file = work().recordings().last()->file;
    work().stop_source();
    ASSERT_TRUE(turn_until([this] { return !work().viewer().live()->is_running(); }));
    work().close();
    work().open(file);
    ASSERT_TRUE(turn_until([this] { return window().place_of("recording.note").has_value(); }));
    EXPECT_TRUE(window().place_of("recording.missing").has_value());
}

class Opening : public Saving {};

TEST_F(Opening, SlowClickedCardShowsProgress) {
    open_window();
    click(middle_of("start.sim.retina"));
    ASSERT_TRUE(turn_until([this] { return work().opening("sim:retina") && work().opening("sim:retina")->total > 0; }));
    EXPECT_FALSE(work().opening("sim:layers").has_value());
    const std::uint64_t job = work().opening("sim:retina")->id;
    if (window().place_of("start.sim.retina")) click(middle_of("start.sim.retina"));
    const auto opening = work().opening("sim:retina");
    EXPECT_TRUE(!opening || opening->id == job) << "a second click starts no second job";
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    EXPECT_FALSE(work().opening("sim:retina").has_value());
}

TEST_F(Opening, FileHasItsPanelsAfterAlignmentView) {
    open_live();
    work().change("window.layout", std::string("alignment"));
    ASSERT_TRUE(turn_until([this] { return window().place_of("alignment.hold").has_value(); }));
    EXPECT_FALSE(window().place_of("panel.view").has_value());
    work().open(write_ball("ball.nrrd"), {}, Replacing::at_once);
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().live() == nullptr; }));
    turns(5);
    EXPECT_TRUE(window().place_of("panel.view").has_value());
    EXPECT_TRUE(window().place_of(PaneKind::volume).has_value());
}

TEST_F(Opening, RecordingRestoresItsLook) {
    open_live();
    work().change_together("view",
                           {{"view.mode", std::string("mip")}, {"view.azimuth_deg", 77.0}, {"view.high", 31.0}});
    record();
    const std::filesystem::path recording = work().notices().all().back().file.path;
    ASSERT_FALSE(recording.empty());
    work().close(Replacing::at_once);
    work().change_together("view", {{"view.mode", std::string("composite")}, {"view.azimuth_deg", 5.0}});
    work().open(recording);
    ASSERT_TRUE(
        turn_until([this] { return work().viewer().live() != nullptr && work().viewer().live()->is_recorded(); }));
    EXPECT_EQ(work().view().mode, ViewMode::mip);
    EXPECT_EQ(work().view().azimuth_deg, 77);
    EXPECT_EQ(work().view().high, 31);
    EXPECT_EQ(open_scan(recording).geometry.samples, 128) << "to those who do not show it, it is a scan like others";
}

}  // namespace
}  // namespace echolux::test
