// The parts of the workspace, each by itself: actions, notices, undo, settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/jobs/jobs.h"
#include "app/settings/settings_book.h"
#include "compute/plan/describe.h"
#include "temporary_folder.h"
#include "ui/panels/value_text.h"
#include "ui/workspace/actions.h"
#include "ui/workspace/notices.h"

namespace echolux {
namespace {

struct Glow {
    bool on = false;
    double strength = 1;
    double reach_um = 5;
};

}  // namespace

template <>
const std::vector<Field<Glow>>& describe<Glow>() {
    static const std::vector<Field<Glow>> fields{
        flag("glow", &Glow::on, Effect::view, "glowing tissue"),
        number("glow_strength", &Glow::strength, 0, 9, "", Effect::view, "its brightness")
            .in("Glow")
            .only_while("view.glow", {"true"})
            .found_by("shine"),
        number("glow_reach_um", &Glow::reach_um, 0, 9, "um", Effect::view, "how far it reaches")
            .in("Glow")
            .of_volume()
            .never_undone(),
    };
    return fields;
}

namespace {

using testing::ElementsAre;

// ---- actions

Action action(const std::string& id, const std::string& title, std::vector<std::string> keys = {}) {
    Action made{.id = id, .title = title, .keys = std::move(keys), .run = [] {}};
    return made;
}

std::vector<std::string> ids(const std::vector<const Action*>& actions) {
    std::vector<std::string> list;
    for (const Action* one : actions) list.push_back(one->id);
    return list;
}

TEST(Actions, AreFoundByNameAndByEachKey) {
    Actions actions;
    actions.add(action("edit.redo", "Redo", {"Ctrl+Y", "Ctrl+Shift+Z"}));
    ASSERT_NE(actions.find("edit.redo"), nullptr);
    EXPECT_EQ(actions.for_key("Ctrl+Y"), actions.find("edit.redo"));
    EXPECT_EQ(actions.for_key("Ctrl+Shift+Z"), actions.find("edit.redo"));
    EXPECT_EQ(actions.find("edit"), nullptr);
    EXPECT_EQ(actions.for_key("Ctrl"), nullptr);
}

TEST(Actions, RefuseDuplicateNamesAndKeys) {
    Actions actions;
    actions.add(action("a", "A", {"X"}));
    EXPECT_THAT(error_of([&] { actions.add(action("a", "B")); }).line, testing::HasSubstr("already"));
    EXPECT_THAT(error_of([&] { actions.add(action("b", "B", {"X"})); }).line, testing::HasSubstr("already used by a"));
    EXPECT_EQ(actions.all().size(), 1u);
}

TEST(Actions, RunOnlyIfPossible) {
    Actions actions;
    int runs = 0;
    bool possible = false;
    Action made = action("count", "Count");
    made.run = [&] { ++runs; };
    made.is_possible = [&] { return possible; };
    actions.add(made);
    EXPECT_FALSE(actions.run("count"));
    possible = true;
    EXPECT_TRUE(actions.run("count"));
    EXPECT_FALSE(actions.run("nothing"));
    EXPECT_EQ(runs, 1);
}

TEST(Actions, PaletteFindsWordsAndInitialsButNoScatteredLetters) {
    Actions actions;
    actions.add(action("x.1", "Keep a picture of the view"));
    actions.add(action("x.2", "Play or pause"));
    actions.add(action("x.3", "Panels on the right"));
    EXPECT_THAT(ids(actions.matching("pp")), ElementsAre("x.2"));  // both letters begin words
    EXPECT_THAT(ids(actions.matching("right pan")), ElementsAre("x.3"));
    EXPECT_THAT(ids(actions.matching("paneright")), testing::IsEmpty());  // "PANEls on the RIGHT"
    EXPECT_THAT(ids(actions.matching("kpv")), ElementsAre("x.1"));
    EXPECT_THAT(ids(actions.matching("ictur")), ElementsAre("x.1"));  // inside a word
    EXPECT_THAT(ids(actions.matching("zzz")), testing::IsEmpty());
    EXPECT_EQ(actions.matching("").size(), 3u);
}

TEST(Actions, PaletteShowsPossibleOnesFirst) {
    Actions actions;
    Action first = action("a.play", "Play");
    first.is_possible = [] { return false; };
    actions.add(first);
    actions.add(action("a.player", "The player"));
    EXPECT_THAT(ids(actions.matching("play")), ElementsAre("a.player", "a.play"));
}

// ---- notices

TEST(Notices, SameLineInRowIsCounted) {
    Notices notices;
    notices.report_problem("source", "no frame");
    notices.report_problem("source", "no frame");
    notices.note("source", "back");
    notices.report_problem("source", "no frame");
    ASSERT_EQ(notices.all().size(), 3u);
    EXPECT_EQ(notices.all()[0].times, 2);
    EXPECT_EQ(notices.all()[2].times, 1);
}

TEST(Notices, StandUntilSettledOrDismissed) {
    Notices notices;
    notices.report_problem("recipe", "one");
    notices.report_problem("view", "two");
    notices.report_problem("recipe", "three");
    ASSERT_NE(notices.standing("recipe"), nullptr);
    EXPECT_EQ(notices.standing("recipe")->line, "three");
    notices.dismiss(notices.standing("recipe")->number);
    EXPECT_EQ(notices.standing("recipe")->line, "one");
    notices.settle("recipe");
    EXPECT_EQ(notices.standing("recipe"), nullptr);
    EXPECT_EQ(notices.standing("view")->line, "two");
}

TEST(Notices, DismissedNoticeReturnsIfRepeated) {
    Notices notices;
    notices.report_problem("source", "no frame");
    notices.dismiss(notices.all().back().number);
    notices.report_problem("source", "no frame");
    ASSERT_NE(notices.standing("source"), nullptr);
}

TEST(Notices, KeepsLastThousand) {
    Notices notices;
    for (int i = 0; i < 1200; ++i) notices.note("", "line " + std::to_string(i));
    EXPECT_EQ(notices.all().size(), 1000u);
    EXPECT_EQ(notices.all().front().line, "line 200");
}

// ---- undo

Change change(const std::string& key, double before, double after) {
    return {key, {{key, before}}, {{key, after}}};
}

double value_in(const std::map<std::string, Value>& values, const std::string& key) {
    return std::get<double>(values.at(key));
}

TEST(UndoHistory, UndoesAndRedoesStepByStep) {
    UndoHistory history;
    EXPECT_FALSE(history.can_undo());
    history.add(change("a", 0, 1), true);
    history.add(change("a", 1, 2), true);
    EXPECT_EQ(value_in(history.undo().before, "a"), 1);
    EXPECT_EQ(value_in(history.undo().before, "a"), 0);
    EXPECT_FALSE(history.can_undo());
    EXPECT_EQ(value_in(history.redo().after, "a"), 1);
    EXPECT_TRUE(history.can_redo());
}

TEST(UndoHistory, DragIsOneStep) {
    UndoHistory history;
    for (int i = 0; i < 10; ++i) history.add(change("a", i, i + 1), false);
    history.add(change("a", 10, 10), true);
    EXPECT_EQ(value_in(history.undo().before, "a"), 0);
    EXPECT_FALSE(history.can_undo());
    EXPECT_EQ(value_in(history.redo().after, "a"), 10);
}

TEST(UndoHistory, DragBackToStartIsNoStep) {
    UndoHistory history;
    history.add(change("a", 5, 7), false);
    history.add(change("a", 7, 5), true);
    EXPECT_FALSE(history.can_undo());
}

TEST(UndoHistory, OtherKeyEndsDrag) {
    UndoHistory history;
    history.add(change("a", 0, 1), false);
    history.add(change("b", 0, 1), false);
    history.add(change("a", 1, 2), true);
    EXPECT_EQ(value_in(history.undo().before, "a"), 1);
    EXPECT_EQ(value_in(history.undo().before, "b"), 0);
    EXPECT_EQ(value_in(history.undo().before, "a"), 0);
}

TEST(UndoHistory, NewStepReplacesRedo) {
    UndoHistory history;
    history.add(change("a", 0, 1), true);
    history.add(change("a", 1, 2), true);
    history.undo();
    history.add(change("a", 1, 7), true);
    EXPECT_FALSE(history.can_redo());
    EXPECT_EQ(value_in(history.undo().after, "a"), 7);
}

TEST(UndoHistory, KeepsLastFiveHundred) {
    UndoHistory history;
    for (int i = 0; i < 600; ++i) history.add(change("a", i, i + 1), true);
    int steps = 0;
    double first = -1;
    while (history.can_undo()) {
        first = value_in(history.undo().before, "a");
        ++steps;
    }
    EXPECT_EQ(steps, 500);
    EXPECT_EQ(first, 100);
}

TEST(UndoHistory, ForgetsNewestStepsWithoutEffect) {
    UndoHistory history;
    history.add(change("a", 0, 1), true);  // took effect
    history.add(change("b", 0, 1), true);
    history.add(change("a", 1, 2), true);
    history.add(change("a", 2, 3), true);
    history.forget({{"a", 1.0}});
    EXPECT_FALSE(history.can_redo());
    EXPECT_TRUE(history.undo().after.contains("b"));
    EXPECT_EQ(value_in(history.undo().after, "a"), 1);
}

// ---- small files

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TextWriter, LastTextOfFileWinsAndAllAreWrittenAtEnd) {
    TemporaryFolder folder;
    {
        TextWriter writer;
        for (int i = 0; i < 50; ++i) writer.write(folder / "a.txt", std::to_string(i));
        writer.finish();
        EXPECT_EQ(text_of(folder / "a.txt"), "49");
        for (int i = 0; i < 20; ++i) writer.write(folder / (std::to_string(i) + ".txt"), "here");
        EXPECT_TRUE(writer.take_problems().empty());
    }
    for (int i = 0; i < 20; ++i) EXPECT_EQ(text_of(folder / (std::to_string(i) + ".txt")), "here");
}

TEST(TextWriter, ReportsUnwritableFile) {
    TemporaryFolder folder;
    TextWriter writer;
    writer.write(folder.write("file", "") / "a.txt", "text");
    writer.write(folder / "b.txt", "text");
    writer.finish();
    const std::vector<Error> problems = writer.take_problems();
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems.front().line(), testing::HasSubstr("a.txt"));
    EXPECT_EQ(text_of(folder / "b.txt"), "text");
}

