// Access checks and parsing of requests. Only pure functions are tested here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "compute/error.h"
#include "temporary_folder.h"
#include "ui/net/access.h"
#include "ui/net/web_request.h"

namespace echolux::test {
namespace {

using Kind = Verdict::Kind;
const Access access_of{{"steering-token-1234", "watching-token-1234", {}}, {"Scope.lab.example"}};

WebRequest asking(const std::string& target) {
    WebRequest request{.target = target, .host = "127.0.0.1:8970"};
    return request;
}

TEST(Access, TokensAreLongRandomAndUrlSafe) {
    std::set<std::string> made;
    for (int i = 0; i < 100; ++i) made.insert(create_token());
    EXPECT_EQ(made.size(), 100u);
    for (const std::string& token : made) {
        EXPECT_EQ(token.size(), 43u);
        EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
                  token.npos);
    }
}

TEST(Access, TokensDecideRightsAndMissingSecretMatchesNone) {
    EXPECT_EQ(access_of.right_of("steering-token-1234"), Right::steer);
    EXPECT_EQ(access_of.right_of("watching-token-1234"), Right::watch);
    for (const char* wrong : {"", "steering-token-123", "steering-token-12345", "STEERING-TOKEN-1234"})
        EXPECT_EQ(access_of.right_of(wrong), std::nullopt) << wrong;
    EXPECT_FALSE(access_of.is_password(""));
    EXPECT_FALSE(is_same_secret("", ""));
}

TEST(Access, AcceptsLocalHostsIpAddressesAndNamedHosts) {
    for (const char* ours : {"localhost", "localhost:8970", "127.0.0.1:1", "192.168.1.7:8970", "[::1]:8970",
                             "[fe80::1]", "SCOPE.lab.example:8970"})
        EXPECT_TRUE(access_of.is_host_ours(ours)) << ours;
    for (const char* theirs : {"", "evil.example", "evil.example:8970", "localhost.evil.example",
                               "127.0.0.1.evil.example", "1.2.3.4.5", "[evil]", "scope.lab.example.evil"})
        EXPECT_FALSE(access_of.is_host_ours(theirs)) << theirs;
}

TEST(Access, TokenFileIsPrivateAndReused) {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder / "kept" / "token";
    const Secrets made = secrets_of(path), again = secrets_of(path);
    EXPECT_EQ(made.steer, again.steer);
    EXPECT_EQ(made.watch, again.watch);
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto kept = [&](const char* name, const char* text) {
        std::ofstream(folder / name) << text;
        std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
        return folder / name;
    };
    EXPECT_THROW(secrets_of(kept("short", "abc\n")), Error);
    EXPECT_THROW(secrets_of(kept("letters", "abcdefghijklmnop+/==\n")), Error);
    EXPECT_EQ(secrets_of(kept("right", "abcdefghijklmnop-_\n")).steer, "abcdefghijklmnop-_");
    EXPECT_THROW(password_of(kept("password", "1234567\n")), Error);
    EXPECT_EQ(password_of(kept("longer", "open sesame\n")), "open sesame");
}

TEST(Access, RejectsFilesReadableByOthers) {
    using std::filesystem::perms;
    const TemporaryFolder folder;
    std::ofstream(folder / "secret") << "abcdefghijklmnopqrst\n";
    for (const perms others : {perms::group_read, perms::others_read}) {
        std::filesystem::permissions(folder / "secret", perms::owner_all | others);
        EXPECT_THROW(secrets_of(folder / "secret"), Error);
        EXPECT_THROW(password_of(folder / "secret"), Error);
    }
}

TEST(WebRequest, RejectsRequestsWithoutToken) {
    for (const char* target :
         {"/", "/?token=", "/?token=wrong", "/main.js", "/style.css", "/ws", "/upload/x", "/login"}) {
        for (const bool is_upgrade : {false, true}) {
            WebRequest request = asking(target);
            request.is_upgrade = is_upgrade;
            const Verdict verdict = judge(request, access_of, 8970);
            EXPECT_EQ(verdict.kind, Kind::refused) << target;
            EXPECT_EQ(verdict.text.find("token-1234"), std::string::npos);
            const bool is_start_page = std::string_view(target).starts_with("/?") || std::string_view(target) == "/";
            EXPECT_EQ(verdict.is_page, is_start_page && !is_upgrade) << target;
        }
    }
}

TEST(WebRequest, AcceptsTokenInAddressCookieOrHeader) {
    EXPECT_EQ(judge(asking("/?token=steering-token-1234"), access_of, 8970).kind, Kind::enter);
    WebRequest with_cookie = asking("/main.js");
    with_cookie.cookie = "other=1; echolux-8970=watching-token-1234";
    EXPECT_EQ(judge(with_cookie, access_of, 8970).kind, Kind::page);
    EXPECT_EQ(judge(with_cookie, access_of, 8971).kind, Kind::refused);  // from another server
    WebRequest socket = asking("/ws");
    socket.is_upgrade = true;
    socket.authorization = "Bearer steering-token-1234";
    EXPECT_EQ(judge(socket, access_of, 8970).right, Right::steer);
}

TEST(WebRequest, RejectsOtherHostsAndOrigins) {
    WebRequest request = asking("/ws?token=steering-token-1234");
    request.is_upgrade = true;
    EXPECT_EQ(judge(request, access_of, 8970).kind, Kind::socket);
    request.origin = "http://127.0.0.1:8970";
    EXPECT_EQ(judge(request, access_of, 8970).kind, Kind::socket);
    for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8970", "http://127.0.0.1:8971"}) {
        request.origin = origin;
        EXPECT_EQ(judge(request, access_of, 8970).kind, Kind::refused) << origin;
    }
    request.origin.clear();
    request.host = "evil.example";
    EXPECT_EQ(judge(request, access_of, 8970).status, 421);
    request.host = "localhost";
    request.header_hosts = 2;
    EXPECT_EQ(judge(request, access_of, 8970).status, 421);
}

