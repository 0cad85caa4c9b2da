// Blocks over the network: each in its place, also after the sender reconnects. Untrusted input is never believed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/ioctl.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "engine/acquire/stream.h"
#include "engine/net/tcp.h"
#include "plugins/echolux_push_tcp.h"
#include "push_support.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::HasSubstr;

// Returns a port that is currently free.
std::uint16_t free_port() {
    return TcpListener({"127.0.0.1", 0}, "test").port();
}

// Returns the bytes in the connections of this process from and to `port`: sent and not received.
int waiting_bytes(std::uint16_t port) {
    int sum = 0;
    const auto is_at_port = [port](int file, auto* name_of) {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        return name_of(file, reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.sin_family == AF_INET &&
               ntohs(address.sin_port) == port;
    };
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int file = std::stoi(entry.path().filename().string());
        sockaddr_in other{};
        socklen_t size = sizeof other;
        if (getpeername(file, reinterpret_cast<sockaddr*>(&other), &size) != 0) continue;
        int bytes = 0;
        if (is_at_port(file, getsockname) && ioctl(file, FIONREAD, &bytes) == 0) sum += bytes;
        if (is_at_port(file, getpeername) && ioctl(file, TIOCOUTQ, &bytes) == 0) sum += bytes;
    }
    return sum;
}

class Sender {
  public:
    explicit Sender(std::uint16_t port, const echolux_push_stream& stream = small_stream()) {
        if (echolux_push_connect(&sender_, "127.0.0.1", std::to_string(port).c_str(), &stream) != 0)
            throw std::runtime_error(sender_.push.problem);
    }
    ~Sender() { echolux_push_disconnect(&sender_, 2000); }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    void push() {
        auto* words = static_cast<std::uint64_t*>(echolux_push_begin(&sender_.push));
        pattern_fill(words, sender_.push.block_bytes / 8, pattern_stamp(1, pushed_++));
        echolux_push_publish(&sender_.push, nullptr);
    }
    void end() { echolux_push_end(&sender_.push); }
    bool is_connected() const { return echolux_push_is_connected(&sender_) != 0; }
    // Returns whether the viewer, listening on `port`, has read all blocks.
    bool are_all_read(std::uint16_t port) const {
        const std::uint64_t gone =
            __atomic_load_n(&sender_.sent, __ATOMIC_RELAXED) + __atomic_load_n(&sender_.left_out, __ATOMIC_RELAXED);
        return gone == pushed_ && waiting_bytes(port) == 0;
    }

  private:
    echolux_push_sender sender_;
    std::uint64_t pushed_ = 0;
};

// A sender of arbitrary bytes.
class Stranger {
  public:
    explicit Stranger(std::uint16_t port) : connection_(connect_to({"127.0.0.1", port}, 5s, "test")) {}

    void say(std::span<const std::byte> bytes) {
        for (TestTimeout timeout; !bytes.empty() && timeout.lasts();) {
            const auto went = connection_.send(bytes, 100ms);
            if (!went) return;
            bytes = bytes.subspan(*went);
        }
    }
    template <class T>
    void say(const T& value) {
        say(std::as_bytes(std::span(&value, 1)));
    }

  private:
    TcpConnection connection_;
};

PushGreeting greeting() {
    PushGreeting greeting{};
    std::memcpy(greeting.magic, "ECHOPUSH", 8);
    greeting.version = ECHOLUX_PUSH_VERSION;
    greeting.stream_bytes = sizeof greeting.stream;
    echolux_push push{};
    const echolux_push_stream stream = small_stream();
    echolux_push_settle(&push, &stream);
    greeting.stream = push.stream;
    return greeting;
}

PushHead head(std::uint64_t sequence) {
    PushHead head{};
    std::memcpy(head.magic, "BLCK", 4);
    head.bytes = sizeof head.block;
    head.block.sequence = sequence;
    head.block.first_b_scan = static_cast<std::int64_t>(sequence) % 3 * 2;
    head.block.volume = static_cast<std::int64_t>(sequence) / 3;
    head.block.b_scans = 2;
    head.block.bytes = 128;
    return head;
}

class Network : public ::testing::Test {
  protected:
    std::unique_ptr<Source> opened(std::chrono::milliseconds timeout = 20s) const {
        return open_tcp(pushed_to("tcp://127.0.0.1:" + std::to_string(port_)), timeout);
    }

    std::uint16_t port_ = free_port();
};

TEST_F(Network, SendsBlocksInOrderWithPositions) {
    Sender sender(port_);
    const auto source = opened();
    EXPECT_EQ(source->scan().geometry.samples, 8);
    AWAIT(sender.is_connected());
    source->start();
    for (std::int64_t i = 0; i < 20; ++i) {
        SCOPED_TRACE(i);
        sender.push();
        const Block block = next_block(*source);
        EXPECT_TRUE(is_right(block));
        EXPECT_EQ(pattern_sequence(stamp_of(block)), static_cast<std::uint64_t>(i));
        EXPECT_EQ(block.volume, i / 3);
        EXPECT_EQ(block.first_b_scan, i % 3 * 2);
        EXPECT_EQ(block.lost_before, 0);
    }
    sender.push();
    sender.end();
    next_block(*source);
    EXPECT_EQ(source->next(10s).kind, Arrival::Kind::ended);
}

