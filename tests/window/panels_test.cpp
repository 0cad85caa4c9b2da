// Panels without a window: everything is drawn inside them at every width and scale, and changing a control changes the
// workspace in one undoable step.
#include "ui/panels/panel.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "engine/io/image_format.h"
#include "ui/window/theme.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

struct Spot {
    float x, y;
};

class PanelsTest : public WorkspaceTest {
  protected:
    void SetUp() override {
        WorkspaceTest::SetUp();
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
        load(1, 320);
        panels_ = make_panels();
    }
    void TearDown() override {
        panels_.clear();
        ImGui::DestroyContext();
        WorkspaceTest::TearDown();
    }

    void load(float scale, float width) {
        style_.scale = scale;
        load_fonts(style_);
        apply_theme(style_);
        ImGui::GetIO().Fonts->Build();
        width_ = width * scale;
    }

    // Draws frames with all panels, one below the other. Opens all sections if `opens_all`.
    void frames(int count = 1, bool opens_all = false) {
        for (int i = 0; i < count; ++i) {
            double now_s = work().now_s();
            turn(work(), now_s);
            ImGuiIO& io = ImGui::GetIO();
            io.DisplaySize = {width_, 12000};
            io.DeltaTime = 0.05f;
            ImGui::NewFrame();
            state_.controls.places.clear();
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize(io.DisplaySize);
            ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {margin(), margin()});
            ImGui::Begin("panels", nullptr,
                         ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav);
            ImGui::PopStyleVar();
            for (const auto& panel : panels_) {
                if (!panel->is_available(work())) continue;
                ImGui::PushID(panel->id().data());
                if (opens_all) ImGui::GetStateStorage()->SetAllInt(1);
                panel->draw({work(), style_, state_});
                ImGui::PopID();
            }
            ImGui::End();
            ImGui::Render();
        }
    }

    // Loads the volume and waits until its histogram is known and the panels are at rest.
    void open_counted_volume() {
        open_volume();
        EXPECT_TRUE(until([this] { return work().viewer().view_source()->histogram().has_value(); }));
        frames(3);
    }

    float margin() const { return style_.px(8); }
    bool is_seen(const std::string& name) const { return state_.controls.places.contains(name); }
    Spot at(const std::string& name, float across = 0.5f) const {
        const auto found = state_.controls.places.find(name);
        if (found == state_.controls.places.end()) {
            ADD_FAILURE() << name << " is not there";
            return {0, 0};
        }
        const auto& [left, top, right, bottom] = found->second;
        return {std::lerp(left, right, across), 0.5f * (top + bottom)};
    }

    void move(Spot to) {
        ImGui::GetIO().MousePos = {to.x, to.y};
        frames();
    }
    void button(bool is_down, int which = 0) {
        ImGui::GetIO().MouseDown[which] = is_down;
        frames();
    }
    void click(Spot where, int which = 0) {
        move(where);
        button(true, which);
        button(false, which);
        frames(10);  // the next click does not make it a double click
    }
    void double_click(Spot where) {
        move(where);
        for (int i = 0; i < 2; ++i) {
            button(true);
            button(false);
        }
        frames(4);
    }
    void drag(Spot from, Spot to) {
        move(from);
        button(true);
        move({0.5f * (from.x + to.x), 0.5f * (from.y + to.y)});
        move(to);
        button(false);
        frames(10);
    }
    void type(const std::string& text, int key = ImGuiKey_Enter) {
        for (const char c : text) {
            ImGui::GetIO().AddInputCharacter(static_cast<unsigned int>(c));
            frames();
        }
        ImGui::GetIO().KeysDown[key] = true;
        frames();
        ImGui::GetIO().KeysDown[key] = false;
        frames(2);
    }

    // Expects every control to be inside the panel.
    void expect_inside() {
        EXPECT_GT(state_.controls.places.size(), 5u);
        for (const auto& [name, place] : state_.controls.places) {
            EXPECT_GE(place[0], margin() - 0.5f) << name;
            EXPECT_LE(place[2], width_ - margin() + 0.5f) << name;
            EXPECT_LT(place[0], place[2]) << name;
        }
    }

    std::vector<std::unique_ptr<Panel>> panels_;
    Style style_;
    PanelState state_;
    float width_ = 320;
};