TEST(WebRequest, UploadsNeedPlainNameAndSteeringToken) {
    const auto put = [](const std::string& target) {
        WebRequest request = asking(target);
        request.method = WebRequest::Method::put;
        return judge(request, access_of, 8970);
    };
    const Verdict taken = put("/upload/an%20eye.nrrd?token=steering-token-1234");
    EXPECT_EQ(taken.kind, Kind::upload);
    EXPECT_EQ(taken.path, "an eye.nrrd");
    for (const char* name :
         {"..", "../x", "%2e%2e%2fx", "a/b", "a%5Cb", ".bashrc", "", "a%0Ab", "a%00b", "%zz", "%2Fetc%2Fpasswd"})
        EXPECT_EQ(put(std::string("/upload/") + name + "?token=steering-token-1234").kind, Kind::refused) << name;
    EXPECT_EQ(put("/upload/x?token=watching-token-1234").kind, Kind::refused);
    EXPECT_EQ(put("/upload/x").kind, Kind::refused);
}

TEST(WebRequest, AcceptsPasswordOnlyByForm) {
    const Access with_password{{"steering-token-1234", "watching-token-1234", "open sesame"}};
    EXPECT_EQ(judge(asking("/"), with_password, 8970).kind, Kind::login);
    EXPECT_EQ(judge(asking("/main.js"), with_password, 8970).kind, Kind::refused);
    WebRequest form = asking("/login");
    form.method = WebRequest::Method::post;
    EXPECT_EQ(judge(form, with_password, 8970).kind, Kind::check);
    form.origin = "http://evil.example";
    EXPECT_EQ(judge(form, with_password, 8970).kind, Kind::refused);
    EXPECT_EQ(form_value("user=x&password=open+sesame%21", "password"), "open sesame!");
    EXPECT_EQ(form_value("password=%f", "password"), std::nullopt);
}

TEST(Upload, KeepsExistingFilesAndRemovesTruncatedOnes) {
    const TemporaryFolder folder;
    std::ofstream(folder / "eye.nrrd") << "first";
    {
        Upload second(folder.path(), "eye.nrrd");
        second.write(std::string_view("second"));
        second.finish();
        EXPECT_EQ(second.path().filename(), "eye-2.nrrd");
    }
    { Upload(folder.path(), "cut.nrrd").write(std::string_view("half")); }
    EXPECT_FALSE(std::filesystem::exists(folder / "cut.nrrd"));
    EXPECT_EQ(std::filesystem::file_size(folder / "eye.nrrd"), 5u);
}

TEST(Rate, AllowsOneSecondAtOnceThenRate) {
    Rate rate(10, 0);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(rate.take(0), 0) << i;
    EXPECT_NEAR(rate.take(0), 0.1, 1e-9);
    EXPECT_NEAR(rate.take(0.1), 0.1, 1e-9);
    EXPECT_TRUE(rate.try_take(5));
}

TEST(LineToken, RequiresObjectWithToken) {
    EXPECT_EQ(token_of_line(R"({"token": "abc"})"), "abc");
    for (const char* wrong : {"", "abc", "[]", "{}", R"({"token": 1})", R"(["token"])", "{\"token\""})
        EXPECT_EQ(token_of_line(wrong), "");
}

}  // namespace
}  // namespace echolux::test
