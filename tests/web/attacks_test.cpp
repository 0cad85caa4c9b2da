// Attacks against a listening server: each is refused in one line, and the service continues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "await.h"
#include "raw_connection.h"
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
        WebContent content{.pages = {{"/", "text/html", "the page"}},
                           .login = "the form",
                           .denied = "the page about tokens",
                           .upload_folder = folder_.path()};
        port_ = server_->serve_web(0, content);
        lines_ = server_->serve_lines(0);
    }

    std::string ask(const std::string& text) {
        RawConnection line(port_);
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
    std::unique_ptr<RawConnection> socket() {
        auto line = std::make_unique<RawConnection>(port_);
        line->send(handshake("/ws?token=steering-token-1234"));
        EXPECT_THAT(line->read("\r\n\r\n"), StartsWith("HTTP/1.1 101"));
        return line;
    }
    std::unique_ptr<RawConnection> program() {
        auto line = std::make_unique<RawConnection>(lines_);
        line->send("{\"token\": \"steering-token-1234\"}\n");
        EXPECT_THAT(line->read("\n"), HasSubstr("welcome"));
        return line;
    }
    // Waits for the next opened connection and returns the server's side of it.
    ConnectionPtr opened() {
        for (;;) {
            for (const Incoming& incoming : inbox_.take(5)) {
                if (incoming.kind == Incoming::Kind::opened) return incoming.from;
            }
        }
    }
    // Answers incoming texts until `expected` of them have arrived. Returns the number of answers.
    int answer(int expected, double within_s = 20) {
        int texts = 0;
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(within_s);
        while (texts < expected && std::chrono::steady_clock::now() < end) {
            for (const Incoming& incoming : inbox_.take(0.1)) {
                if (incoming.kind != Incoming::Kind::text) continue;
                ++texts;
                incoming.from->send_text("answer");
            }
        }
        return texts;
    }
    static std::size_t count(const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
        return found;
    }
    // A client with the token is still answered.
    void expect_service() {
        EXPECT_THAT(get("/", fmt::format("Cookie: echolux-{}={}\r\n", port_, steering)), HasSubstr("the page"));
    }
    static std::string status(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

    const TemporaryFolder folder_;
    Inbox inbox_;
    std::unique_ptr<NetServer> server_;
    int port_ = 0, lines_ = 0;
};

TEST_F(Attacks, RejectsWrongTokensNamesOriginsAndPathsInOneLine) {
    open();
    EXPECT_THAT(status(get("/")), HasSubstr("403"));
    EXPECT_THAT(status(get("/?token=wrong")), HasSubstr("403"));
    EXPECT_THAT(get("/?token=wrong"), HasSubstr("the page about tokens"));
    EXPECT_THAT(get("/main.js"), HasSubstr("missing or expired token"));
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
    EXPECT_THAT(entered, HasSubstr("HttpOnly; SameSite=Lax"));
    EXPECT_THAT(entered, HasSubstr("Content-Security-Policy: default-src 'none'"));
    expect_service();
}

TEST_F(Attacks, InvalidRequestsAndFramesEndOnlyTheirConnection) {
    open();
    const auto other = socket();
    for (const std::string& text :
         {std::string("\0\1\2\3", 4), std::string("GET\r\n\r\n"), std::string("BREW / HTTP/9\r\n\r\n"),
          std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n"),
          "GET /" + std::string(20000, 'a') + " HTTP/1.1\r\n\r\n"})
        EXPECT_THAT(status(ask(text)), testing::ContainsRegex(" 4[0-9][0-9] ")) << text.substr(0, 20);
    // Frames: without a mask, with an unknown opcode, 2^63 bytes long, a fragment that continues nothing, invalid
    // UTF-8. Each is answered by a close frame with a two-byte code: 1002, protocol error; 1009, too big; 1007, invalid
    // UTF-8.
    const std::string protocol_error("\x88\x02\x03\xEA"), too_big("\x88\x02\x03\xF1"), not_utf8("\x88\x02\x03\xEF");
    for (const auto& [frame, closing] :
         {std::pair(std::string("\x81\x01x"), protocol_error),
          std::pair(std::string("\x8F\x80\0\0\0\0", 6), protocol_error),
          std::pair(std::string("\x82\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0", 14), too_big),
          std::pair(std::string("\x80\x80\0\0\0\0", 6), protocol_error),
          std::pair(std::string("\x81\x81\0\0\0\0\xFF", 7), not_utf8)}) {
        const auto line = socket();
        line->send(frame);
        EXPECT_EQ(line->read(), closing) << testing::PrintToString(frame);
    }
    other->send(std::string("\x81\x82\0\0\0\0{}", 8));
    EXPECT_EQ(answer(1), 1);
    EXPECT_EQ(other->read("answer"),
              "\x81\x06"
              "answer");
    expect_service();
}

TEST_F(Attacks, RejectsHugeMessageByHeader) {
    open();
    const auto line = socket();
    line->send(std::string("\x82\xFF\0\0\0\0\x40\0\0\0\0\0\0\0", 14));
    EXPECT_THAT(line->read(), HasSubstr("\x03\xF1"));  // close, 1009: too big
    RawConnection program(lines_);
    program.send("{\"token\": \"steering-token-1234\"}\n");
    EXPECT_THAT(program.read("\n"), HasSubstr("\"may_steer\": true"));
    const std::string part(1 << 16, 'x');
    for (int i = 0; i < 17; ++i) program.send(part);
    EXPECT_THAT(program.read(), HasSubstr("longer than 1 MiB"));
    EXPECT_THAT(
        status(ask(fmt::format(
            "PUT /upload/x?token={} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n", steering))),
        HasSubstr("413"));
    expect_service();
}

TEST_F(Attacks, DropsSlowAndSilentClientsAmongThousandConnections) {
    NetOptions options;
    options.limits.introduction_s = 0.3;
    open(options);
    RawConnection slow(port_);
    slow.send("GET / HT");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(slow.read(), "");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    std::vector<std::unique_ptr<RawConnection>> many;
    for (int i = 0; i < 1000; ++i) {
        many.push_back(std::make_unique<RawConnection>(port_));
        if (i % 100 == 0) expect_service();
    }
    EXPECT_LE(server_->unauthenticated(), options.limits.unauthenticated + 1);
    expect_service();
}

TEST_F(Attacks, ReportsTooManyClients) {
    NetOptions options;
    options.limits.clients = 2;
    open(options);
    const auto one = socket(), other = socket();
    EXPECT_THAT(ask(handshake("/ws?token=steering-token-1234")), HasSubstr("too many clients are connected"));
    expect_service();
}

TEST_F(Attacks, DropsClientsThatDoNotRead) {
    NetOptions options;
    options.limits.waiting_bytes = 8 << 20;
    open(options);
    const auto line = socket();
    ConnectionPtr connection;
    while (connection == nullptr) {
        for (const Incoming& incoming : inbox_.take(5)) connection = incoming.from;
    }
    const auto mebibyte = std::make_shared<const std::vector<std::byte>>(1 << 20);
    for (int i = 0; i < 200 && connection->is_open(); ++i) connection->send_binary(mebibyte);
    EXPECT_TRUE(becomes_true([&] { return !connection->is_open(); }));
    expect_service();
}

TEST_F(Attacks, DelaysReadingOfFastClients) {
    open();
    const auto page = socket();
    const auto line = program();
    opened();
    std::string frames, lines;
    for (int i = 0; i < 200; ++i) {
        frames += std::string("\x81\x82\0\0\0\0{}", 8);
        lines += "{}\n";
    }
    const int most = NetOptions().limits.messages_waiting;
    for (const bool of_page : {true, false}) {
        SCOPED_TRACE(of_page ? "page" : "line");
        (of_page ? *page : *line).send(of_page ? frames : lines);
        std::vector<Incoming> unanswered;
        const auto take = [&] {
            for (Incoming& incoming : inbox_.take(0)) {
                if (incoming.kind == Incoming::Kind::text) unanswered.push_back(std::move(incoming));
            }
            return std::ssize(unanswered);
        };
        AWAIT(take() >= most);
        for (int i = 0; i < 3; ++i)
            expect_service();  // the network's thread serves others, and reads no more of this one
        EXPECT_EQ(take(), most);
        for (const Incoming& incoming : unanswered) incoming.from->send_text("answer");
        unanswered.clear();
        EXPECT_EQ(answer(200 - most), 200 - most);
    }
    line->end_sending();
    EXPECT_EQ(count(line->read(), "answer"), 200U);
    expect_service();
}

TEST_F(Attacks, AnswersAfterEndOfInput) {
    open();
    RawConnection line(lines_);
    line.send("{\"token\": \"steering-token-1234\"}\n{}\n{}\n");
    line.end_sending();
    EXPECT_EQ(answer(2), 2);
    EXPECT_EQ(count(line.read(), "answer"), 2U);
}

TEST_F(Attacks, AnswerMayExceedWaitingLimit) {
    NetOptions options;
    options.limits.waiting_bytes = 1 << 20;
    open(options);
    const auto line = program();
    const ConnectionPtr connection = opened();
    constexpr std::size_t bytes = 5 << 20;
    connection->send_binary(std::make_shared<const std::vector<std::byte>>(bytes));
    connection->send_text("behind");
    EXPECT_GT(line->read("behind").size(), bytes);
    EXPECT_TRUE(connection->is_open());
}

TEST_F(Attacks, RejectionWaitsForWritesButNotForSilentReaders) {
    for (const bool reads : {true, false}) {
        NetOptions options;
        if (!reads) options.limits.introduction_s = 0.3;
        open(options);
        const auto line = program();
        const ConnectionPtr connection = opened();
        connection->send_binary(std::make_shared<const std::vector<std::byte>>(20 << 20));
        for (int i = 0; i < 17; ++i) line->send(std::string(1 << 16, 'x'));
        if (reads) {
            EXPECT_NE(line->read("MiB\"").find("longer than 1 MiB"), std::string::npos);
        }
        EXPECT_TRUE(becomes_true([&] { return !connection->is_open(); }));
    }
    expect_service();
}

TEST_F(Attacks, UnauthenticatedConnectionsDoNotCutUpload) {
    open();
    RawConnection upload(port_);
    upload.send(fmt::format(
        "PUT /upload/long?token={} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n0123456789", steering));
    AWAIT(!std::filesystem::is_empty(folder_.path()));  // the upload is accepted
    std::vector<std::unique_ptr<RawConnection>> many;
    for (int i = 0; i < 200; ++i) many.push_back(std::make_unique<RawConnection>(port_));
    expect_service();
    upload.send("0123456789");
    EXPECT_THAT(status(upload.read("\r\n\r\n")), HasSubstr("201"));
}

TEST_F(Attacks, GuessingPasswordIsSlow) {
    NetOptions options;
    options.limits.tries_per_s = 1e-4;  // the first try is free, however slow this machine is
    open(options, "open sesame");
    const std::string page = get("/");
    EXPECT_THAT(page, HasSubstr("the form"));
    EXPECT_THAT(page, HasSubstr("Referrer-Policy: same-origin"));  // otherwise browsers send "Origin: null"
    EXPECT_THAT(status(page), HasSubstr("401"));
    const auto guess = [&](const std::string& password) {
        const std::string form = "password=" + password;
        return status(ask(
            fmt::format("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", form.size(), form)));
    };
    EXPECT_THAT(guess("wrong"), HasSubstr("403"));
    EXPECT_THAT(guess("wrong"), HasSubstr("429"));
    EXPECT_THAT(guess("open+sesame"), HasSubstr("429"));
    open({}, "open sesame");
    EXPECT_THAT(guess("open+sesame"), HasSubstr("303"));
}

TEST_F(Attacks, ReportsPlainRequestsToTlsServer) {
    NetOptions options;
    options.tls = own_certificate({}, {"scope.lab.example"});
    open(options);
    EXPECT_THAT(get("/?token=steering-token-1234"), HasSubstr("https"));
    RawConnection program(lines_);
    program.send("{\"token\": \"steering-token-1234\"}\n");
    EXPECT_THAT(program.read(), HasSubstr("TLS"));
    EXPECT_EQ(fingerprint_of(*options.tls).size(), 95u);
}

}  // namespace
}  // namespace echolux::test
