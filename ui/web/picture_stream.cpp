#include "ui/web/picture_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "compute/error.h"
#include "engine/io/png_file.h"

namespace echolux {
namespace {

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

float in_ms(double seconds) {
    return static_cast<float>(1e3 * seconds);
}

}  // namespace

PictureStream::PictureStream(ConnectionPtr to, const std::vector<StreamCodec>& codecs) : to_(std::move(to)) {
    set_codecs(codecs);
    thread_ = std::thread([this] {
        run();
        has_ended_ = true;
    });
}

PictureStream::~PictureStream() {
    end();
    thread_.join();
}

void PictureStream::end() {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
}

void PictureStream::set_codecs(const std::vector<StreamCodec>& codecs) {
    std::vector<StreamCodec> made;
    for (const StreamCodec codec : codecs) {
        if (std::ranges::find(stream_codecs(), codec) != stream_codecs().end()) made.push_back(codec);
    }
    const std::lock_guard lock(mutex_);
    wanted_codecs_ = std::move(made);
    changed_.notify_all();
}

void PictureStream::offer(const Picture& picture, std::uint32_t input, double drawing_s) {
    const std::lock_guard lock(mutex_);
    newest_ = picture;
    if (input != input_) {
        input_ = input;
        drawing_s_ = drawing_s;
    }
    rests_ = false;
    changed_.notify_all();
}

void PictureStream::rest() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(rests_, true)) return;
    changed_.notify_all();
}

void PictureStream::shown(std::uint32_t picture) {
    const std::lock_guard lock(mutex_);
    link_.shown(picture, now_s());
    changed_.notify_all();
}

void PictureStream::set_level(std::optional<int> level) {
    const std::lock_guard lock(mutex_);
    wanted_level_ = level;
}

// Waits for the next picture to send. Returns nullopt at the end. A still picture is sent after all earlier pictures
// have been acknowledged.
std::optional<PictureStream::Work> PictureStream::next(std::unique_lock<std::mutex>& lock) {
    for (;;) {
        if (ends_) return std::nullopt;
        // New codecs start a new stream, beginning with a key frame.
        if (wanted_codecs_) {
            codecs_ = *std::exchange(wanted_codecs_, std::nullopt);
            encoder_.reset();
            link_.forget();
            video_ = still_ = 0;
        }
        const bool is_new = newest_ != nullptr && newest_->number != video_ && newest_->number != still_;
        const bool is_still = rests_ && newest_ != nullptr && newest_->number == video_ && video_ != still_;
        if (is_new && link_.may_send() && to_->waiting_bytes() == 0)
            return Work{newest_, input_, std::exchange(drawing_s_, -1), codecs_.empty()};
        if (is_still && link_.is_empty()) return Work{newest_, input_, -1, true};
        // The connection does not signal that bytes have left, so poll.
        const bool waits_for_link = is_new && link_.may_send();
        if (waits_for_link)
            changed_.wait_for(lock, std::chrono::milliseconds(1));
        else
            changed_.wait(lock);
    }
}

void PictureStream::run() {
    std::unique_lock lock(mutex_);
    while (const std::optional<Work> work = next(lock)) {
        const int level = wanted_level_.value_or(link_.level());
        const bool is_still = work->is_still;
        if (!is_still || codecs_.empty()) video_ = work->picture->number;
        if (is_still) still_ = work->picture->number;
        lock.unlock();
        try {
            is_still ? send_still(*work) : send_video(*work, level);
            lock.lock();
        } catch (const std::exception& error) {
            lock.lock();
            if (!take_next_codec(is_still)) return to_->close(error.what());
        }
    }
}

// Called after an error. For video, selects the next codec, finally PNG. A failed still picture is skipped. Returns
// false if PNG also failed.
bool PictureStream::take_next_codec(bool is_still) {
    if (codecs_.empty()) return false;
    if (is_still) {
        ++failed_stills_;
        return true;
    }
    encoder_.reset();
    codecs_.erase(codecs_.begin());
    video_ = still_ = 0;
    return true;
}

// Rebuilds the encoder when the codec, size or level changes.
void PictureStream::make_encoder(const ServedPicture& picture, int level) {
    const bool fits = encoder_ != nullptr && format_.width == picture.width && format_.height == picture.height &&
                      format_.level == level;
    if (fits) return;
    format_ = {codecs_.front(), picture.width, picture.height, level};
    encoder_ = make_stream_encoder(format_);
    decoder_text_.clear();
}

// Encodes and sends a picture. A new encoder first describes its stream, so that the page can set up the decoder.
void PictureStream::send_video(const Work& work, int level) {
    const double begun = now_s();
    make_encoder(*work.picture, level);
    const bool is_first = decoder_text_.empty();
    const StreamedPicture encoded = encoder_->encode(work.picture->rgba, is_first);
    if (encoded.bytes.empty()) throw Error(ErrorCode::device, "does not return every frame", "video");
    const double done = now_s();
    FrameHeader header;
    header.kind = 0;
    header.is_key = encoded.is_key ? 1 : 0;
    header.codec = static_cast<std::uint8_t>(format_.codec);
    header.level = static_cast<std::uint8_t>(level);
    header.picture = work.picture->number;
    header.input = work.input;
    header.width = static_cast<std::uint32_t>(work.picture->width);
    header.height = static_cast<std::uint32_t>(work.picture->height);
    header.drawing_ms = in_ms(work.drawing_s);
    header.waiting_ms = in_ms(begun - work.picture->at_s);
    header.encoding_ms = in_ms(done - begun);
    // Registered before sending, so that the acknowledgement cannot arrive first.
    {
        const std::lock_guard lock(mutex_);
        link_.sent(header.picture, done);
    }
    if (is_first) {
        decoder_text_ = encoder_->codec_text();
        to_->send_text(fmt::format(R"({{"type":"stream","codec":"{}","decoder":"{}","encoder":"{}"}})",
                                   name_of(format_.codec), decoder_text_, encoder_->name()));
    }
    to_->send_binary(framed(header, encoded.bytes));
}

void PictureStream::send_still(const Work& work) {
    const double begun = now_s();
    const std::vector<std::byte> png =
        png_bytes(work.picture->rgba, work.picture->width, work.picture->height, Alpha::dropped);
    FrameHeader header;
    header.kind = 1;
    header.is_key = 1;
    header.picture = work.picture->number;
    header.input = work.input;
    header.width = static_cast<std::uint32_t>(work.picture->width);
    header.height = static_cast<std::uint32_t>(work.picture->height);
    header.drawing_ms = in_ms(work.drawing_s);
    header.waiting_ms = in_ms(begun - work.picture->at_s);
    header.encoding_ms = in_ms(now_s() - begun);
    {
        const std::lock_guard lock(mutex_);
        link_.sent(header.picture, now_s());
    }
    to_->send_binary(framed(header, png));
}

}  // namespace echolux
