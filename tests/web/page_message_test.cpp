// Parsing of page messages, and adaptation of the pictures to the quality of the connection.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>

#include "await.h"
#include "compute/error.h"
#include "engine/io/movie_file.h"
#include "engine/io/png_file.h"
#include "temporary_folder.h"
#include "ui/web/page_message.h"
#include "ui/web/picture_stream.h"

namespace echolux::test {
namespace {

TEST(PageMessage, InputsBecomeWindowEvents) {
    const PageMessage message = parsed_page_message(
        R"({"type":"input","number":7,"events":[["m",1.5,2],["b",1,1],["w",0,-1],["k","Ctrl",1,0],["t",228],["f",0]]})");
    const auto& input = std::get<PageInput>(message);
    EXPECT_EQ(input.number, 7u);
    ASSERT_EQ(input.events.size(), 6u);
    EXPECT_EQ(std::get<PointerMoved>(input.events[0]).x, 1.5);
    EXPECT_TRUE(std::get<PointerButton>(input.events[1]).down);
    EXPECT_EQ(std::get<KeyPressed>(input.events[3]).name, "Ctrl");
    EXPECT_EQ(std::get<TextTyped>(input.events[4]).character, 228u);
}

TEST(PageMessage, RejectsInvalidMessages) {
    for (const char* text :
         {"", "x", "[]", "{}", R"({"type":1})", R"({"type":"input"})", R"({"type":"input","number":-1,"events":[]})",
          R"({"type":"input","number":1,"events":[["m",1]]})",
          R"({"type":"input","number":1,"events":[["m",1e300,0]]})",
          R"({"type":"input","number":1,"events":[["z",1]]})", R"({"type":"size","width":1e9,"height":100,"scale":1})",
          R"({"type":"size","width":640,"height":480,"scale":100})", R"({"type":"steer","what":"take"})",
          R"({"type":"quality","level":9})", R"({"type":"shown","picture":"1"})", R"({"type":"shown","picture":1e20})"})
        EXPECT_THROW(parsed_page_message(text), Error) << text;
    EXPECT_THROW(parsed_page_message(std::string(100000, '[')), Error);
}

TEST(PageMessage, RoundsSizesToEven) {
    const auto size = std::get<PageSize>(parsed_page_message(R"({"type":"size","width":801,"height":601,"scale":2})"));
    EXPECT_EQ(size.width, 800);
    EXPECT_EQ(size.height, 600);
}

TEST(LinkQuality, FastLineGetsMorePicturesAndQueueFewer) {
    LinkQuality line;
    std::uint32_t picture = 0;
    double now = 0;
    for (int i = 0; i < 60; ++i) {
        line.sent(++picture, now);
        line.shown(picture, now + 0.02);
        now += 0.03;
    }
    EXPECT_EQ(line.level(), 0);
    int at_once = 0;
    for (; line.may_send() && at_once < 100; ++at_once) line.sent(++picture, now);
    EXPECT_EQ(at_once, 16);
    line.shown(picture, now + 0.02);
    for (int i = 0; i < 20; ++i) {
        line.sent(++picture, now);
        now += 0.3;
        line.shown(picture, now);
    }
    EXPECT_GT(line.level(), 0);
    at_once = 0;
    for (; line.may_send(); ++at_once) line.sent(++picture, now);
    EXPECT_EQ(at_once, 1);
}

// A viewer that needs 10 ms per picture and is sent as many pictures as allowed. Pictures waiting in its queue are
// delay that the user notices.
TEST(LinkQuality, PacedViewerGetsNoQueue) {
    LinkQuality line;
    std::uint32_t picture = 0;
    double now = 0, longest = 0;
    std::deque<std::pair<std::uint32_t, double>> taken;  // picture, time sent
    for (int i = 0; i < 400; ++i) {
        for (; line.may_send(); taken.emplace_back(picture, now)) line.sent(++picture, now);
        now += 0.010;
        if (i > 100) longest = std::max(longest, now - taken.front().second);
        line.shown(taken.front().first, now);
        taken.pop_front();
    }
    EXPECT_LE(longest, 0.035);
    EXPECT_EQ(line.level(), 0);
}

std::vector<std::uint8_t> drawn(std::int64_t width, std::int64_t height) {
    std::vector<std::uint8_t> rgba;
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            rgba.push_back(static_cast<std::uint8_t>(x * 255 / width));
            rgba.push_back(static_cast<std::uint8_t>(y * 255 / height));
            rgba.push_back(static_cast<std::uint8_t>(128 + 100 * std::sin(0.05 * static_cast<double>(x + y))));
            rgba.push_back(static_cast<std::uint8_t>(x));
        }
    }
    return rgba;
}

