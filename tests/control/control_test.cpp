// Steering a workspace by requests: order of answers, access rights, atomic changes of several settings, notifications,
// voxels and pictures.
#include "ui/control/control.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "app/jobs/jobs.h"
#include "app/operations/operation.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "controlled_test.h"
#include "listener.h"
#include "tests/support/volumes.h"
#include "ui/control/methods.h"
#include "ui/control/operation_methods.h"
#include "ui/workspace/calibrating.h"

namespace echolux::test {
namespace {

using Json = nlohmann::json;

class ControlTest : public ControlledTest {
  protected:
    static std::string request(const std::string& method, const Json& params = Json::object(), const Json& id = 1) {
        return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
    }

    // Returns the whole answer, with its result or error.
    Json ask(const std::string& method, const Json& params = Json::object()) { return ask(*client_, method, params); }
    Json ask(Listener& client, const std::string& method, const Json& params) {
        client.heard.clear();
        control().handle(std::shared_ptr<Connection>(std::shared_ptr<void>(), &client), request(method, params, 77));
        Json answer;
        const bool is_answered = until([&] {
            control().update();
            for (const Json& one : client.heard) {
                if (one.contains("id")) answer = one;
            }
            return !answer.is_null();
        });
        EXPECT_TRUE(is_answered) << method;
        EXPECT_EQ(answer["id"], 77);
        return answer;
    }
    Json result(const std::string& method, const Json& params = Json::object()) {
        const Json answer = ask(method, params);
        EXPECT_TRUE(answer.contains("result")) << answer;
        return answer.value("result", Json::object());
    }
    std::string refusal(const std::string& method, const Json& params = Json::object()) {
        const Json answer = ask(method, params);
        EXPECT_TRUE(answer.contains("error")) << answer;
        const Json error = answer.value("error", Json::object());
        EXPECT_FALSE(error["data"]["what"].get<std::string>().empty());
        return error["data"]["code"].get<std::string>() + ": " + error["message"].get<std::string>();
    }

    std::shared_ptr<Listener> client_ = std::make_shared<Listener>();

