// What an attacker would try, against a server that listens: each is refused in one line, and the service goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "raw_line.h"
#include "temporary_folder.h"
#include "ui/net/net_server.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
constexpr const char* steering = "steering-token-1234";

class Attacks : public testing::Test {
  protected:
    void open(NetOptions options = {}, const std::string& password = {}) {
        server_ = std::make_unique<NetServer>(
            options, std::make_shared<Access>(Secrets{steering, "watching-token-1234", password}), inbox_);
        WebContent content;
        content.pages = {{"/", "text/html", "the page"}};
        content.login = "the form";
        content.upload_folder = folder_.path();
        port_ = server_->serve_web(0, content);
        lines_ = server_->serve_lines(0);
    }

    std::string ask(const std::string& text) {
        RawLine line(port_);
        line.send(text);
        return line.read();
    }
    std::string get(const std::string& target, const std::string& more = {}) {
        return ask(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n", target, more));
    }
    static std::string handshake(const std::string& target, const std::string& more = {}) {
        return fmt::format(
            "GET {} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{}\r\n",
            target, more);
    }
    std::unique_ptr<RawLine> socket() {
        auto line = std::make_unique<RawLine>(port_);
        line->send(handshake("/ws?token=steering-token-1234"));
        EXPECT_THAT(line->read("\r\n\r\n"), StartsWith("HTTP/1.1 101"));
        return line;
    }
    // Whoever has the token is still answered.
    void goes_on() {
        EXPECT_THAT(get("/", fmt::format("Cookie: echolux-{}={}\r\n", port_, steering)), HasSubstr("the page"));
    }
    static std::string status(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

    const TemporaryFolder folder_;
    Inbox inbox_;
    std::unique_ptr<NetServer> server_;
    int port_ = 0, lines_ = 0;
};

TEST_F(Attacks, WrongTokensNamesOriginsAndPathsAreRefusedInALine) {
    open();
    EXPECT_THAT(status(get("/")), HasSubstr("403"));
    EXPECT_THAT(status(get("/?token=wrong")), HasSubstr("403"));
    EXPECT_THAT(status(ask(handshake("/ws"))), HasSubstr("403"));
    EXPECT_THAT(status(ask(handshake("/ws?token=steering-token-1234", "Origin: http://evil.example\r\n"))),
                HasSubstr("403"));
    EXPECT_THAT(
        status(ask("GET /?token=steering-token-1234 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")),
        HasSubstr("421"));
    const std::string cookie = fmt::format("Cookie: echolux-{}={}\r\n", port_, steering);
    for (const char* path : {"/../etc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/upload/../x", "/assets"})
        EXPECT_THAT(status(get(path, cookie)), HasSubstr("404")) << path;
    EXPECT_THAT(status(get("http://evil.example/", cookie)), HasSubstr("400"));
    const std::string entered = get("/?token=steering-token-1234");
    EXPECT_THAT(entered, HasSubstr("HttpOnly; SameSite=Strict"));
    EXPECT_THAT(entered, HasSubstr("Content-Security-Policy: default-src 'none'"));
    goes_on();
}

TEST_F(Attacks, BrokenRequestsAndFramesEndTheirOwnLineAlone) {
    open();
    const auto other = socket();
    for (const std::string& text :
         {std::string("\0\1\2\3", 4), std::string("GET\r\n\r\n"), std::string("BREW / HTTP/9\r\n\r\n"),
          std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n"),
          "GET /" + std::string(20000, 'a') + " HTTP/1.1\r\n\r\n"})
        EXPECT_THAT(status(ask(text)), testing::ContainsRegex(" 4[0-9][0-9] ")) << text.substr(0, 20);
    // Without a mask, with an unknown opcode, of 2^63 bytes, a fragment that continues nothing, text that is no UTF-8.
    for (const std::string& frame : {std::string("\x81\x01x"), std::string("\x8F\x80\0\0\0\0", 6),
                                     std::string("\x82\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0", 14),
                                     std::string("\x80\x80\0\0\0\0", 6), std::string("\x81\x81\0\0\0\0\xFF", 7)}) {
        const auto line = socket();
        line->send(frame);
        line->read();  // closed, and not after the twenty seconds that this waits
    }
    EXPECT_TRUE(other->send(std::string("\x81\x82\0\0\0\0{}", 8)));
    goes_on();
}

TEST_F(Attacks, AMessageOfAGigabyteIsRefusedByItsHeader) {
    open();
    const auto line = socket();
    line->send(std::string("\x82\xFF\0\0\0\0\x40\0\0\0\0\0\0\0", 14));
    EXPECT_THAT(line->read(), HasSubstr("\x03\xF1"));  // close, 1009: too big
    RawLine program(lines_);
    program.send("{\"token\": \"steering-token-1234\"}\n");
    EXPECT_THAT(program.read("\n"), HasSubstr("\"may_steer\": true"));
    const std::string part(1 << 16, 'x');
    for (int i = 0; i < 17; ++i) program.send(part);
    EXPECT_THAT(program.read(), HasSubstr("longer than 1 MiB"));
    EXPECT_THAT(
        status(ask(fmt::format(
            "PUT /upload/x?token={} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n", steering))),
        HasSubstr("413"));
    goes_on();
}

TEST_F(Attacks, WhoSendsSlowlyOrNotAtAllGoesAndAThousandLinesKeepNobodyOut) {
    NetOptions options;
    options.limits.introduction_s = 0.3;
    open(options);
    RawLine slow(port_);
    slow.send("GET / HT");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(slow.read(), "");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    std::vector<std::unique_ptr<RawLine>> many;
    for (int i = 0; i < 1000; ++i) {
        many.push_back(std::make_unique<RawLine>(port_));
        if (i % 100 == 0) goes_on();
    }
    EXPECT_LE(server_->strangers(), options.limits.strangers + 1);
    goes_on();
}

TEST_F(Attacks, MoreClientsThanAllowedAreToldSo) {
    NetOptions options;
    options.limits.clients = 2;
    open(options);
    const auto one = socket(), other = socket();
    EXPECT_THAT(ask(handshake("/ws?token=steering-token-1234")), HasSubstr("enough are connected"));
    goes_on();
}

TEST_F(Attacks, WhoTakesNothingIsGivenUp) {
    NetOptions options;
    options.limits.waiting_bytes = 8 << 20;
    open(options);
    const auto line = socket();
    ConnectionPtr connection;
    while (connection == nullptr) {
        for (const Incoming& incoming : inbox_.take(5)) connection = incoming.from;
    }
    for (int i = 0; i < 200 && connection->is_open(); ++i) {
        connection->send_binary(std::vector<std::byte>(1 << 20));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_FALSE(connection->is_open());
    goes_on();
}

TEST_F(Attacks, GuessingAPasswordIsSlow) {
    open({}, "open sesame");
    EXPECT_THAT(get("/"), HasSubstr("the form"));
    const auto guess = [&](const std::string& password) {
        const std::string form = "password=" + password;
        return status(ask(
            fmt::format("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", form.size(), form)));
    };
    EXPECT_THAT(guess("wrong"), HasSubstr("403"));
    EXPECT_THAT(guess("wrong"), HasSubstr("429"));
    EXPECT_THAT(guess("open+sesame"), HasSubstr("429"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    EXPECT_THAT(guess("open+sesame"), HasSubstr("303"));
}

TEST_F(Attacks, PlainWordsToAServerOfTlsAreToldSo) {
    NetOptions options;
    options.tls = own_certificate({}, {"scope.lab.example"});
    open(options);
    EXPECT_THAT(get("/?token=steering-token-1234"), HasSubstr("https"));
    RawLine program(lines_);
    program.send("{\"token\": \"steering-token-1234\"}\n");
    EXPECT_THAT(program.read(), HasSubstr("TLS"));
    EXPECT_EQ(fingerprint_of(*options.tls).size(), 95u);
}

}  // namespace
}  // namespace echolux::test