TEST_F(PanelsTest, SlowFitsAtAnyWidthAndScale) {
    frames(3);
    expect_inside();  // nothing is open
    open_source();
    work().change("flow.method", std::string("doppler"));
    settle();
    for (const float scale : {1.0f, 1.5f, 2.0f}) {
        for (const float width : {250.0f, 320.0f, 500.0f}) {
            SCOPED_TRACE(testing::Message() << width << " at scale " << scale);
            load(scale, width);
            frames(3, true);
            // The time line is laid out for the width of the whole window.
            std::erase_if(state_.controls.places,
                          [](const auto& entry) { return entry.first.starts_with("timeline."); });
            expect_inside();
        }
    }
    EXPECT_EQ(standing("flow") + standing("view") + standing("recipe"), "");  // a loaded machine may lose blocks
}

TEST_F(PanelsTest, UnitsEndBeforeResetButtons) {
    open_source();
    for (const auto& [key, value] : Values{{"window.record_volumes", std::int64_t{20}},
                                           {"window.record_s", 30.0},
                                           {"view.azimuth_deg", 12.0},
                                           {"recipe.depth_samples", std::int64_t{512}}})
        work().change(key, value);
    int compared = 0;
    for (const float width : {250.0f, 320.0f}) {
        load(1, width);
        frames(3, true);
        for (const auto& [name, place] : state_.controls.places) {
            if (!name.ends_with(".unit")) continue;
            const auto reset = state_.controls.places.find(name.substr(0, name.size() - 5) + ".reset");
            if (reset == state_.controls.places.end()) continue;
            EXPECT_LE(place[2], reset->second[0]) << name << " at " << width;
            ++compared;
        }
    }
    EXPECT_GE(compared, 4);
}

TEST_F(PanelsTest, EmptyPlotsAndMapsNameNextStep) {
    open_volume();
    frames(3, true);
    for (const char* name : {"plot.profile", "plot.shifts", "plot.quality", "layers.thickness"}) {
        ASSERT_TRUE(is_seen(name)) << name;
        ASSERT_TRUE(is_seen(name + std::string(".empty"))) << name;
        const auto& area = state_.controls.places[name];
        const auto& text = state_.controls.places[name + std::string(".empty")];
        EXPECT_GE(text[0], area[0]) << name;
        EXPECT_LE(text[2], area[2]) << name;
        EXPECT_LE(text[3], area[3]) << name;
    }
}

TEST_F(PanelsTest, HidesPanelsWithoutMeaning) {
    const auto there = [this] {
        std::string ids;
        for (const auto& panel : panels_) ids += panel->is_available(work()) ? std::string(panel->id()) + " " : "";
        return ids;
    };
    EXPECT_EQ(there(), "source statistics log operations ");
    open_volume();
    EXPECT_EQ(there(),
              "source statistics log layers view transfer measure stabilise filters surfaces export operations ");
    work().close();
    open_source();
    EXPECT_EQ(there(),
              "source processing statistics log flow layers view transfer measure stabilise filters surfaces export "
              "operations time ");
}

TEST_F(PanelsTest, DraggedNumberIsOneStepOfUndo) {
    open_counted_volume();
    const double before = work().view().opacity;
    drag(at("view.opacity", 0.3f), at("view.opacity", 0.8f));
    EXPECT_GT(work().view().opacity, 2 * before) << "by decades";
    EXPECT_TRUE(is_seen("view.opacity.reset"));
    work().undo();
    EXPECT_EQ(work().view().opacity, before);
    EXPECT_FALSE(work().history().can_undo());
    frames(2);
    EXPECT_FALSE(is_seen("view.opacity.reset")) << "it is at its default";
}

TEST_F(PanelsTest, ShowsOnlySettingsWithEffect) {
    open_counted_volume();
    EXPECT_TRUE(is_seen("filter.patch"));
    EXPECT_FALSE(is_seen("filter.median_size"));
    work().change("filter.method", std::string("median"));
    frames(2);
    EXPECT_FALSE(is_seen("filter.patch"));
    EXPECT_TRUE(is_seen("filter.median_size"));
}

TEST_F(PanelsTest, OddNumbersStayOdd) {
    open_counted_volume();
    double_click(at("filter.patch"));
    type("6");
    EXPECT_EQ(work().settings().tissue().filter.patch, 7);
}

