// A window and an OpenIGTLink program: the shown volume is sent, requests are answered like those of the control
// interface, and programs without the right to steer are refused. Also tests parsing of COMMAND and STRING.
#include "ui/control/control_server.h"

#include <array>
#include <nlohmann/json.hpp>

#include "../igtl/igtl_case.h"
#include "app/jobs/settings_table.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "ui/control/message.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using Json = nlohmann::json;
using igtl::Request;

Request command(const std::string& name, const std::string& text) {
    return {Request::Kind::command, 2, "x", 5, name, text};
}

Json rpc(const Request& request) {
    return Json::parse(rpc_of(request));
}

TEST(IgtlRequest, CommandsAndStringsBecomeControlRequests) {
    const Json get{{"jsonrpc", "2.0"}, {"id", 5}, {"method", "get"}, {"params", {{"keys", {"view.mode", "flow"}}}}};
    EXPECT_EQ(rpc(command("get", R"({"keys": ["view.mode", "flow"]})")), get);
    EXPECT_EQ(rpc(command("get", " view.mode\r\n\nflow\n")), get);
    EXPECT_EQ(rpc(command("state", ""))["params"], Json::object());
    EXPECT_EQ(rpc(command("probe", "[3, 4]"))["params"], (Json{3, 4}));
    const Json set{{"values", {{"view.mode", "mip"}, {"view.name", "a = b"}}}};
    EXPECT_EQ(rpc(command("set", "view.mode = mip\nview.name=a = b"))["params"], set);
    const Request lines{Request::Kind::string, 1, "x", 0, "", "view.mode = mip\nview.name=a = b"};
    EXPECT_EQ(rpc(lines), (Json{{"jsonrpc", "2.0"}, {"id", 0}, {"method", "set"}, {"params", set}}));
    EXPECT_EQ(rpc({Request::Kind::string, 1, "x", 0, "", "flow"})["method"], "get");
    EXPECT_EQ(rpc_of({Request::Kind::string, 1, "x", 0, "", "{anything"}), "{anything");
    EXPECT_EQ(rpc(command("set\", \"x\": \"", ""))["method"], "set\", \"x\": \"");
    for (const Request& wrong : {command("get", "{"), command("set", "a=1\nb"), command("set", "{}, \"id\": 3"),
                                 Request{Request::Kind::string, 1, "x", 0, "", " \n"}})
        EXPECT_THROW(rpc_of(wrong), Error) << wrong.text;
    const std::string packed = with_data(R"({"id":1,"result":{"bytes":3}})", bytes_of_text("abc"));
    EXPECT_EQ(Json::parse(packed)["result"]["data"], "YWJj");
}

class LinkServerTest : public WorkspaceTest {
  protected:
    void begin(bool may_steer) {
        server_ = std::make_unique<LinkServer>(work(), igtl::LinkOptions{true, {"127.0.0.1", 0}, may_steer});
        program_ = std::make_unique<RawProgram>(server_->port());
    }
    void TearDown() override {
        server_.reset();
        WorkspaceTest::TearDown();
    }

    RawProgram::Got next(const std::string& type, const std::string& device) {
        RawProgram::Got found;
        EXPECT_TRUE(WorkspaceTest::until([&] {
            server_->update();
            const RawProgram::Got got = program_->next(2ms);
            if (got.type == type && got.device == device) found = got;
            return !found.type.empty();
        })) << type;
        return found;
    }
    Json ask(const std::string& name, const std::string& text) {
        program_->send(message("COMMAND", extended(command_body(9, name, text)), 2, "me"));
        const RawProgram::Got got = next("RTS_COMMAND", "me");
        return got.body.empty() ? Json() : Json::parse(got.body.substr(12 + 138));
    }

    std::unique_ptr<LinkServer> server_;
    std::unique_ptr<RawProgram> program_;
};

// Value of the ball at (slice, row, column) of the sent volume, little endian.
float value_at(const RawProgram::Got& image, int b, int z, int a, int rows = 24, int columns = 20) {
    float value = 0;
    std::memcpy(&value, image.body.data() + 72 + 4 * ((b * rows + z) * columns + a), sizeof value);
    return value;
}

TEST_F(LinkServerTest, SendsShownVolumeAndBScanUnderCross) {
    begin(false);
    open_volume();
    const RawProgram::Got image = next("IMAGE", "Echolux");
    ASSERT_EQ(image.body.size(), 72U + 16 * 20 * 24 * 4);
    for (const auto& [b, z, a] : {std::array{0, 0, 0}, {7, 11, 9}, {15, 3, 18}})
        EXPECT_EQ(value_at(image, b, z, a), static_cast<float>(40 - 4 * std::hypot(z - 11.5, a - 9.5, b - 7.5)));

    work().set_cross_um({0, 0, 45});  // 4.5 B-scans behind the centre at 7.5
    const RawProgram::Got slice = next("IMAGE", "Echolux_BScan");
    ASSERT_EQ(slice.body.size(), 72U + 20 * 24 * 4);
    EXPECT_EQ(slice.body.substr(72), image.body.substr(72 + 12 * 20 * 24 * 4, 20 * 24 * 4));

    work().open(volume_file("again.nii"));
    EXPECT_EQ(next("IMAGE", "Echolux").body, image.body);
    EXPECT_EQ(server_->stats().connected, 1);
}

TEST_F(LinkServerTest, SendsVolumesOfLiveSource) {
    begin(false);
    open_source();
    work().start_source();
    std::int64_t last = -1;
    for (int i = 0; i < 3; ++i) {
        const Json note = Json::parse(next("STRING", "Echolux_note").body.substr(4));
        EXPECT_GT(note["volume"], last);
        last = note["volume"];
    }
    work().stop_source();
    settle();
}

TEST_F(LinkServerTest, AllowsSettingsWithSteeringRight) {
    begin(true);
    EXPECT_EQ(ask("set", "view.mode=mip")["result"]["values"], (Json{{"view.mode", "mip"}}));
    EXPECT_EQ(value("view.mode"), Value(std::string("mip")));
    EXPECT_EQ(ask("set", "view.zoom=-1")["error"]["data"]["code"], "bad_setting");
    EXPECT_EQ(ask("open", R"({"file": "/etc/passwd"})").count("error"), 1U);
    EXPECT_EQ(ask("save", R"({"what": "session", "file": "x.toml"})").count("error"), 1U);
    EXPECT_EQ(ask("shutdown", "").count("error"), 1U);
    EXPECT_EQ(ask("get", "{")["error"]["data"]["what"].get<std::string>().empty(), false);
    EXPECT_EQ(ask("subscribe", R"({"topics": ["settings"]})").count("result"), 1U);
    work().change("view.mode", std::string("composite"));
    const Json news = Json::parse(next("STRING", "Echolux_news").body.substr(4));
    EXPECT_EQ(news["params"]["values"], (Json{{"view.mode", "composite"}}));
}

TEST_F(LinkServerTest, WatchersMayRead) {
    begin(false);
    EXPECT_EQ(ask("set", "view.mode=mip")["error"]["data"]["code"], "not_allowed");
    EXPECT_EQ(ask("get", "view.mode")["result"]["values"]["view.mode"], object_of(value("view.mode")));
}

}  // namespace
}  // namespace echolux::test