// ---- settings

std::vector<std::string> keys_of(const std::vector<const BoundField*>& fields) {
    std::vector<std::string> keys;
    for (const BoundField* field : fields) keys.push_back(field->key());
    return keys;
}

// Panels draw the fields of Settings::effective(), and the palette ranks settings by points_of().
TEST(SettingsBook, OneLineDescribesSettingInPanelPaletteUndoAndPresets) {
    Glow glow;
    Settings settings;
    settings.bind("view", glow);
    const BoundField &strength = settings.fields()[1], &reach = settings.fields()[2];
    EXPECT_THAT(keys_of(settings.effective("view", "Glow")), ElementsAre("view.glow_reach_um"));
    glow.on = true;
    EXPECT_THAT(keys_of(settings.effective("view", "Glow")), ElementsAre("view.glow_strength", "view.glow_reach_um"));
    EXPECT_GT(points_of("shine", strength, label_of(strength)), 0);
    EXPECT_EQ(points_of("shine", reach, label_of(reach)), 0);
    EXPECT_TRUE(is_undone(strength) && is_of_preset(strength));
    EXPECT_FALSE(is_undone(reach) || is_of_preset(reach));
}

// Rows and switches of a mode appear with it.
TEST(SettingsBook, DescribesWhichViewSettingsHaveEffect) {
    SettingsBook book;
    EXPECT_THAT(keys_of(book.settings().effective("view", "Mode")), ElementsAre("view.mode"));
    book.view().mode = ViewMode::mida;
    EXPECT_THAT(keys_of(book.settings().effective("view", "Mode")), ElementsAre("view.mode", "view.mida_balance"));
    book.view().mode = ViewMode::isosurface;
    EXPECT_THAT(keys_of(book.settings().effective("view", "Mode")), ElementsAre("view.mode", "view.isovalue"));
    book.view().isosurface = true;
    book.view().mode = ViewMode::traced;
    EXPECT_THAT(keys_of(book.settings().effective("view", "Mode")),
                ElementsAre("view.mode", "view.isovalue", "view.paths", "view.isosurface"));
}