TEST_F(PanelsTest, DoubleClickTypesWithoutChange) {
    open_counted_volume();
    double_click(at("view.opacity", 0.9f));
    EXPECT_EQ(work().view().opacity, 1);
    EXPECT_FALSE(work().history().can_undo());
    type("2.5");
    EXPECT_EQ(work().view().opacity, 2.5);
    double_click(at("view.opacity"));
    type("7", ImGuiKey_Escape);
    EXPECT_EQ(work().view().opacity, 2.5) << "Esc gives up";
    double_click(at("view.opacity"));
    type("-3");
    EXPECT_EQ(work().view().opacity, 2.5) << "out of its range";
    EXPECT_THAT(standing("view"), testing::HasSubstr("view.opacity"));
    click(at("view.opacity.reset"));
    EXPECT_EQ(work().view().opacity, 1);
}

TEST_F(PanelsTest, EscCancelsDrag) {
    open_counted_volume();
    move(at("view.opacity", 0.3f));
    button(true);
    move(at("view.opacity", 0.7f));
    EXPECT_NE(work().view().opacity, 1);
    ImGui::GetIO().KeysDown[ImGuiKey_Escape] = true;
    frames();
    ImGui::GetIO().KeysDown[ImGuiKey_Escape] = false;
    EXPECT_EQ(work().view().opacity, 1);
    move(at("view.opacity", 0.9f));
    button(false);
    EXPECT_EQ(work().view().opacity, 1);
}

TEST_F(PanelsTest, AutomaticValuesAreShownAndTyped) {
    open_counted_volume();
    ASSERT_EQ(work().view().low, lowest_value);
    drag(at("view.low", 0.4f), at("view.low", 0.5f));
    EXPECT_GT(work().view().low, -100) << "begins where the range was";
    EXPECT_LT(work().view().low, 100);
    double_click(at("view.low"));
    type("auto");
    EXPECT_EQ(work().view().low, lowest_value);
}

TEST_F(PanelsTest, ChangesChoicesAndSwitches) {
    open_counted_volume();
    click(at("view.mode"));
    click(at("view.mode=mip"));
    EXPECT_EQ(work().view().mode, ViewMode::mip);
    frames(3, true);
    click(at("view.box", 0.1f));
    EXPECT_FALSE(work().view().box);
    click(at("view.look=top"));
    EXPECT_EQ(work().view().look, Look::top);
}

TEST_F(PanelsTest, CurvePointsAreAddedDraggedAndRemoved) {
    open_counted_volume();
    const std::size_t points = work().viewer().renderer().transfer_function(work().view()).nodes.size();
    const Spot curve = at("transfer.curve", 0.5f);
    const Spot empty{curve.x, curve.y - 50};
    double_click(empty);
    ASSERT_TRUE(work().view().transfer_curve);
    ASSERT_EQ(work().view().transfer_curve->nodes.size(), points + 1);
    const TransferCurve added = *work().view().transfer_curve;
    EXPECT_TRUE(is_seen("transfer.point.value")) << "it is selected";

    drag(empty, {empty.x + 10, empty.y + 30});
    const TransferCurve moved = *work().view().transfer_curve;
    EXPECT_EQ(moved.nodes.size(), points + 1);
    EXPECT_FALSE(moved == added);
    work().undo();
    EXPECT_EQ(work().view().transfer_curve->nodes, added.nodes) << "one step";
    frames(2);

    click(empty, 1);
    EXPECT_EQ(work().view().transfer_curve->nodes.size(), points);
    click(at("transfer.back"));
    EXPECT_FALSE(work().view().transfer_curve) << "the preset again";
}

TEST_F(PanelsTest, PointsAreAddedBeyondEndsOfCurve) {
    open_counted_volume();
    work().change("view.high", 20.0);
    frames(3);
    const auto [left, top, right, bottom] = state_.controls.places.at("transfer.curve");
    double_click({right - 4, top + 30});
    ASSERT_TRUE(work().view().transfer_curve);
    EXPECT_GT(work().view().transfer_curve->nodes.back().value, 21);
    EXPECT_EQ(work().view().high, highest_value) << "the curve has its own ends now";
    EXPECT_TRUE(is_seen("transfer.point.value"));
}

TEST_F(PanelsTest, RangeIsDraggedBelowCurve) {
    open_counted_volume();
    const TransferFunction function = work().viewer().renderer().transfer_function(work().view());
    const auto place = state_.controls.places.at("transfer.curve");
    // The automatic curve of dB goes from 3 to 40. The handle of its upper end is close to the end of the volume's
    // values.
    ASSERT_EQ(function.range.high, 40);
    Spot hand{place[0], place[3] - 18};
    for (float x = place[2]; x > place[0] && work().view().high == highest_value; x -= 8) {
        drag({x, hand.y}, {x - 30, hand.y});
    }
    EXPECT_LT(work().view().high, 40);
    EXPECT_GT(work().view().high, 3);
    EXPECT_EQ(work().view().low, lowest_value);
}