TEST_F(Network, DiscardsOldBlocksBeforeStart) {
    Sender sender(port_);
    const auto source = opened();
    AWAIT(sender.is_connected());
    for (int i = 0; i < 501; ++i) sender.push();
    AWAIT(sender.are_all_read(port_));
    source->start();
    for (int i = 0; i < 3; ++i) sender.push();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(pattern_sequence(stamp_of(next_block(*source))), 501U + static_cast<unsigned>(i));
}

TEST_F(Network, ContinuesWithReconnectedSender) {
    std::unique_ptr<Source> source;
    {
        Sender sender(port_);
        source = opened();
        source->start();
        AWAIT(sender.is_connected());
        sender.push();
        next_block(*source);
    }
    EXPECT_THAT(error_of([&] { source->next(10s); }).line, HasSubstr("has disconnected"));
    EXPECT_THAT(error_of([&] { source->start(); }).line, HasSubstr("has disconnected"));
    Sender sender(port_);
    AWAIT(error_of([&] { source->start(); }).line.empty());
    AWAIT(sender.is_connected());
    sender.push();
    EXPECT_TRUE(is_right(next_block(*source)));
}

TEST_F(Network, BlocksWithoutMemoryAreLostAndCounted) {
    Sender sender(port_);
    SourceRequest wanted = pushed_to("tcp://127.0.0.1:" + std::to_string(port_));
    wanted.settings.pool_blocks = 2;
    const auto source = open_tcp(wanted, 20s);
    source->start();
    AWAIT(sender.is_connected());
    std::vector<Block> held;
    for (int i = 0; i < 2; ++i) {
        sender.push();
        held.push_back(next_block(*source));
    }
    for (int i = 0; i < 5; ++i) sender.push();
    AWAIT(sender.are_all_read(port_));
    held.clear();
    sender.push();
    const Block block = next_block(*source);
    EXPECT_EQ(block.lost_before, 5);
    EXPECT_EQ(pattern_sequence(stamp_of(block)), 7U);
}

TEST_F(Network, IgnoresStrangersAndContinues) {
    std::unique_ptr<Source> source;
    std::jthread opening([&] { source = opened(); });
    {
        std::optional<Stranger> first;
        AWAIT(error_of([&] { first.emplace(port_); }).line.empty());
        Stranger& stranger = *first;
        stranger.say(std::as_bytes(std::span("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
        PushGreeting wrong = greeting();
        wrong.version = 9;
        stranger.say(wrong);
    }
    { Stranger silent(port_); }
    Stranger good(port_);
    good.say(greeting());
    opening.join();
    source->start();
    good.say(head(0));
    good.say(std::array<std::byte, 128>{});
    EXPECT_EQ(next_block(*source).bytes, 128);
}

TEST_F(Network, InvalidBlockStopsSenderWithOneLine) {
    const auto refused = [&](const char* words, const auto& change) {
        std::unique_ptr<Source> source;
        std::jthread opening([&] { source = opened(); });
        std::optional<Stranger> sender;
        AWAIT((error_of([&] { sender.emplace(port_); }).line.empty()));
        sender->say(greeting());
        opening.join();
        source->start();
        PushHead wrong = head(1);
        change(wrong);
        sender->say(wrong);
        EXPECT_THAT(error_of([&] { next_block(*source); }).line, HasSubstr(words));
    };
    refused("out of sync", [](PushHead& h) { h.magic[0] = 'X'; });
    refused("out of sync", [](PushHead& h) { h.bytes = 1 << 30; });
    refused("bytes, expected 128", [](PushHead& h) { h.block.bytes = std::uint64_t{1} << 30; });
    refused("expected 1 to 2", [](PushHead& h) { h.block.b_scans = 3; });
    refused("not a valid position", [](PushHead& h) { h.block.first_b_scan = -2; });
    refused("not a finite number", [](PushHead& h) { h.block.time_s = INFINITY; });
}

TEST_F(Network, TruncatedBlockIsDiscarded) {
    std::unique_ptr<Source> source;
    std::jthread opening([&] { source = opened(); });
    std::optional<Stranger> sender;
    AWAIT((error_of([&] { sender.emplace(port_); }).line.empty()));
    sender->say(greeting());
    opening.join();
    source->start();
    sender->say(head(0));
    sender->say(std::array<std::byte, 100>{});
    sender.reset();
    EXPECT_THAT(error_of([&] { next_block(*source); }).line, HasSubstr("ended within a block"));
}

TEST_F(Network, ReportsMissingSenderInTime) {
    EXPECT_THAT(error_of([&] { opened(100ms); }).line, HasSubstr("no sender is connected"));
    const TcpListener taken({"127.0.0.1", port_}, "test");
    EXPECT_THAT(error_of([&] { opened(100ms); }).line, HasSubstr("cannot listen on 127.0.0.1:"));
}

TEST(NetAddresses, DefaultToThisMachine) {
    EXPECT_EQ(parsed_address("5210", "x").text(), "127.0.0.1:5210");
    EXPECT_EQ(parsed_address(":5210", "x").text(), "127.0.0.1:5210");
    EXPECT_EQ(parsed_address("0.0.0.0:5210", "x").text(), "0.0.0.0:5210");
    EXPECT_EQ(parsed_address("[::1]:5210", "x").text(), "[::1]:5210");
    EXPECT_EQ(parsed_address("lab.example.org:1", "x").host, "lab.example.org");
    for (const std::string wrong : {"", ":", "host:", "host:0x1", "host:65536", "host:-1", "1.2.3.4"})
        EXPECT_EQ(error_of([&] { parsed_address(wrong, "x"); }).code, ErrorCode::bad_setting) << wrong;
}

}  // namespace
}  // namespace echolux
