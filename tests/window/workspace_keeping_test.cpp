// Persistence: sessions, pictures, presets, recordings, and the state after a crash.
#include <map>

#include "engine/io/png_file.h"
#include "engine/scan/scan.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/recordings.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class WorkspaceKeeping : public WorkspaceTest {
  protected:
    void change_view() {
        work().change("view.mode", std::string("mip"));
        work().change("view.azimuth_deg", -12.5);
        work().change("window.layout", std::string("sections"));
        work().set_transfer_curve({.nodes = {{0, 0, 0, 0, 0}, {30, 1, 0.5, 0, 3}}});
        work().set_cross_um({15, -25, 5});
    }
    void expect_the_same_look() {
        EXPECT_EQ(work().view().mode, ViewMode::mip);
        EXPECT_EQ(work().view().azimuth_deg, -12.5);
        ASSERT_TRUE(work().view().transfer_curve);
        EXPECT_EQ(work().view().transfer_curve->nodes.back().value, 30);
        EXPECT_THAT(work().cross_um(), ElementsAre(15, -25, 5));
    }
    void open(const std::filesystem::path& path) {
        work().open(path);
        settle();
    }
    bool runs(const std::string& action) { return work().actions().run(action); }
    std::size_t files_ending(const std::string& ending) const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder().path())) {
            count += entry.path().string().ends_with(ending) ? 1u : 0u;
        }
        return count;
    }
};

TEST_F(WorkspaceKeeping, SessionBringsBackEverything) {
    open_volume();
    change_view();
    work().save_session(folder() / "mine.toml");
    settle();
    remake("elsewhere");
    EXPECT_EQ(work().view().mode, ViewMode::composite);
    open(folder() / "mine.toml");
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    expect_the_same_look();
    EXPECT_EQ(work().settings().window().layout, PaneLayout::sections);
    EXPECT_EQ(work().session_file(), folder() / "mine.toml");
}

// The layout in "view --set window.layout=alignment" used to persist for all later starts.
TEST_F(WorkspaceKeeping, CommandLineSettingsOfWindowAreNotStored) {
    for (const bool changes : {false, true}) {
        auto asked = make("once", {"window.layout=alignment", "window.left_width=333"});
        asked->open(volume_file());
        ASSERT_TRUE(until(*asked, [&] { return asked->viewer().is_open() && !asked->is_busy(); }));
        EXPECT_EQ(asked->settings().window().layout, PaneLayout::alignment);
        asked->change("window.right_width", 444.0);
        if (changes) asked->change("window.layout", std::string("sections"));
        asked.reset();
        const auto next = make("once");
        EXPECT_EQ(next->settings().window().layout, changes ? PaneLayout::sections : WindowSettings{}.layout);
        EXPECT_EQ(next->settings().window().left_width, WindowSettings{}.left_width);
        EXPECT_EQ(next->settings().window().right_width, 444);
    }
}

// Saving anything under the name of the open file would destroy that file.
TEST_F(WorkspaceKeeping, NeverOverwritesOpenFile) {
    open_volume();
    const std::filesystem::path shown = folder() / "ball.nii";
    const auto written = std::filesystem::last_write_time(shown);
    work().exporting().save_volume(shown);
    settle();
    EXPECT_THAT(standing("export"), HasSubstr("would overwrite an input"));
    work().save_session(shown);
    settle();
    EXPECT_THAT(standing("files"), HasSubstr("would overwrite an input"));
    EXPECT_EQ(std::filesystem::last_write_time(shown), written);
    EXPECT_NO_THROW(work().check_recent_name(folder() / "new.png"));
}

TEST_F(WorkspaceKeeping, SessionOfSourceRestoresSettings) {
    open_source();
    work().change("recipe.window", std::string("hamming"));
    work().save_session(folder() / "live.toml");
    settle();
    work().close();
    open(folder() / "live.toml");
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    ASSERT_NE(work().settings().scan(), nullptr);
    EXPECT_EQ(work().settings().scan()->recipe.window, Window::hamming);
    EXPECT_EQ(work().settings().scan()->geometry.a_scans, 24);  // the value passed to the simulator
}