// A preset of one eye must not move, cut or annotate another one.
TEST(SettingsBook, PresetsLeaveOutSettingsOfOneVolume) {
    SettingsBook book;
    std::vector<std::string> left_out;
    for (const BoundField& field : book.fields()) {
        if (field.section == "view" && !is_of_preset(field)) left_out.emplace_back(field.name);
    }
    EXPECT_THAT(left_out, testing::UnorderedElementsAre("width", "height", "target_um", "near_um", "slices", "clip_low",
                                                        "clip_high", "clip_planes", "plane_offset_um", "distances",
                                                        "angles", "flow_arrows", "time_s", "text", "flow_streaks",
                                                        "streak_pulse", "streak_time_s"));
    for (const char* key : {"filter.shown", "registration.shown", "layers.shown", "window.scale"})
        EXPECT_FALSE(is_of_preset(*book.field(key))) << key;
    EXPECT_TRUE(is_of_preset(*book.field("registration.reference")));
}

void nothing(const Change&) {}

TEST(SettingsBook, AppliesAllOrNone) {
    SettingsBook book;
    const Values wrong{{"view.opacity", 2.0}, {"view.step", -1.0}};
    EXPECT_THAT(error_of([&] { book.apply(wrong, nothing); }).line, testing::HasSubstr("view.step"));
    EXPECT_EQ(book.view().opacity, 1);
}

