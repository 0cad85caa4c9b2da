// Picture stream of one viewer, with its own thread. Encodes the newest picture when the viewer has received the
// previous ones, so that pictures never queue up. When the window is at rest, the last picture is sent again
// losslessly. The number of pictures in flight and their quality follow from the viewer's acknowledgements
// (LinkQuality).
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

// Picture of the whole window.
struct ServedPicture {
    std::uint32_t number = 0;
    std::int64_t width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
    double at_s = 0;  // time of completion, steady clock
};

class PictureStream {
  public:
    using Picture = std::shared_ptr<const ServedPicture>;

    // `codecs`: supported by the page, best first. Codecs that this machine cannot encode are skipped; if none is left,
    // pictures are sent as PNG.
    PictureStream(ConnectionPtr to, const std::vector<StreamCodec>& codecs);
    ~PictureStream();  // waits for the picture that is being encoded

    // Replaces the codecs of the page and restarts the stream.
    void set_codecs(const std::vector<StreamCodec>& codecs);

    // Requests the end without blocking. Destroy the object when has_ended() returns true.
    void end();
    bool has_ended() const { return has_ended_; }

    // Sets the newest picture, which replaces one that is not yet encoded. `input` is the number of the viewer's last
    // input that the picture shows, `drawing_s` the time from that input to the picture.
    void offer(const Picture& picture, std::uint32_t input, double drawing_s);
    // Reports that no other picture follows soon, so that the last one is sent losslessly.
    void rest();

    void shown(std::uint32_t picture);         // acknowledges pictures up to this number
    void set_level(std::optional<int> level);  // nullopt: chosen from the connection

  private:
    // A picture to send now.
    struct Work {
        Picture picture;
        std::uint32_t input = 0;
        double drawing_s = -1;
        bool is_still = false;
    };

    void run();
    std::optional<Work> next(std::unique_lock<std::mutex>& lock);
    bool take_next_codec(bool is_still);  // false if none is left
    void send_video(const Work& work, int level);
    void send_still(const Work& work);
    void make_encoder(const ServedPicture& picture, int level);

    const ConnectionPtr to_;

    mutable std::mutex mutex_;  // protects the members up to wanted_codecs_
    std::condition_variable changed_;
    bool ends_ = false, rests_ = false;
    Picture newest_;
    std::uint32_t input_ = 0, still_ = 0, video_ = 0;  // input_: last input shown; still_, video_: pictures last sent
    double drawing_s_ = -1;
    std::optional<int> wanted_level_;
    LinkQuality link_;
    std::optional<std::vector<StreamCodec>> wanted_codecs_;
    std::atomic<bool> has_ended_ = false;

    // Used by the thread only.
    std::vector<StreamCodec> codecs_;
    std::unique_ptr<StreamEncoder> encoder_;
    StreamFormat format_;
    std::string decoder_text_;  // decoder description sent to the page
    std::thread thread_;
};

}  // namespace echolux