TEST_F(WorkspaceKeeping, EveryKeyOfSessionIsChecked) {
    open(folder().write("bad.toml", "[session]\n\n[view]\nopcity = 1.0\n"));
    EXPECT_THAT(standing("files"), HasSubstr("view.opacity"));
    open(folder().write("worse.toml", "[session]\n\n[view]\nopacity = -1.0\nmode = \"mip\"\n"));
    EXPECT_THAT(standing("files"), HasSubstr("opacity"));
    EXPECT_EQ(work().view().mode, ViewMode::composite);
}

TEST_F(WorkspaceKeeping, SessionReportsMissingFile) {
    open(folder().write("gone.toml", "[session]\nfile = \"/nowhere/volume.nii\"\n"));
    EXPECT_THAT(standing("files"), HasSubstr("/nowhere/volume.nii"));
}

TEST_F(WorkspaceKeeping, ScreenshotRestoresItsView) {
    open_volume();
    change_view();
    work().change("view.width", std::int64_t{96});
    work().change("view.height", std::int64_t{64});
    work().exporting().save_picture(folder() / "picture.png");
    settle();
    const Picture picture = read_png(folder() / "picture.png");
    EXPECT_EQ(picture.width, 96);
    EXPECT_EQ(picture.height, 64);
    EXPECT_GT(*std::ranges::max_element(picture.pixels), 60) << "there is nothing on it";
    EXPECT_THAT(picture.text.at("session"), HasSubstr("ball.nii"));
    remake("elsewhere");
    open(folder() / "picture.png");
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    expect_the_same_look();
}

TEST_F(WorkspaceKeeping, ScreenshotEqualsStillPicture) {
    open_volume();
    work().change("view.width", std::int64_t{64});
    work().change("view.height", std::int64_t{64});
    work().exporting().save_picture(folder() / "picture.png");
    settle();
    View view = work().view();
    view.samples = view.rest_samples;
    const Image still = work().viewer().view_source()->still(view);
    const Picture picture = read_png(folder() / "picture.png");
    ASSERT_EQ(still.pixels.size(), picture.pixels.size());
    double difference = 0;
    for (std::size_t i = 0; i < still.pixels.size(); ++i) difference += std::abs(still.pixels[i] - picture.pixels[i]);
    EXPECT_LT(difference / static_cast<double>(still.pixels.size()), 2);
}

TEST_F(WorkspaceKeeping, TakesPictureOfRunningSource) {
    open_source();
    work().change("view.width", std::int64_t{48});
    work().change("view.height", std::int64_t{48});
    work().exporting().save_picture(folder() / "live.png");
    settle();
    EXPECT_TRUE(std::filesystem::exists(folder() / "live.png")) << troubles();
}

TEST_F(WorkspaceKeeping, SlowFailedPictureAllowsNextOnes) {
    open_volume();
    work().view().top_from = "surface";  // a surface that has not been searched for
    work().exporting().save_picture(folder() / "impossible.png");
    work().view().top_from.clear();
    work().exporting().save_picture(folder() / "next.png");
    settle();
    EXPECT_NE(standing("export"), "");
    EXPECT_FALSE(std::filesystem::exists(folder() / "impossible.png"));
    EXPECT_TRUE(std::filesystem::exists(folder() / "next.png"));
    work().exporting().save_picture(folder() / "late.png");
    work().close();
    EXPECT_THAT(standing("export"), HasSubstr("late.png"));
}

TEST_F(WorkspaceKeeping, RefusesPictureWithoutVolume) {
    work().exporting().save_picture(folder() / "nothing.png");
    EXPECT_NE(standing("export"), "");
    open_volume();
    work().exporting().save_picture(folder() / "picture.jpg");
    EXPECT_THAT(standing("export"), HasSubstr("*.png"));
    open(folder().write("foreign.txt.png", "no picture"));
    EXPECT_NE(standing("files"), "");
}

TEST_F(WorkspaceKeeping, UserPresetIsRestored) {
    open_source();
    work().change("view.mode", std::string("mip"));
    work().change("recipe.window", std::string("hamming"));
    work().change("view.target_um", std::vector<double>{1, 2, 3});  // belongs to this volume only
    work().save_preset("my retina");
    EXPECT_THAT(work().presets(), ElementsAre("my retina"));
    work().change_together("view", {{"view.mode", std::string("composite")}});
    work().change("recipe.window", std::string("hann"));
    work().change("view.target_um", std::vector<double>{0, 0, 0});
    work().use_preset("my retina");
    EXPECT_EQ(work().view().mode, ViewMode::mip) << troubles();
    EXPECT_EQ(work().settings().scan()->recipe.window, Window::hamming);
    EXPECT_THAT(work().view().target_um, ElementsAre(0, 0, 0));
    work().undo();  // the preset is one step
    EXPECT_EQ(work().view().mode, ViewMode::composite);
    EXPECT_EQ(work().settings().scan()->recipe.window, Window::hann);
    work().save_preset("../escape");
    EXPECT_NE(standing("files"), "");
    remake();
    EXPECT_THAT(work().presets(), ElementsAre("my retina"));
}