  private:
};

TEST_F(ControlTest, SettingsAreSetAndReadBack) {
    EXPECT_EQ(result("set", {{"values", {{"view.mode", "mip"}, {"view.zoom", 2}}}})["values"]["view.mode"], "mip");
    EXPECT_EQ(result("get", {{"keys", {"view.mode", "view.zoom"}}})["values"],
              (Json{{"view.mode", "mip"}, {"view.zoom", 2.0}}));
    EXPECT_EQ(value("view.mode"), Value(std::string("mip")));
    EXPECT_GT(result("get")["values"].size(), 200U);
    EXPECT_GT(result("get", {{"keys", "view"}})["values"].size(), 20U);
}

TEST_F(ControlTest, OneInvalidValueRejectsAll) {
    const Json before = result("get", {{"keys", {"view.mode"}}});
    const std::string reason = refusal("set", {{"values", {{"view.mode", "mip"}, {"view.zoom", -5}}}});
    EXPECT_NE(reason.find("bad_setting: view.zoom"), std::string::npos) << reason;
    EXPECT_EQ(result("get", {{"keys", {"view.mode"}}}), before);
}

TEST_F(ControlTest, SuggestsNearestName) {
    EXPECT_NE(refusal("set", {{"values", {{"view.mod", "mip"}}}}).find("did you mean \"view.mode\""),
              std::string::npos);
    EXPECT_NE(refusal("get", {{"keys", {"view.mod"}}}).find("view.mode"), std::string::npos);
    EXPECT_NE(refusal("snapshoot").find("did you mean \"snapshot\""), std::string::npos);
    EXPECT_NE(refusal("action", {{"name", "edit.und"}}).find("edit.undo"), std::string::npos);
    EXPECT_NE(refusal("subscribe", {{"topics", {"state", "setings"}}}).find("did you mean \"settings\""),
              std::string::npos);
}

TEST_F(ControlTest, EveryMethodHasTableRow) {
    std::set<RpcMethod> rows;
    std::set<std::string_view> names;
    for (const ControlMethod& method : control_methods()) {
        rows.insert(method.method);
        names.insert(method.name);
    }
    EXPECT_EQ(rows.size(), static_cast<std::size_t>(RpcMethod::shutdown) + 1);
    EXPECT_EQ(names.size(), control_methods().size());
}

TEST_F(ControlTest, RejectedRequestsChangeNoState) {
    EXPECT_NE(refusal("subscribe", {{"topics", {"settings"}}, {"every_s", -1}}).find("every_s"), std::string::npos);
    EXPECT_EQ(result("subscribe", {{"topics", {"state"}}})["topics"], (Json{"state"}));
    const auto displacement = [this] {
        for (const BoundField& field : work().calibrating().fields()) {
            if (field.key() == "mirrors.displacement_um") return std::get<double>(field.get());
        }
        return -1.;
    };
    const double before = displacement();
    const Json values{{"mirrors.displacement_um", before + 100}, {"mirrors.nonsense", 1}};
    EXPECT_NE(refusal("calibrate", {{"step", "apply"}, {"values", values}}).find("nonsense"), std::string::npos);
    const Json one{{"step", "dark"}, {"values", {{"mirrors.displacement_um", before + 100}}}};
    EXPECT_NE(refusal("calibrate", one).find("no raw spectra"), std::string::npos);
    EXPECT_EQ(displacement(), before);
}

TEST_F(ControlTest, HidesRecentFilesOfOtherFolders) {
    std::filesystem::create_directory(folder() / "lent");
    volume_file("ball.nii");
    result("open", {{"file", "ball.nii"}});
    EXPECT_EQ(work().recent().size(), 1U);
    work().limit_to(std::make_shared<AllowedFolders>(std::vector{folder() / "lent"}), "", {});
    EXPECT_TRUE(work().recent().empty());
    work().limit_to(std::make_shared<AllowedFolders>(std::vector{folder() / "lent"}), "", {folder() / "ball.nii"});
    EXPECT_EQ(work().recent().size(), 1U);
}

TEST_F(ControlTest, WatchersCannotChangeState) {
    Listener watcher(9, false);
    for (const ControlMethod& method : control_methods()) {
        if (method.right != RequiredRight::steer) continue;
        const Json answer = ask(watcher, std::string(method.name), Json::object());
        EXPECT_EQ(answer["error"]["data"]["code"], "not_allowed") << method.name;
    }
    EXPECT_TRUE(ask(watcher, "state", Json::object())["result"]["may_steer"] == false);
}

TEST_F(ControlTest, MergesFastSettingsAndAnswersAll) {
    for (int i = 1; i <= 100; ++i) {
        control().handle(client_, request("set", {{"values", {{"view.zoom", 1 + i / 100.0}}}}, i));
    }
    EXPECT_TRUE(client_->heard.empty());
    control().update();
    ASSERT_EQ(client_->heard.size(), 100U);
    for (int i = 1; i <= 100; ++i) {
        const Json& answer = client_->heard[index(i - 1)];
        EXPECT_EQ(answer["id"], i);
        EXPECT_EQ(answer["result"]["values"]["view.zoom"], 2.0);  // the value in effect
    }
}

TEST_F(ControlTest, InvalidRequestKeepsOthers) {
    control().handle(client_, request("set", {{"values", {{"view.zoom", 3}}}}, 1));
    control().handle(client_, request("set", {{"values", {{"view.zoom", "much"}}}}, 2));
    control().handle(client_, request("get", {{"keys", {"view.zoom"}}}, 3));
    control().update();
    ASSERT_EQ(client_->heard.size(), 3U);
    EXPECT_EQ(client_->heard[0]["result"]["values"]["view.zoom"], 3.0);
    EXPECT_EQ(client_->heard[1]["error"]["data"]["where"], "view.zoom");
    EXPECT_EQ(client_->heard[2]["result"]["values"]["view.zoom"], 3.0);
}

// Long answers are spread over several turns so that pictures are drawn in between.
TEST_F(ControlTest, LimitsTimePerTurn) {
    for (const char* method : {"describe", "get"}) {
        client_->heard.clear();
        for (int i = 0; i < 300; ++i) control().handle(client_, request(method, Json::object(), i));
        control().update();
        EXPECT_LT(client_->heard.size(), 300U) << method;
        EXPECT_GT(client_->heard.size(), 0U) << method;
        const auto all = [&] {
            control().update();
            return client_->heard.size() == 300U;
        };
        EXPECT_TRUE(until(all)) << method;
    }
}

TEST_F(ControlTest, RequestsCountUntilAnswered) {
    auto waiting = std::make_shared<int>(0);
    control().handle(
        client_, R"([{"jsonrpc": "2.0", "id": 1, "method": "state"}, {"jsonrpc": "2.0", "id": 2, "method": "get"}])",
        waiting);
    EXPECT_GT(waiting.use_count(), 1);
    while (waiting.use_count() > 1) control().update();
    EXPECT_EQ(client_->heard.size(), 1U);
}

TEST_F(ControlTest, AnswersBatchesTogetherAndNotificationsNever) {
    control().handle(client_, R"([{"jsonrpc": "2.0", "id": "a", "method": "state"},
        {"jsonrpc": "2.0", "method": "set", "params": {"values": {"view.zoom": 4}}},
        {"jsonrpc": "2.0", "id": "b", "method": "nothing"}, 3])");
    control().update();
    ASSERT_EQ(client_->heard.size(), 1U);
    std::set<std::string> ids;
    for (const Json& one : client_->heard[0]) ids.insert(one["id"].dump());
    EXPECT_EQ(ids, (std::set<std::string>{"\"a\"", "\"b\"", "null"}));
    EXPECT_EQ(value("view.zoom"), Value(4.0));
    client_->heard.clear();
    control().handle(client_, R"([{"jsonrpc": "2.0", "method": "state"}])");
    control().handle(client_, R"({"jsonrpc": "2.0", "method": "nothing"})");
    control().update();
    EXPECT_TRUE(client_->heard.empty());
}

TEST_F(ControlTest, FilesOutsideOfFoldersAreRefused) {
    for (const char* name : {"/etc/passwd", "../elsewhere.nrrd", "a/../../b.nrrd"}) {
        EXPECT_NE(refusal("open", {{"file", name}}).find("outside the folders"), std::string::npos) << name;
    }
    EXPECT_NE(refusal("save", {{"what", "picture"}, {"file", "/tmp/p.png"}}).find("outside"), std::string::npos);
    for (const char* name : {"replay:/etc/passwd", "sim:/etc/scene.toml"}) {
        EXPECT_NE(refusal("open", {{"source", name}}).find("outside"), std::string::npos) << name;
    }
    EXPECT_NE(refusal("open", {{"source", "plugin:a.so"}}).find("cannot be opened remotely"), std::string::npos);
    EXPECT_NE(refusal("open", {{"source", "gentl:a.cti"}}).find("cannot be opened remotely"), std::string::npos);
    EXPECT_NE(refusal("open", {{"source", "sim"}, {"scan", "/etc/scan.toml"}}).find("outside"), std::string::npos);
    EXPECT_NE(refusal("set", {{"values", {{"view.transfer", "/etc/colours.toml"}}}}).find("outside"),
              std::string::npos);
    EXPECT_NE(refusal("open").find("either a file or a source"), std::string::npos);
}

TEST_F(ControlTest, ViewSettingsPersistForNextFile) {
    volume_file("ball.nii");
    volume_file("again.nii");
    result("open", {{"file", "ball.nii"}});
    result("set", {{"values", {{"view.mode", "mip"}, {"view.zoom", 2.0}}}});
    result("open", {{"file", "again.nii"}});
    EXPECT_EQ(work().view().mode, ViewMode::mip);
    EXPECT_EQ(work().view().zoom, 2.0);
    result("open", {{"file", "ball.nii"}, {"values", {{"view.mode", "average"}}}});
    EXPECT_EQ(work().view().mode, ViewMode::average) << "over what was set before";
    EXPECT_EQ(work().view().zoom, 2.0);
}

TEST_F(ControlTest, VolumeIsOpenedReadProbedAndSaved) {
    volume_file("ball.nii");
    const Json state = result("open", {{"file", "ball.nii"}});
    EXPECT_EQ(state["is_open"], true);
    EXPECT_EQ(state["grid"]["shape"], (Json{16, 20, 24}));

    EXPECT_EQ(result("volume")["bytes"], 16 * 20 * 24 * 4);
    EXPECT_EQ(client_->data.size(), 16U * 20 * 24 * 4);
    float voxel = 0;
    const Json a_scan = result("a_scan", {{"a_scan", 3}, {"b_scan", 5}});
    ASSERT_EQ(client_->data.size(), 24U * 4);
    EXPECT_EQ(a_scan["shape"], (Json{24}));
    EXPECT_EQ(a_scan["type"], "f32");
    std::memcpy(&voxel, client_->data.data() + 7 * sizeof voxel, sizeof voxel);
    EXPECT_FLOAT_EQ(voxel, static_cast<float>(40 - 4 * std::hypot(7 - 11.5, 3 - 9.5, 5 - 7.5)));
    const Json b_scan = result("b_scan", {{"b_scan", 5}, {"encoding", "base64"}});
    EXPECT_EQ(b_scan["shape"], (Json{20, 24}));
    EXPECT_EQ(b_scan["data"].get<std::string>().size(), (20U * 24 * 4 + 2) / 3 * 4);
    EXPECT_NE(refusal("b_scan", {{"b_scan", 16}}).find("from 0 to 15, got 16"), std::string::npos);

    const Json there = result("go_to", {{"depth", 11}, {"a_scan", 9}, {"b_scan", 7}});
    EXPECT_NEAR(there["cross_um"][0].get<double>(), -5, 1e-6);
    EXPECT_EQ(result("snapshot", {{"width", 64}, {"height", 48}})["width"], 64);
    ASSERT_GT(client_->data.size(), 100U);
    EXPECT_EQ(std::memcmp(client_->data.data(), "\x89PNG", 4), 0);
    EXPECT_TRUE(result("probe", {{"x", 1}, {"y", 1}}).contains("hit"));

    EXPECT_EQ(result("save", {{"what", "volume"}, {"file", "copy.nrrd"}})["file"], (folder() / "copy.nrrd").string());
    EXPECT_TRUE(std::filesystem::exists(folder() / "copy.nrrd"));
    EXPECT_NE(refusal("save", {{"what", "volume"}, {"file", "copy.nrrd"}}).find("already exists"), std::string::npos);
    EXPECT_EQ(result("close")["is_open"], false);
    EXPECT_NE(refusal("volume").find("nothing is open"), std::string::npos);
}

TEST_F(ControlTest, NamesUnreadableFiles) {
    std::ofstream(folder() / "broken.nrrd") << "NRRD0005\nnonsense\n";
    EXPECT_NE(refusal("open", {{"file", "broken.nrrd"}}).find("broken.nrrd"), std::string::npos);
    EXPECT_NE(refusal("open", {{"file", "gone.nrrd"}}).find("bad_file"), std::string::npos);
}

TEST_F(ControlTest, OperationsTakeOnlyTheirOwnArguments) {
    volume_file("ball.nii");
    const auto reason = [&](const std::string& name, const Json& arguments) {
        return refusal("operation.run", {{"name", name}, {"arguments", arguments}});
    };
    EXPECT_NE(reason("filtr", Json::object()).find("did you mean filter?"), std::string::npos);
    EXPECT_NE(reason("filter", {{"patch", {"3"}}}).find("expected one value"), std::string::npos);
    EXPECT_NE(reason("filter", {{"calibration.k_map=/k", "x"}}).find("is not a key"), std::string::npos);
    const Json both{{"input", {"ball.nii", "ball.nii"}}, {"output", "mean.nrrd"}, {"filter.method", nullptr}};
    EXPECT_EQ(result("operation.run", {{"name", "filter"}, {"arguments", both}})["looks"], 2);
    EXPECT_FALSE(work().viewer().is_open());
}

// A scan in an allowed folder must not lead to files elsewhere.
TEST_F(ControlTest, OperationsKeepToAllowedFolders) {
    volume_file("ball.nii");
    std::ofstream(folder() / "scan.toml") << "[scan]\nfile = \"spectra.raw\"\nsamples = 64\na_scans = 4\n";
    std::filesystem::create_symlink("/etc", folder() / "link");
    const auto reason = [&](const Json& arguments) {
        return refusal("operation.run", {{"name", "filter"}, {"arguments", arguments}});
    };
    for (const char* name : {"/etc/passwd", "../elsewhere.nrrd", "link/passwd"}) {
        EXPECT_NE(reason({{"input", name}, {"output", "o.nrrd"}}).find("outside the folders"), std::string::npos)
            << name;
        EXPECT_NE(reason({{"input", "ball.nii"}, {"output", name}}).find("outside the folders"), std::string::npos);
    }
    for (const char* input : {"scan.toml", "ball.nii", "spectra.h5"}) {
        const Json named{{"input", input}, {"output", "o.nrrd"}, {"calibration.background", "/etc/passwd"}};
        EXPECT_NE(reason(named).find("outside the folders"), std::string::npos) << input;
    }
    std::ofstream(folder() / "scan.toml", std::ios::app) << "[calibration]\nbackground = \"../elsewhere.csv\"\n";
    EXPECT_NE(reason({{"input", "scan.toml"}, {"output", "o.nrrd"}}).find("outside the folders"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder() / "o.nrrd"));
}

// Curves of channels and parts of a movie's path are parts of a text.
TEST_F(ControlTest, RenderReadsNoFilesOfOtherFolders) {
    volume_file("ball.nii");
    const auto reason = [&](const char* key, const char* value) {
        const Json arguments{{"input", "ball.nii"}, {"output", "p.png"}, {key, value}};
        return refusal("operation.run", {{"name", "render"}, {"arguments", arguments}});
    };
    for (const char* channel : {"ball.nii:/etc/gone.toml", "ball.nii:../gone.toml", "../gone.nii", "/etc/gone.nii:hot"})
        EXPECT_NE(reason("channel", channel).find("outside the folders"), std::string::npos) << channel;
    EXPECT_NE(reason("path", "turntable+/etc/gone.toml").find("outside the folders"), std::string::npos);
    EXPECT_NE(reason("view", "/etc/gone.toml").find("outside the folders"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder() / "p.png"));
}

// Names of key frames in a path are relative to the first allowed folder, like other names.
TEST_F(ControlTest, MoviePathJoinsKeyFramesOfAllowedFolders) {
    volume_file("ball.nii");
    const Json arguments{
        {"input", "ball.nii"}, {"movie", "m.gif"}, {"path", "turntable+gone.toml"}, {"frames", 2}, {"size", "16x16"}};
    const std::string reason = refusal("operation.run", {{"name", "render"}, {"arguments", arguments}});
    EXPECT_NE(reason.find((folder() / "gone.toml").string()), std::string::npos) << reason;
    EXPECT_EQ(reason.find("is not a movie path"), std::string::npos) << reason;
}

TEST_F(ControlTest, OperationsKeepDisplayedFiles) {
    volume_file("ball.nii");
    result("open", {{"file", "ball.nii"}});
    volume_file("other.nii");
    const Json arguments{{"input", "other.nii"}, {"output", "ball.nii"}};
    const std::string reason =
        refusal("operation.run", {{"name", "filter"}, {"arguments", arguments}, {"overwrite", true}});
    EXPECT_NE(reason.find("would overwrite an input"), std::string::npos) << reason;
}

TEST_F(ControlTest, LimitsNumberOfRunningOperations) {
    volume_file("ball.nii");
    Jobs jobs;
    RunningOperations running(jobs, 2);
    const auto start = [&](const std::string& output) {
        const std::shared_ptr<Operation> operation = operation_named("filter").make();
        operation->set_text("input", (folder() / "ball.nii").string());
        operation->set_text("output", (folder() / output).string());
        running.start(operation, {}, false, std::make_shared<nlohmann::ordered_json>());
    };
    start("a.nrrd");
    start("b.nrrd");
    EXPECT_THAT([&] { start("c.nrrd"); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("2 operations run already")));
    jobs.finish();
    start("c.nrrd");
    jobs.finish();
    EXPECT_TRUE(std::filesystem::exists(folder() / "c.nrrd"));
}

// A text that is read as a file, but not described as one, would let clients read files elsewhere.
TEST_F(ControlTest, OperationsReadNoFileThatIsNotDescribed) {
    for (const OperationInfo* info : operations()) {
        const std::unique_ptr<Operation> operation = info->make();
        for (const BoundField& field : operation->settings().fields()) {
            if (!std::holds_alternative<std::string>(field.default_value) || !field.choices.empty()) continue;
            const Json arguments{{field.key(), "/etc/gone.toml"}};
            const std::string reason =
                refusal("operation.run", {{"name", std::string(info->name)}, {"arguments", arguments}});
            const bool is_read =
                reason.find("bad_file") != std::string::npos && reason.find("gone") != std::string::npos;
            EXPECT_FALSE(is_read) << field.key() << ": " << reason;
            EXPECT_EQ(names_files(field), reason.find("outside the folders") != std::string::npos) << field.key();
        }
    }
}

TEST_F(ControlTest, ReproducesNoPicturesOfOtherFolders) {
    std::filesystem::create_directory(folder() / "lent");
    volume_file("ball.nii");
    const Json drawn{{"input", "ball.nii"}, {"output", "lent/p.png"}, {"size", "24x24"}};
    result("operation.run", {{"name", "render"}, {"arguments", drawn}});
    Control limited(work(), {std::make_shared<AllowedFolders>(std::vector{folder() / "lent"})});
    client_->heard.clear();
    const Json arguments{{"picture", "p.png"}, {"output", "again.png"}};
    limited.handle(client_, request("operation.run", {{"name", "reproduce"}, {"arguments", arguments}}));
    ASSERT_TRUE(until([&] {
        limited.update();
        return !client_->heard.empty();
    }));
    EXPECT_NE(client_->heard[0]["error"]["message"].dump().find("outside the folders"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder() / "lent/again.png"));
}

TEST_F(ControlTest, OperationsAreCancelledByJob) {
    Volume large = make_volume({.depth = 256, .a_scans = 256, .b_scans = 128, .quantity = "db"});
    large.voxels.resize(index(large.grid.b_scan_bytes() * large.grid.b_scans));
    write_volume(folder() / "large.nrrd", large);
    EXPECT_EQ(result("operation.cancel")["jobs"], Json::array());
    EXPECT_NE(refusal("operation.cancel", {{"job", 12345}}).find("is not a running operation"), std::string::npos);
    Listener other(2);
    const Json arguments{{"input", "large.nrrd"}, {"output", "o.nrrd"}, {"search_depth", 21}};
    control().handle(client_, request("operation.run", {{"name", "filter"}, {"arguments", arguments}}));
    const auto progress = [&] { return ask(other, "state", Json::object())["result"]["jobs"].dump(); };
    EXPECT_TRUE(until([&] { return progress().find("\"task\":\"filter\"") != std::string::npos; })) << progress();
    const Json jobs = ask(other, "state", Json::object())["result"]["jobs"];
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs[0]["title"], "filter");
    EXPECT_EQ(ask(other, "operation.cancel", {{"job", jobs[0]["id"]}})["result"]["jobs"], (Json{jobs[0]["id"]}));
    client_->heard.clear();
    ASSERT_TRUE(until([&] {
        control().update();
        return !client_->heard.empty();
    }));
    EXPECT_EQ(client_->heard[0]["error"]["data"]["code"], "cancelled");
    EXPECT_FALSE(std::filesystem::exists(folder() / "o.nrrd"));
}

