// The panel Operations: forms from the descriptions, runs on the displayed volume, refusals beside their field, cancel.
// ECHOLUX_PICTURES=FOLDER writes pictures for inspection.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "app/open/show_opened.h"
#include "app/operations/operation.h"
#include "app/viewer/live_controller.h"
#include "app/viewer/view_source.h"
#include "engine/io/file_name.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "layered_volume.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/operating.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class OperationPanel : public WindowRun {
  protected:
    void open_ball(std::int64_t height = 1400) {
        options_.assignments = {"window.open_panels=operations", "view.mode=mip", "view.step=2"};
        open_window(1280, height);
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }));
        ASSERT_TRUE(settle());
    }
    Operating& operating() { return work().operating(); }
    OperationForm& form() { return operating().form(); }
    const OperationReport& report() { return form().report; }

    // Lays out the window, which draws nothing without an event.
    void look() {
        move({1, 500});
        turns(3);
    }
    void choose(const std::string& name) {
        ASSERT_TRUE(work().actions().run("operation." + name));
        look();
    }
    // The operation of the tests, which only the preset dev has.
    bool choose_invert() {
        const auto is_it = [](const OperationInfo* info) { return info->name == "invert"; };
        if (std::ranges::none_of(operations(), is_it)) return false;
        choose("invert");
        return true;
    }
    // Names of the controls that are seen while the panel is scrolled to its end.
    std::set<std::string> controls_of_form() {
        const Pixel panel = middle_of("panel.operations");
        std::set<std::string> names;
        for (std::size_t before = 0; before < names.size() || before == 0;) {
            before = names.size();
            for (const auto& [name, place] : window().places()) names.insert(name);
            scroll({panel.x, 700}, -5);
        }
        return names;
    }
    std::filesystem::path output() { return folder() / "result.nrrd"; }
    void name_output() {
        operating().set_file(form(), "output", 0, output().string());
        look();
    }
    // Filters the displayed volume, which takes long enough to be cancelled.
    void start_slow_run() {
        choose("filter");
        operating().set(form(), "filter.stored_as", std::string("db"));
        for (const char* key : {"filter.search_depth", "filter.search_a_scans", "filter.search_b_scans"})
            operating().set(form(), key, std::int64_t{31});
        name_output();
        click(middle_of("operation.run"));
        ASSERT_TRUE(operating().job().has_value()) << (report().error ? report().error->line() : "");
    }
    bool run_ends() {
        return turn_until([this] { return !operating().job() && work().jobs().is_idle(); });
    }
    void keep(const std::string& name) {
        if (const char* pictures = std::getenv("ECHOLUX_PICTURES"))
            write_png(std::filesystem::path(pictures) / ("operation-" + name + ".png"), picture_of(picture()));
    }
};

TEST_F(OperationPanel, SlowHasFieldForEachArgument) {
    open_ball();
    for (const OperationInfo* info : operations()) {
        SCOPED_TRACE(info->name);
        choose(std::string(info->name));
        ASSERT_EQ(form().info.name, info->name);
        const std::set<std::string> seen = controls_of_form();
        const auto expect_field = [&](std::string_view name) {
            EXPECT_TRUE(seen.contains(form().key_of(name))) << name;
        };
        for (const InputText& input : info->inputs) expect_field(input.name);
        for (const OutputText& one : info->outputs) expect_field(one.name);
        for (const FieldText& argument : info->arguments) {
            const BoundField* field = form().operation->field(form().key_of(argument.name));
            ASSERT_NE(field, nullptr) << argument.name;
            if (form().operation->settings().disabled_by(*field) == nullptr) expect_field(argument.name);
        }
        EXPECT_FALSE(report().error.has_value());
        keep(std::string(info->name));
    }
}

TEST_F(OperationPanel, OperationIsChosenFromMenu) {
    open_ball();
    EXPECT_EQ(form().info.name, operations().front()->name);
    click(middle_of("operation.choice"));
    click(middle_of("operation.choice=convert"));
    EXPECT_EQ(form().info.name, "convert");
    EXPECT_TRUE(window().place_of("convert.compression").has_value());
    for (const OperationInfo* info : operations())
        EXPECT_NE(work().actions().find("operation." + std::string(info->name)), nullptr) << info->name;
}