TEST_F(WorkspaceKeeping, RestoresWindow) {
    work().change("window.left_width", 432.0);
    work().change("window.width", std::int64_t{1111});
    remake();
    EXPECT_EQ(work().settings().window().left_width, 432);
    EXPECT_EQ(work().settings().window().width, 1111);
}

// A copy of the state folder at some moment is what a crash leaves behind.
TEST_F(WorkspaceKeeping, OffersLastStateAfterCrash) {
    open_volume();
    change_view();
    work().update(work().now_s() + work().settings().window().autosave_s + 1);
    settle();
    std::filesystem::copy(folder() / "state", folder() / "crashed", std::filesystem::copy_options::recursive);
    remake("crashed");
    ASSERT_FALSE(work().notices().all().empty());
    EXPECT_THAT(work().notices().all().back().line, HasSubstr("session.restore_last"));
    ASSERT_TRUE(runs("session.restore_last"));
    settle();
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    expect_the_same_look();
    remake("crashed");  // after a regular exit this time
    for (const Notice& notice : work().notices().all())
        EXPECT_THAT(notice.line, testing::Not(HasSubstr("did not exit properly")));
    EXPECT_TRUE(work().has_last_session());
}

TEST_F(WorkspaceKeeping, KeepsLastSessionIfNoFileWasOpened) {
    open_volume();
    remake();
    work().update(work().now_s() + work().settings().window().autosave_s + 1);
    remake();
    ASSERT_TRUE(runs("session.restore_last"));
    settle();
    EXPECT_TRUE(work().viewer().is_open()) << troubles();
}

// Process 1 always runs; there is no process with the other number.
TEST_F(WorkspaceKeeping, RunningWindowIsNotCrashed) {
    std::filesystem::create_directory(folder() / "two");
    const auto running = folder().write("two/running-1.toml", "[session]\n");
    remake("two");
    EXPECT_TRUE(work().notices().all().empty());
    EXPECT_FALSE(work().has_last_session());
    EXPECT_TRUE(std::filesystem::exists(running));
    folder().write("two/running-999999999.toml", "[session]\n");
    remake("two");
    ASSERT_FALSE(work().notices().all().empty());
    EXPECT_THAT(work().notices().all().back().line, HasSubstr("session.restore_last"));
    EXPECT_TRUE(std::filesystem::exists(running));
}

TEST_F(WorkspaceKeeping, StoresNoSessionWithoutFolder) {
    WorkspaceOptions options;
    options.backend.backend = Backend::cpu;
    Workspace bare(options);
    bare.update(100);
    bare.save_preset("x");
    EXPECT_NE(bare.notices().standing("files"), nullptr);
    EXPECT_FALSE(bare.has_last_session());
}

TEST_F(WorkspaceKeeping, RecordingIsMadeAndOpensAgain) {
    open_source();
    work().change("window.record_folder", folder().path().string());
    LiveController& live = *work().viewer().view_source()->live();
    ASSERT_TRUE(runs("source.record")) << troubles();
    ASSERT_TRUE(until([&] { return live.is_recording(); })) << troubles();
    EXPECT_TRUE(work().actions().find("source.record")->is_on());
    work().close();  // by mistake
    work().open(volume_file());
    settle();
    EXPECT_THAT(standing("files"), HasSubstr("recording"));
    work().open_source(small_source());
    EXPECT_FALSE(work().is_busy()) << "an instrument is asked for while another one is recorded";
    EXPECT_FALSE(runs("source.start_stop"));
    ASSERT_EQ(work().viewer().view_source()->live(), &live);
    EXPECT_TRUE(live.is_recording());
    ASSERT_TRUE(until([&] {
        const auto recorder = live.stats().recorder;
        return recorder && recorder->blocks > 4;
    })) << troubles();
    ASSERT_TRUE(runs("source.record"));
    work().close();  // while the recording is still being written to disk
    ASSERT_EQ(work().viewer().live(), &live);
    settle();
    EXPECT_FALSE(live.is_recording());
    ASSERT_TRUE(work().recordings().last());
    const std::filesystem::path recording = work().recordings().last()->file;
    EXPECT_THAT(recording.filename().string(), testing::StartsWith("recording-raster-20"));
    EXPECT_EQ(recording.parent_path(), folder() / recording.stem());
    work().close();
    EXPECT_FALSE(work().viewer().is_open());
    open(recording);
    EXPECT_TRUE(work().viewer().is_open()) << troubles();
}