TEST_F(PanelsTest, MeasuringUsesPositionsFromPanes) {
    open_counted_volume();
    click(at("measure.distance"));
    ASSERT_EQ(state_.measure.kind(), MeasureTool::Kind::distance);
    Probe probe;
    state_.measure.take(work(), probe);
    EXPECT_TRUE(work().view().distances.empty());
    probe.place_um = {30, 40, 0};
    state_.measure.take(work(), probe);
    EXPECT_EQ(work().view().distances, (std::vector<double>{0, 0, 0, 30, 40, 0}));
    frames(2);
    click(at("measure.copy"));
    EXPECT_THAT(std::string(ImGui::GetClipboardText()), testing::HasSubstr("distance,50,um"));
    click(at("view.distances.remove[0]"));
    EXPECT_TRUE(work().view().distances.empty());
    work().undo();
    EXPECT_EQ(work().view().distances.size(), 6u);
}

TEST_F(PanelsTest, RecordingIsStartedAndEndedByItsButton) {
    open_source();
    work().change("window.record_folder", (folder() / "recordings").string());
    std::filesystem::create_directories(folder() / "recordings");
    frames(3);
    LiveController& live = *work().viewer().view_source()->live();
    click(at("source.record"));
    ASSERT_TRUE(until([&] {
        return live.is_recording() && live.stats().recorder && live.stats().recorder->blocks > 2;
    })) << troubles();
    frames(2);
    click(at("source.record"));
    EXPECT_TRUE(until([&] { return !live.is_recording(); })) << troubles();  // queued blocks are written first
    bool has_scan = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder() / "recordings")) {
        has_scan = has_scan || entry.path().extension() == ".toml";
    }
    EXPECT_TRUE(has_scan);
}

TEST_F(PanelsTest, TimeBarFollowsDrag) {
    std::filesystem::create_directories(folder() / "series");
    for (int step = 0; step < 5; ++step) volume_file("series/ball_" + std::to_string(step) + ".nii");
    work().open(folder() / "series");
    settle();
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    load(1, 700);
    frames(3);
    Timeline& time = *work().viewer().view_source()->timeline();
    ASSERT_EQ(time.steps(), 5);
    click(at("time.bar", 0.7f));
    EXPECT_EQ(time.step(), 3);
    drag(at("time.bar", 0.7f), at("time.bar", 0.1f));
    EXPECT_EQ(time.step(), 0);
    drag(at("time.bar", 0.999f), at("time.bar", 0.5f));
    EXPECT_EQ(time.last(), 2) << "the end, where playing ends";
    click(at("timeline.next"));
    EXPECT_EQ(time.step(), 1);
    click(at("timeline.last"));
    EXPECT_EQ(time.step(), 2);
    double_click(at("time.speed"));
    type("4");
    EXPECT_EQ(time.speed(), 4);
    expect_inside();
}

TEST_F(PanelsTest, WindowHandlesFileRequests) {
    open_counted_volume();
    click(at("export.volume"));
    ASSERT_TRUE(state_.file_request);
    EXPECT_EQ(state_.file_request->kind, FileRequest::Kind::save);
    EXPECT_EQ(state_.file_request->suggested, "ball.nrrd");
    EXPECT_THAT(state_.file_request->endings, testing::IsSupersetOf({".nrrd", ".nii.gz", ".npy", ".mha"}))
        << "all that are written";
    for (const std::string& ending : state_.file_request->endings) {
        EXPECT_NE(image_format_of("name" + ending), nullptr) << ending;
    }
    state_.file_request->chosen(folder() / "kept.nrrd");
    settle();
    EXPECT_EQ(read_volume(folder() / "kept.nrrd").grid.voxels(), 24 * 20 * 16) << troubles();
    const FileRequest of_volume = *state_.file_request;
    work().change_together("view", {{"view.width", std::int64_t{40}}, {"view.height", std::int64_t{30}}});
    frames(3);
    click(at("export.picture"));
    EXPECT_EQ(state_.file_request->endings, (std::vector<std::string>{".png", ".tif", ".tiff"}));
    state_.file_request->chosen(folder() / "kept.tif");
    settle();
    EXPECT_TRUE(std::filesystem::exists(folder() / "kept.tif")) << troubles();
    of_volume.chosen(folder() / "kept.xyz");
    settle();
    EXPECT_NE(standing("export"), "") << "no format of that name";
}

}  // namespace
}  // namespace echolux::test
