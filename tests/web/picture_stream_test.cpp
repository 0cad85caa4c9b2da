// Behaviour of the stream when encoding a picture fails.
#include "ui/web/picture_stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "await.h"

namespace echolux::test {
namespace {

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