TEST(SolidPng, IsLossless) {
    const TemporaryFolder folder;
    for (const std::int64_t height : {1, 63, 64, 65, 200}) {
        const std::vector<std::uint8_t> rgba = drawn(90, height);
        const std::vector<std::byte> png = png_bytes(rgba, 90, height, Alpha::dropped);
        std::ofstream(folder / "p.png", std::ios::binary)
            .write(reinterpret_cast<const char*>(png.data()), std::ssize(png));
        const Picture read = read_png(folder / "p.png");
        ASSERT_EQ(read.channels, 3);
        ASSERT_EQ(read.height, height);
        for (std::size_t i = 0; i < read.pixels.size() / 3; ++i)
            ASSERT_EQ(std::memcmp(&read.pixels[3 * i], &rgba[4 * i], 3), 0) << i;
    }
    EXPECT_THROW(png_bytes(drawn(4, 4), 4, 5, Alpha::dropped), Error);
}

TEST(StreamEncoder, EncodesPicturesAtOnceWithRequestedKeys) {
    if (stream_codecs().empty()) GTEST_SKIP() << "no FFmpeg on this machine";
    for (const StreamCodec codec : stream_codecs()) {
        const auto encoder = make_stream_encoder({codec, 320, 240});
        for (int i = 0; i < 6; ++i) {
            const StreamedPicture picture = encoder->encode(drawn(320, 240), i == 0 || i == 3);
            EXPECT_FALSE(picture.bytes.empty()) << name_of(codec) << " " << i;
            EXPECT_EQ(picture.is_key, i == 0 || i == 3 || codec == StreamCodec::jpeg) << name_of(codec) << " " << i;
        }
        EXPECT_FALSE(encoder->codec_text().empty());
    }
    EXPECT_THROW(make_stream_encoder({StreamCodec::h264, 321, 240}), Error);
}

class TestClient : public Connection {
  public:
    std::uint64_t id() const override { return 1; }
    bool may_steer() const override { return true; }
    bool is_page() const override { return true; }
    const std::string& peer() const override { return peer_; }
    void send_text(std::string) override {}
    void send_binary(SharedBytes bytes) override {
        FrameHeader header;
        std::memcpy(&header, bytes->data(), sizeof header);
        last = header.picture * 2 + header.kind;
    }
    void send_both(std::string, SharedBytes) override {}
    std::size_t waiting_bytes() const override { return 0; }
    void close(const std::string&) override { is_open_ = false; }
    bool is_open() const override { return is_open_; }

    // Waits for the picture as video (kind 0) or as a still (kind 1). Returns whether it arrived.
    bool gets(std::uint32_t picture, std::uint32_t kind) const {
        return becomes_true([&] { return last == picture * 2 + kind; });
    }

    std::atomic<std::uint32_t> last = 0;

  private:
    std::string peer_;
    std::atomic<bool> is_open_ = true;
};

std::shared_ptr<ServedPicture> picture_of(std::uint32_t number) {
    return std::make_shared<ServedPicture>(
        ServedPicture{number, 64, 48, std::vector<std::uint8_t>(std::size_t{4} * 64 * 48, 100), 0});
}

TEST(PictureStream, FailedStillKeepsCodec) {
    if (stream_codecs().empty()) GTEST_SKIP() << "no FFmpeg on this machine";
    const auto client = std::make_shared<TestClient>();
    PictureStream stream(client, {StreamCodec::jpeg});
    const auto broken = picture_of(1);
    stream.offer(broken, 0, 0);
    ASSERT_TRUE(client->gets(1, 0));
    broken->rgba.clear();  // makes encoding its still fail, as if out of memory
    stream.rest();
    stream.shown(1);
    AWAIT(stream.failed_stills() == 1);
    stream.offer(picture_of(2), 0, 0);
    EXPECT_TRUE(client->gets(2, 0));
    stream.rest();
    stream.shown(2);
    EXPECT_TRUE(client->gets(2, 1));
    EXPECT_TRUE(client->is_open());
}

}  // namespace
}  // namespace echolux::test