TEST_F(ControlTest, LiveSourceIsStartedRecordedAndStopped) {
    EXPECT_NE(refusal("start").find("no live source"), std::string::npos);
    const Json opened = result("open", {{"source", "sim:vessel"},
                                        {"values",
                                         {{"simulation.samples", 128},
                                          {"simulation.a_scans", 24},
                                          {"simulation.b_scans", 12},
                                          {"simulation.line_rate_hz", 2000}}}});
    EXPECT_EQ(opened["is_live"], true);
    EXPECT_EQ(result("stop")["is_running"], false);  // opening started the session
    EXPECT_EQ(result("start")["is_running"], true);
    EXPECT_EQ(result("record", {{"file", "r.toml"}})["file"], (folder() / "r.toml").string());
    EXPECT_GT(result("volume")["bytes"], 0);
    EXPECT_NE(refusal("stop").find("stop_recording"), std::string::npos);
    const auto has_recorded = [this] {
        const std::optional<RecorderStats> stats = work().viewer().live()->stats().recorder;
        return stats && stats->blocks > 0;
    };
    EXPECT_TRUE(until(has_recorded));
    EXPECT_EQ(result("stop_recording")["file"], (folder() / "r.toml").string());
    EXPECT_TRUE(std::filesystem::exists(folder() / "r.toml"));
    EXPECT_TRUE(result("statistics").contains("acquired_a_scans_per_s"));
    EXPECT_EQ(result("stop")["is_running"], false);
}