TEST(SettingsBook, OuterRefusalRevertsChange) {
    SettingsBook book;
    EXPECT_ANY_THROW(
        book.apply({{"view.opacity", 2.0}}, [](const Change&) { throw Error(ErrorCode::bad_setting, "not now"); }));
    EXPECT_EQ(book.view().opacity, 1);
}

TEST(SettingsBook, RejectsInvalidCombinations) {
    SettingsBook book;
    EXPECT_EQ(error_of([&] {
                  book.apply({{"view.low", 5.0}, {"view.high", 1.0}}, nothing);
              }).code,
              ErrorCode::bad_setting);
    EXPECT_EQ(error_of([&] {
                  book.apply({{"window.pane_split", std::vector<double>{0.5}}}, nothing);
              }).code,
              ErrorCode::bad_setting);
}

TEST(SettingsBook, ReportsChanges) {
    SettingsBook book;
    const Change change = book.apply({{"view.opacity", 2.0}, {"view.box", true}}, nothing);
    EXPECT_EQ(change.before, (Values{{"view.opacity", 1.0}}));
    EXPECT_EQ(change.after, (Values{{"view.opacity", 2.0}}));
}

TEST(SettingsBook, ChangeCountsInItsSection) {
    SettingsBook book;
    book.set_scan(Scan{});
    const std::uint64_t view = book.revision("view"), window = book.revision("window"),
                        filter = book.revision("filter"), recipe = book.revision("recipe");
    const Change change = book.apply({{"filter.strength", 0.2}}, nothing);
    EXPECT_NE(book.revision("filter"), filter);
    EXPECT_EQ(book.revision("view"), view);
    EXPECT_EQ(book.revision("window"), window);
    EXPECT_EQ(book.revision("recipe"), recipe);
    const std::uint64_t changed = book.revision("filter");
    book.apply(change.before, nothing);
    EXPECT_NE(book.revision("filter"), changed) << "undo is a change, too";
    EXPECT_NE(book.revision("filter"), filter);
    book.apply({{"window.width", std::int64_t{1600}}}, nothing);
    EXPECT_NE(book.revision("window"), window) << "not undone, but changed";
}