TEST_F(WorkspaceKeeping, RecordsStripesToFurtherDisks) {
    open_source();
    work().change("window.record_folder", folder().path().string());
    const std::filesystem::path second = folder() / "disk 2", third = folder() / "disk 3";
    std::filesystem::create_directory(third);
    work().change("window.stripe_folders", second.string() + ";;" + third.string() + ";");
    EXPECT_EQ(work().recordings().folders(), (std::vector<std::filesystem::path>{folder().path(), second, third}));
    LiveController& live = *work().viewer().view_source()->live();
    ASSERT_TRUE(runs("source.record"));
    ASSERT_TRUE(until([&] { return !standing("source").empty(); })) << "there is no second folder";
    EXPECT_THAT(standing("source"), HasSubstr(second.string()));
    EXPECT_FALSE(live.is_recording());
    std::filesystem::create_directory(second);
    ASSERT_TRUE(runs("source.record"));
    ASSERT_TRUE(until([&] {
        const auto recorder = live.stats().recorder;
        return recorder && recorder->blocks > 4;
    })) << troubles();
    ASSERT_TRUE(runs("source.record"));
    settle();
    ASSERT_TRUE(work().recordings().last());
    const std::filesystem::path recording = work().recordings().last()->file;
    for (const std::filesystem::path& disk : {second, third}) {
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk), {}), 1) << disk;
    }
    work().close();
    open(recording);
    EXPECT_TRUE(work().viewer().is_open()) << troubles();
}

TEST_F(WorkspaceKeeping, RecordingsHaveSubjectNoteAndLength) {
    open_source();
    work().change("window.record_folder", folder().path().string());
    work().change("window.record_subject", std::string("Eye 7/left"));
    work().change("window.record_note", std::string("after drops"));
    work().change("window.record_volumes", std::int64_t{2});
    work().recordings().start();
    ASSERT_TRUE(until([&] { return work().recordings().last().has_value(); })) << troubles();
    const std::filesystem::path first = work().recordings().last()->file;
    EXPECT_THAT(first.parent_path().filename().string(), testing::StartsWith("Eye-7-left-raster-20"));
    const Scan scan = open_scan(first);
    EXPECT_EQ(scan.geometry.volumes, 2);
    EXPECT_TRUE(scan.recording.complete);
    EXPECT_EQ(scan.recording.subject, "Eye 7/left");
    EXPECT_EQ(scan.recording.note, "after drops");
    EXPECT_EQ(work().settings().window().record_subject, "Eye 7/left");
    EXPECT_EQ(work().settings().window().record_note, "") << "it belongs to one recording";

    work().change("window.record_volumes", std::int64_t{0});
    work().change("window.record_s", 0.3);
    work().recordings().start();
    ASSERT_TRUE(until([&] { return work().recordings().last()->file != first; })) << troubles();
    EXPECT_FALSE(work().recordings().is_active());

    // Without the notes of its end, the losses are counted in its index.
    std::ifstream file(first);
    std::string text(std::istreambuf_iterator<char>(file), {});
    for (const std::string key : {"finished = true\n", "complete = true\n"}) {
        ASSERT_NE(text.find(key), std::string::npos) << text;
        text.erase(text.find(key), key.size());
    }
    std::ofstream(first) << text;
    const std::vector<ListedRecording> listed = recordings_in(first.parent_path().parent_path(), 9);
    const auto cut = std::ranges::find(listed, first, &ListedRecording::file);
    ASSERT_NE(cut, listed.end());
    EXPECT_THAT(cut->lack, testing::StartsWith("recording was not finished: "));
    EXPECT_THAT(cut->lack, HasSubstr("missing"));
}