TEST_F(ControlTest, LastVolumesArePausedAndSaved) {
    const Json opened = result("open", {{"source", "sim:vessel"},
                                        {"values",
                                         {{"simulation.samples", 128},
                                          {"simulation.a_scans", 24},
                                          {"simulation.b_scans", 12},
                                          {"simulation.line_rate_hz", 10000},
                                          {"source.keep_gb", 0.001}}}});
    EXPECT_EQ(opened["is_live"], true);
    EXPECT_TRUE(until([this] { return result("state").value("time_points", 0) >= 3; }));
    const Json paused = result("go_to", {{"time_point", 0}});
    EXPECT_EQ(paused["time_point"], 0);
    EXPECT_EQ(paused["plays"], false);
    EXPECT_GE(paused["max_time_points"], paused["time_points"]);
    EXPECT_GT(paused["ago_s"], 0);
    EXPECT_NE(refusal("go_to", {{"time_point", paused["time_points"]}}).find("expected a number"), std::string::npos);
    EXPECT_EQ(result("save", {{"what", "kept"}, {"file", "last.nrrd"}})["file"], (folder() / "last.nrrd").string());
    EXPECT_EQ(SeriesFile(folder() / "last.nrrd").time_points(), paused["time_points"]);
    EXPECT_EQ(result("action", {{"name", "timeline.play"}})["is_on"], true);
    EXPECT_EQ(result("state")["plays"], true);
}