TEST_F(OperationPanel, SimulatesWithoutDocument) {
    open_window(1280, 3000);  // the form is long
    turns(3);
    EXPECT_FALSE(window().place_of("operation.run").has_value());
    choose("simulate");
    for (const std::string place : {"simulate.output", "operation.run"})
        ASSERT_TRUE(turn_until([&] { return window().place_of(place).has_value(); }, 20)) << place;
    operating().set(form(), "simulate.scene", std::string("layers"));
    for (const char* key : {"simulation.a_scans", "simulation.b_scans"}) operating().set(form(), key, std::int64_t{4});
    operating().set_file(form(), "output", 0, (folder() / "made/scan.toml").string());
    look();
    click(middle_of("operation.run"));
    ASSERT_TRUE(turn_until([this] { return report().is_complete || report().error; }));
    EXPECT_FALSE(report().error.has_value()) << report().error->line();
    EXPECT_TRUE(turn_until([this] { return work().viewer().is_open(); })) << "the result is opened";
}

TEST_F(OperationPanel, NewOperationRunsOnDisplayedVolume) {
    open_ball();
    if (!choose_invert()) GTEST_SKIP() << "needs the operation of the preset dev";
    double_click(middle_of("invert.offset"));
    type("2000");
    press("Enter");
    click(middle_of("invert.output"));
    type(output().string());
    press("Enter");
    click(middle_of("operation.run"));
    ASSERT_TRUE(turn_until([this] { return report().is_complete || report().error; }));
    ASSERT_FALSE(report().error.has_value()) << report().error->line();
    ASSERT_EQ(report().rows.size(), 1u);
    EXPECT_EQ(report().rows[0].name, "voxels");
    EXPECT_EQ(report().rows[0].value, std::to_string(24 * 40 * 32));
    EXPECT_THAT(report().files, testing::ElementsAre(output()));
    const std::vector<float> made = finite_values(read_volume(output())),
                             of = finite_values(read_volume(folder() / "ball.nrrd"));
    ASSERT_EQ(made.size(), of.size());
    EXPECT_EQ(made[1000], 2000 - of[1000]);
    const auto is_opened = [this] {
        return work().viewer().is_open() && work().viewer().view_source()->name() == "result.nrrd";
    };
    EXPECT_TRUE(turn_until(is_opened));
    look();
    EXPECT_TRUE(window().place_of("operation.result=voxels").has_value());
    keep("invert-done");
}

TEST_F(OperationPanel, SurfacesOfDisplayedVolumeAreDrawnOverIt) {
    options_.assignments = {"window.open_panels=operations"};
    open_window(1280, 4000);  // the form is long
    write_volume(folder() / "layered.nrrd", layered_volume());
    work().open(folder() / "layered.nrrd");
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }));
    ASSERT_TRUE(settle());
    choose("segment");
    operating().set(form(), "segment.preset", std::string("layers"));
    operating().set(form(), "layers.count", std::int64_t{2});
    name_output();
    click(middle_of("operation.run"));
    ASSERT_TRUE(run_ends()) << (report().error ? report().error->line() : "");
    ASSERT_TRUE(turn_until([this] { return work().layering().surfaces() != nullptr; }))
        << (report().error ? report().error->line() : "no error");
    EXPECT_EQ(work().layering().surfaces()->all.size(), 2u);
    EXPECT_FALSE(work().layering().has_unsaved()) << "they are in the file";
    EXPECT_EQ(work().viewer().view_source()->name(), "layered.nrrd") << "the volume stays open";
}

TEST_F(OperationPanel, WrongValueIsRefusedBesideItsField) {
    open_ball();
    choose("attenuation");
    const std::string key = "attenuation.volume";
    double_click(middle_of(key));
    type("-3");
    press("Enter");
    ASSERT_TRUE(report().error.has_value());
    EXPECT_EQ(report().key, key);
    EXPECT_TRUE(window().place_of(key + ".refused").has_value());
    EXPECT_EQ(form().operation->field(key)->get(), Value(std::int64_t{0}));
    keep("refused");
    operating().set(form(), key, std::int64_t{1});
    look();
    EXPECT_FALSE(window().place_of(key + ".refused").has_value());
}

