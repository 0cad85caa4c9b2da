// Picture stream of one viewer, with its own thread. Encodes the newest picture when the viewer has received the
// previous ones, so that pictures never queue up. When the window is at rest, the last picture is sent again
// losslessly. The number of pictures in flight and their quality follow from the viewer's acknowledgements
// (LinkQuality).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "engine/io/movie_file.h"
#include "ui/net/connection.h"

namespace echolux {

// ---- Congestion control for pictures sent to a viewer: limits the pictures in flight and selects the quality level
// from the time until each picture is acknowledged.
//
// Delay beyond the shortest recent time is spent in queues. The number of pictures in queues is window * delay / time;
// one or two keep the connection busy, as in TCP Vegas (L. S. Brakmo and L. L. Peterson, 1995). Long delays shrink the
// window multiplicatively (D.-M. Chiu and R. Jain, 1989).
//
// The caller passes the time. Not thread-safe.

class LinkQuality {
  public:
    bool may_send() const { return static_cast<double>(in_flight_.size() + 1) <= window_; }
    bool is_empty() const { return in_flight_.empty(); }
    // Quality level from 0 (best) to worst_level.
    int level() const { return level_; }

    void sent(std::uint32_t picture, double now_s) { in_flight_.push_back({picture, now_s}); }

    // Acknowledges all pictures up to this one. The difference is signed because picture numbers wrap around.
    void shown(std::uint32_t picture, double now_s) {
        double took_s = -1;
        while (!in_flight_.empty() && static_cast<std::int32_t>(picture - in_flight_.front().picture) >= 0) {
            took_s = now_s - in_flight_.front().at_s;
            in_flight_.pop_front();
        }
        if (took_s >= 0) learn(took_s, now_s);
    }

    // Forgets pictures in flight, which a new stream never acknowledges.
    void forget() { in_flight_.clear(); }

  private:
    struct Sent {
        std::uint32_t picture;
        double at_s;
    };

    static constexpr double forgets_s = 10;     // lifetime of the shortest time
    static constexpr double few = 1, many = 2;  // bounds for the number of pictures in queues
    static constexpr double queues_s = 0.12;    // delay that counts as congestion
    static constexpr double worse_after_s = 0.5, better_after_s = 4;
    static constexpr int worst_level = 3;

    // Updates window and level from one acknowledged picture. The level gets worse after 0.5 s of congestion and better
    // after 4 s without.
    void learn(double took_s, double now_s) {
        if (took_s <= shortest_s_ || now_s > shortest_at_s_ + forgets_s) {
            shortest_s_ = took_s;
            shortest_at_s_ = now_s;
        }
        const double late_s = took_s - shortest_s_;
        const double waiting = took_s > 0 ? window_ * late_s / took_s : 0;
        if (late_s > queues_s)
            window_ = std::max(1.0, 0.6 * window_);
        else if (waiting < few)
            window_ = std::min(16.0, window_ + 0.25);
        else if (waiting > many)
            window_ = std::max(2.0, window_ - 0.25);
        if (late_s > queues_s) {
            good_since_s_ = now_s;
            if (now_s > bad_since_s_ + worse_after_s) {
                level_ = std::min(worst_level, level_ + 1);
                bad_since_s_ = now_s;
            }
        } else {
            bad_since_s_ = now_s;
            if (now_s > good_since_s_ + better_after_s) {
                level_ = std::max(0, level_ - 1);
                good_since_s_ = now_s;
            }
        }
    }

    std::deque<Sent> in_flight_;
    double window_ = 2;
    double shortest_s_ = 1e9, shortest_at_s_ = -1e9;
    double bad_since_s_ = 0, good_since_s_ = 0;
    int level_ = 0;
};

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

    // Number of pictures that could not be sent losslessly. They are skipped.
    int failed_stills() const { return failed_stills_; }

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
    std::atomic<int> failed_stills_ = 0;

    // Used by the thread only.
    std::vector<StreamCodec> codecs_;
    std::unique_ptr<StreamEncoder> encoder_;
    StreamFormat format_;
    std::string decoder_text_;  // decoder description sent to the page
    std::thread thread_;
};

// ---- Header of each picture sent to a page: 40 bytes, little-endian, described in docs/serve.md. The page parses it
// in assets/web/video.js.

struct FrameHeader {
    std::uint8_t kind = 0;  // video is 0, a still picture (PNG) is 1
    std::uint8_t is_key = 0;
    std::uint8_t codec = 0;  // index into the codec list of "welcome"
    std::uint8_t level = 0;  // quality level; 0 is the best
    std::uint32_t picture = 0;
    std::uint32_t input = 0;  // number of the last input from this page that the picture shows
    std::uint32_t width = 0, height = 0;
    float drawing_ms = 0;  // from the arrival of that input to the picture; negative without new input
    float waiting_ms = 0;  // from the picture to the start of encoding
    float encoding_ms = 0;
    std::uint32_t reserved[2] = {};
};
static_assert(sizeof(FrameHeader) == 40);
static_assert(std::endian::native == std::endian::little);

// Returns the header followed by the picture.
inline std::shared_ptr<const std::vector<std::byte>> framed(const FrameHeader& header,
                                                            const std::vector<std::byte>& bytes) {
    auto whole = std::make_shared<std::vector<std::byte>>(sizeof header + bytes.size());
    std::memcpy(whole->data(), &header, sizeof header);
    std::memcpy(whole->data() + sizeof header, bytes.data(), bytes.size());
    return whole;
}

}  // namespace echolux