TEST(RecordingNames, CutLongSubjectsBetweenCharacters) {
    std::string subject = "x";
    for (int i = 0; i < 30; ++i) subject += "目";  // three bytes
    EXPECT_THAT(name_of_recording(subject, "raster", 0), testing::StartsWith(subject.substr(0, 79) + "-raster-"));
    EXPECT_THAT(name_of_recording(std::string(90, 'y'), "raster", 0),
                testing::StartsWith(std::string(80, 'y') + "-raster-"));
}

// Times of files may be equal, so the order is not compared.
TEST_F(WorkspaceKeeping, ListsRecordingsWithLosses) {
    const auto write = [this](const std::string& name, const std::string& notes) {
        std::filesystem::create_directory(folder() / name);
        folder().write(name + "/" + name + ".toml", "[recording]\nindex = \"x.csv\"\n" + notes);
    };
    write("whole", "finished = true\ncomplete = true\n");
    write("lossy", "finished = true\nlost_blocks = 3\n");
    write("cut", "");
    folder().write("whole/other.toml", "");
    std::filesystem::create_directory(folder() / "empty");
    std::map<std::string, std::string> lacks;
    for (const ListedRecording& one : recordings_in(folder().path(), 9)) lacks[one.file.stem().string()] = one.lack;
    ASSERT_EQ(lacks.size(), 3u);
    EXPECT_EQ(lacks["whole"], "");
    EXPECT_THAT(lacks["lossy"], HasSubstr("3 blocks"));
    EXPECT_EQ(lacks["cut"], "was not finished");
    EXPECT_EQ(recordings_in(folder().path(), 2).size(), 2u);
    open_source();
    work().change("window.record_folder", folder().path().string());
    EXPECT_TRUE(until([&] { return work().recordings().recent().size() == 3; }));
}

TEST_F(WorkspaceKeeping, ListsNewestOfManyRecordings) {
    constexpr int count = 20'000, newest = 9;
    const auto name = [](int i) { return "r" + std::to_string(i); };
    for (int i = 0; i < count; ++i) {
        std::filesystem::create_directory(folder() / name(i));
        folder().write(name(i) + "/" + name(i) + ".toml", "[recording]\nindex = \"x.csv\"\nfinished = true\n");
    }
    const auto now = std::filesystem::file_time_type::clock::now();
    for (int i = 0; i < newest; ++i)
        std::filesystem::last_write_time(folder() / name(2000 * i) / (name(2000 * i) + ".toml"),
                                         now + std::chrono::hours(1 + i));
    const std::vector<ListedRecording> listed = recordings_in(folder().path(), newest);
    ASSERT_EQ(listed.size(), static_cast<std::size_t>(newest));
    for (int i = 0; i < newest; ++i)
        EXPECT_EQ(listed[static_cast<std::size_t>(i)].file.stem().string(), name(2000 * (newest - 1 - i)));
}

TEST_F(WorkspaceKeeping, RecordingWithoutBlocksLeavesNoFolder) {
    open_source();
    work().change("window.record_folder", (folder() / "gone").string());
    work().recordings().start();
    ASSERT_TRUE(until([&] { return !standing("source").empty(); }));
    EXPECT_THAT(standing("source"), HasSubstr("gone"));
    EXPECT_FALSE(std::filesystem::exists(folder() / "gone")) << "its disk may not be mounted";
}

TEST_F(WorkspaceKeeping, RecordingWithoutSourceIsRefused) {
    open_volume();
    EXPECT_FALSE(runs("source.record"));
    work().recordings().start();
    EXPECT_NE(standing("source"), "");
}

TEST_F(WorkspaceKeeping, RestoresLostDeviceTwiceThenNamesRemedy) {
    open_volume();
    for (int i = 0; i < 3; ++i) {
        loses_ = true;
        std::optional<Error> lost;
        work().view().azimuth_deg += 10;
        work().view_edited(Edit::done);
        try {
            for (int turns = 0; turns < 50; ++turns) turn(work());
        } catch (const Error& error) {
            lost = error;
        }
        ASSERT_TRUE(lost);
        EXPECT_EQ(lost->code(), ErrorCode::device);
        loses_ = false;
        EXPECT_EQ(work().device_lost(*lost), i < 2);
        if (i == 2) break;
        ASSERT_TRUE(work().viewer().is_open());
        turn(work());
        EXPECT_EQ(standing("display"), "");
    }
    EXPECT_THAT(standing("display"), HasSubstr("Ctrl+S"));
    remake();
    forget_messages();
}

}  // namespace
}  // namespace echolux::test