TEST_F(OperationPanel, RefusalOfRunIsBesideItsField) {
    open_ball();
    choose("attenuation");
    click(middle_of("operation.run"));
    ASSERT_TRUE(turn_until([this] { return report().error.has_value(); }));
    EXPECT_EQ(report().key, "attenuation.output") << report().error->line();
    look();
    EXPECT_TRUE(window().place_of("attenuation.output.refused").has_value());
    operating().set_file(form(), "output", 0, (folder() / "ball.nrrd").string());
    operating().run();
    ASSERT_TRUE(report().error.has_value()) << "the displayed volume would be lost";
    EXPECT_EQ(report().key, "attenuation.output");
    operating().set_file(form(), "output", 0, output().string());
    operating().set_file(form(), "input", 0, (folder() / "missing.nrrd").string());
    operating().run();
    ASSERT_TRUE(turn_until([this] { return report().error.has_value(); }));
    EXPECT_EQ(report().key, "attenuation.input") << report().error->line();
}

TEST_F(OperationPanel, RunningSourceStaysOpen) {
    open_ball();
    ASSERT_TRUE(open_simulator());
    choose("filter");
    operating().set(form(), "filter.method", std::string("median"));
    operating().set(form(), "filter.stored_as", std::string("db"));
    operating().set_file(form(), "input", 0, (folder() / "ball.nrrd").string());
    name_output();
    operating().run();
    ASSERT_TRUE(run_ends());
    ASSERT_TRUE(report().is_complete) << (report().error ? report().error->line() : "");
    turns(5);
    EXPECT_TRUE(work().viewer().live() != nullptr && work().viewer().live()->is_running());
    EXPECT_TRUE(std::filesystem::exists(output()));
}

// Browsers that may steer use the panel too.
TEST_F(OperationPanel, PresetsOfOtherFoldersAreNotRead) {
    open_ball();
    choose("segment");
    const auto request = std::make_shared<UserRequest>();
    request->folders = std::make_shared<const AllowedFolders>(std::vector{folder().path()});
    work().jobs().belong(request, [this] { operating().set(form(), "segment.preset", std::string("/etc/gone.toml")); });
    ASSERT_TRUE(report().error.has_value());
    EXPECT_NE(report().error->line().find("outside the folders"), std::string::npos) << report().error->line();
    EXPECT_EQ(report().key, "segment.preset");
    EXPECT_TRUE(form().values.empty());
}

TEST_F(OperationPanel, RunIsCancelled) {
    open_ball();
    ASSERT_NO_FATAL_FAILURE(start_slow_run());
    operating().run();
    EXPECT_EQ(work().jobs().states().size(), 1u) << "one at a time";
    click(middle_of("operation.cancel"));
    ASSERT_TRUE(run_ends());
    EXPECT_FALSE(report().is_complete);
    EXPECT_FALSE(report().error.has_value());
    EXPECT_FALSE(std::filesystem::exists(output()));
}

TEST_F(OperationPanel, KeepsItsLayoutWhenStateChanges) {
    open_ball();
    choose("filter");
    operating().set(form(), "filter.method", std::string("median"));
    operating().set(form(), "filter.stored_as", std::string("db"));
    form().options.opens_result = false;
    name_output();
    const auto begin = window().places();
    const auto expect_still = [&](const std::string& after) {
        look();
        for (const auto& [name, place] : begin) {
            if (name.starts_with("notice") || name.starts_with("job.")) continue;
            EXPECT_EQ(window().place_of(name), place) << name << " after " << after;
        }
    };
    operating().run();
    expect_still("the start");
    ASSERT_TRUE(run_ends());
    ASSERT_TRUE(report().is_complete) << (report().error ? report().error->line() : "");
    expect_still("the end");
    operating().refuse(form(), Error(ErrorCode::bad_setting, "is wrong", "filter.output", "name another"));
    expect_still("a refusal");
}

TEST_F(OperationPanel, DefaultOfScanSettingIsThatOfItsFile) {
    open_ball();
    choose("reconstruct");
    const std::string key = "recipe.window";
    const Value before = form().operation->field(key)->default_value;
    operating().set(form(), key, std::string("tukey"));
    ASSERT_FALSE(report().error.has_value()) << report().error->line();
    EXPECT_EQ(form().operation->field(key)->get(), Value(std::string("tukey")));
    operating().set(form(), key, before);
    EXPECT_TRUE(form().values.empty());
    operating().set(form(), key, std::string("nothing of that name"));
    ASSERT_TRUE(report().error.has_value());
    EXPECT_EQ(report().key, key);
}

}  // namespace
}  // namespace echolux::test