TEST(SettingsBook, RefusedAndEqualValuesCountAsNoChange) {
    SettingsBook book;
    book.apply({{"view.opacity", 2.0}}, nothing);
    const std::uint64_t view = book.revision("view"), any = book.revision();
    EXPECT_ANY_THROW(book.apply({{"view.opacity", -1.0}}, nothing));
    EXPECT_ANY_THROW(book.apply({{"view.low", 5.0}, {"view.high", 1.0}}, nothing));
    EXPECT_ANY_THROW(
        book.apply({{"view.opacity", 3.0}}, [](const Change&) { throw Error(ErrorCode::bad_setting, "not now"); }));
    book.apply({{"view.opacity", 2.0}}, nothing);
    book.view_edited();
    EXPECT_EQ(book.revision("view"), view);
    EXPECT_EQ(book.revision(), any);
}

TEST(SettingsBook, EditOfViewCountsOnceItIsReported) {
    SettingsBook book;
    const std::uint64_t view = book.revision("view");
    book.view().azimuth_deg = 40;
    EXPECT_EQ(book.revision("view"), view);
    EXPECT_EQ(book.view_edited().after, (Values{{"view.azimuth_deg", 40.0}}));
    const std::uint64_t edited = book.revision("view");
    EXPECT_NE(edited, view);
    book.view().opacity = -1;
    EXPECT_ANY_THROW(book.view_edited());
    EXPECT_EQ(book.revision("view"), edited);
    EXPECT_TRUE(book.view_edited().after.empty()) << "the settled view follows each change";
}

TEST(SettingsBook, OtherChangeKeepsEditOfViewPending) {
    SettingsBook book;
    book.view().azimuth_deg = 40;
    const Change change = book.apply({{"view.opacity", 2.0}}, nothing);
    EXPECT_EQ(change.after, (Values{{"view.opacity", 2.0}}));
    EXPECT_EQ(book.view_edited().after, (Values{{"view.azimuth_deg", 40.0}}));
}

TEST(SettingsBook, OpenedScanCountsInItsSections) {
    SettingsBook book;
    const std::uint64_t view = book.revision("view");
    book.set_scan(Scan{});
    const std::uint64_t recipe = book.revision("recipe"), flow = book.revision("flow");
    Scan in_use;
    in_use.recipe.window = Window::hamming;
    EXPECT_EQ(book.take_back(in_use).after, (Values{{"recipe.window", std::string("hamming")}}));
    EXPECT_NE(book.revision("recipe"), recipe);
    EXPECT_EQ(book.revision("flow"), flow);
    book.set_scan(std::nullopt);
    EXPECT_NE(book.revision("flow"), flow);
    EXPECT_EQ(book.revision("view"), view);
}

TEST(SettingsBook, TextLeavesSectionsOut) {
    SettingsBook book;
    book.apply({{"view.opacity", 2.0}, {"window.layout", std::string("sections")}, {"filter.strength", 0.2}}, nothing);
    EXPECT_EQ(book.toml({"window", "filter"}), "[view]\nopacity = 2.0\n");
}

TEST(SettingsBook, SizeOfWindowIsNotUndone) {
    SettingsBook book;
    EXPECT_TRUE(book.apply({{"window.width", std::int64_t{1600}}}, nothing).after.empty());
    EXPECT_EQ(book.window().width, 1600);
}

