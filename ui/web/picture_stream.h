// The pictures of one viewer, on a thread of their own: the newest one is encoded when the viewer has taken the ones
// before, so that none waits behind others; at rest the last one is sent once more, without loss. The number of
// pictures in flight and their quality follow from how fast the viewer acknowledges them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/io/video_stream.h"
#include "ui/net/connection.h"
#include "ui/web/link_quality.h"

namespace echolux {

// A picture of the whole window.
struct ServedPicture {
    std::uint32_t number = 0;
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
    double at_s = 0;  // when it was there
};

class PictureStream {
  public:
    using Picture = std::shared_ptr<const ServedPicture>;

    // `codecs`: that the page decodes, the best first; those that this machine does not make are passed over, and where
    // none is left, pictures are PNG.
    PictureStream(ConnectionPtr to, const std::vector<StreamCodec>& codecs);
    ~PictureStream();  // waits for what is being encoded

    // The page decodes others now; begins anew.
    void set_codecs(const std::vector<StreamCodec>& codecs);

    // Without waiting: it may go when it has_ended().
    void end();
    bool has_ended() const { return has_ended_; }

    // The newest picture takes the place of one that has not been encoded yet. `input`: the last of this viewer's that
    // it shows, and how long that took. `rests`: no other comes until something happens.
    void offer(const Picture& picture, std::uint32_t input, double drawing_s);
    void rest();

    void shown(std::uint32_t picture);         // the viewer says so
    void set_level(std::optional<int> level);  // nothing: by the connection

  private:
    struct Work {
        Picture picture;
        std::uint32_t input = 0;
        double drawing_s = -1;
        bool is_still = false;
    };

    void run();
    std::optional<Work> next(std::unique_lock<std::mutex>& lock);
    bool take_next_codec(bool is_still);  // false: there is none
    void send_video(const Work& work, int level);
    void send_still(const Work& work);
    void make_encoder(const ServedPicture& picture, int level);

    const ConnectionPtr to_;

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    bool ends_ = false, rests_ = false;
    Picture newest_;
    std::uint32_t input_ = 0, still_ = 0, video_ = 0;  // of the pictures that went last
    double drawing_s_ = -1;
    std::optional<int> wanted_level_;
    LinkQuality link_;
    std::optional<std::vector<StreamCodec>> wanted_codecs_;
    std::atomic<bool> has_ended_ = false;

    // Of the thread alone.
    std::vector<StreamCodec> codecs_;
    std::unique_ptr<StreamEncoder> encoder_;
    StreamFormat format_;
    std::string decoder_text_;  // how the page was told to decode
    std::thread thread_;
};

}  // namespace echolux