TEST_F(ControlTest, SubscribersReceiveChangesUntilUnsubscribed) {
    EXPECT_EQ(result("subscribe", {{"topics", {"settings", "state"}}})["topics"], (Json{"settings", "state"}));
    client_->heard.clear();
    Listener other(2);
    ask(other, "set", {{"values", {{"view.mode", "mip"}}}});
    control().update();
    ASSERT_FALSE(client_->heard.empty());
    EXPECT_EQ(client_->heard[0]["method"], "settings");
    EXPECT_EQ(client_->heard[0]["params"]["values"], (Json{{"view.mode", "mip"}}));
    EXPECT_EQ(result("unsubscribe")["topics"], Json::array());
    client_->heard.clear();
    ask(other, "set", {{"values", {{"view.mode", "surface"}}}});
    control().update();
    EXPECT_TRUE(client_->heard.empty());
}

TEST_F(ControlTest, ClosedConnectionGetsNoAnswer) {
    control().handle(client_, request("state"));
    control().gone(client_->id());
    control().update();
    EXPECT_TRUE(client_->heard.empty());
}

TEST_F(ControlTest, ShutsDownOnRequest) {
    EXPECT_FALSE(control().is_shut_down());
    EXPECT_EQ(result("shutdown")["ends"], true);
    EXPECT_TRUE(control().is_shut_down());
}

}  // namespace
}  // namespace echolux::test