TEST(SettingsBook, ScanSettingsRequireScan) {
    SettingsBook book;
    EXPECT_EQ(book.field("recipe.window"), nullptr);
    book.set_scan(Scan{});
    ASSERT_NE(book.field("recipe.window"), nullptr);
    book.apply({{"recipe.window", std::string("hamming")}}, nothing);
    EXPECT_THAT(book.assignments(), ElementsAre("recipe.window=hamming"));
    EXPECT_THAT(error_of([&] {
                    book.apply({{"scan.samples", std::int64_t{7}}}, nothing);
                }).line,
                testing::HasSubstr("cannot be changed while it is open"));
    book.set_scan(std::nullopt);
    EXPECT_EQ(book.field("recipe.window"), nullptr);
}

// A session stores differences from the opened scan, even if the scan's value is not the default.
TEST(SettingsBook, StoresDifferencesFromOpenedScan) {
    SettingsBook book;
    Scan scan;
    scan.recipe.window = Window::hamming;
    book.set_scan(scan);
    EXPECT_EQ(book.toml(), "");
    book.apply({{"recipe.window", std::string("hann")}}, nothing);  // the default
    EXPECT_EQ(book.toml(), "[recipe]\nwindow = \"hann\"\n");
}

TEST(SettingsBook, CalibrationFileIsReadAndUndone) {
    const TemporaryFolder folder;
    folder.write("dark.csv", "1\n2\n3\n4\n");
    Scan scan;
    scan.path = folder / "scan.toml";
    scan.geometry.samples = 4;
    scan.calibration.dark = {9, 9, 9, 9};  // from a format that contains it
    SettingsBook book;
    book.set_scan(scan);
    const Change change = book.apply({{"calibration.dark", std::string("dark.csv")}}, nothing);
    EXPECT_THAT(book.scan()->calibration.dark, ElementsAre(1, 2, 3, 4));
    book.apply(change.before, nothing);
    EXPECT_THAT(book.scan()->calibration.dark, ElementsAre(9, 9, 9, 9));
    EXPECT_ANY_THROW(book.apply({{"calibration.dark", std::string("no.csv")}}, nothing));
    EXPECT_EQ(book.scan()->calibration_files.dark, "");
}

TransferCurve drawn_curve() {
    return {.nodes = {{0, 0.1, 0.2, 0.3, 0}, {7, 1, 0.5, 1.0 / 3, 12.5}, {30, 1, 1, 1, 1e-3}},
            .unit = "dB",
            .is_relative = true,
            .length_um = 123.25};
}

TEST(SettingsBook, DrawnCurveIsSetting) {
    SettingsBook book;
    book.view().transfer_curve = drawn_curve();
    const Change change = book.view_edited();
    EXPECT_EQ(change.after.size(), 1u);
    book.apply(change.before, nothing);
    EXPECT_FALSE(book.view().transfer_curve);
    book.apply(change.after, nothing);
    EXPECT_EQ(book.view().transfer_curve, drawn_curve());
}

TEST(SettingsBook, PresetReplacesDrawnCurve) {
    SettingsBook book;
    book.view().transfer_curve = drawn_curve();
    book.view_edited();
    const Change change = book.apply({{"view.preset", std::string("bone")}}, nothing);
    EXPECT_FALSE(book.view().transfer_curve);
    book.apply(change.before, nothing);
    EXPECT_EQ(book.view().transfer_curve, drawn_curve());
    EXPECT_EQ(book.view().preset, "automatic");
}

TEST(SettingsBook, RefusedPresetKeepsDrawnCurve) {
    SettingsBook book;
    book.view().transfer_curve = drawn_curve();
    book.view_edited();
    EXPECT_ANY_THROW(book.apply({{"view.preset", std::string("no such preset")}}, nothing));
    EXPECT_EQ(book.view().preset, "automatic");
    EXPECT_EQ(book.view().transfer_curve, drawn_curve());
}

TEST(SettingsBook, InvalidViewRevertsToLastValidView) {
    SettingsBook book;
    book.view().opacity = 3;
    book.view_edited();
    book.view().low = 5;
    book.view().high = 4;
    EXPECT_ANY_THROW(book.view_edited());
    EXPECT_EQ(book.view().opacity, 3);
    EXPECT_LT(book.view().low, book.view().high);
}

}  // namespace
}  // namespace echolux
