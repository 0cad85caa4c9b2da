#include "engine/igtl/peer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/error.h"
#include "engine/igtl/volume_note.h"
#include "engine/version.h"

namespace echolux::igtl {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto look_around = 5ms;
constexpr auto takes_within = 20s;                  // disconnected if it accepts no byte for this long
constexpr std::size_t piece_bytes = 1 << 20;        // sent between checks for incoming data
constexpr int max_unanswered = 64;                  // further requests are read later
constexpr std::size_t max_answer_bytes = 64 << 20;  // limit for queued answers

Stamp own_stamp() {
    return {"Echolux", unix_now()};
}

}  // namespace

Peer::Peer(std::uint64_t id, TcpConnection connection, LinkCounts& counts)
    : id_(id), connection_(std::move(connection)), counts_(counts) {}

Peer::~Peer() {
    end();
}

void Peer::begin(Hear hear) {
    send(status(own_stamp(), StatusCode::ok, std::string("echolux ") + version));
    thread_ = std::jthread([this, hear = std::move(hear)](const std::stop_token& stop) { work(stop, hear); });
}

void Peer::end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void Peer::send(Bytes message) {
    const std::scoped_lock lock(mutex_);
    if (is_gone_) return;
    answer_bytes_ += message.size();
    answers_.push_back(std::make_shared<const Bytes>(std::move(message)));
    if (answer_bytes_ > max_answer_bytes) thread_.request_stop();
}

void Peer::offer(Stream stream, SharedBytes message) {
    const std::scoped_lock lock(mutex_);
    if (is_gone_) return;
    SharedBytes& newest = newest_.at(static_cast<std::size_t>(stream));
    if (newest && stream == Stream::volume) ++counts_.left_out;
    newest = std::move(message);
}

bool Peer::is_hungry() const {
    const std::scoped_lock lock(mutex_);
    return !is_gone_ && !begins_ && !newest_.at(static_cast<std::size_t>(Stream::volume));
}

std::size_t Peer::waiting_bytes() const {
    const std::scoped_lock lock(mutex_);
    return answer_bytes_;
}

void Peer::work(const std::stop_token& stop, const Hear& hear) {
    try {
        took_ = steady_clock::now();
        while (!stop.stop_requested() && send_on()) listen(hear);
    } catch (const Error& error) {  // invalid data, or disconnected
        if (error.code() == ErrorCode::bad_file) {
            ++counts_.refused;
            const Bytes why = status(own_stamp(), StatusCode::unknown_instruction, error.line());
            if (!sending_) connection_.send(why, look_around);
        }
    } catch (const std::exception&) {  // out of memory: other peers continue
    }
    const std::scoped_lock lock(mutex_);
    is_gone_ = true;
    newest_ = {};
    answers_.clear();
}

// Returns the next message to send. Answers have priority.
SharedBytes Peer::next() {
    const std::scoped_lock lock(mutex_);
    if (!answers_.empty()) {
        SharedBytes first = std::move(answers_.front());
        answers_.pop_front();
        return first;
    }
    for (std::size_t i = 0; i < stream_count; ++i) {
        if (!newest_.at(i)) continue;
        sends_volume_ = i == static_cast<std::size_t>(Stream::volume);
        begins_ = sends_volume_;
        return std::exchange(newest_.at(i), nullptr);
    }
    return nullptr;
}

bool Peer::sends_something() {
    if (sending_) return true;
    sends_volume_ = false;
    sending_ = next();
    sent_ = 0;
    if (sending_) took_ = steady_clock::now();
    return sending_ != nullptr;
}

// Sends part of the current message. Returns false if the peer is gone or no longer accepts data.
bool Peer::send_on() {
    if (!sends_something()) return true;
    const std::span<const std::byte> left = std::span(*sending_).subspan(sent_);
    const std::optional<std::size_t> went =
        connection_.send(left.first(std::min(left.size(), piece_bytes)), look_around);
    if (!went) return false;
    const auto now = steady_clock::now();
    if (*went > 0) took_ = now;
    sent_ += *went;
    counts_.bytes += static_cast<std::int64_t>(*went);
    begins_ = sends_volume_ && sent_ < sending_->size() / 2;
    if (sent_ < sending_->size()) return now - took_ < takes_within;
    if (sends_volume_) ++counts_.volumes;
    const std::scoped_lock lock(mutex_);
    answer_bytes_ = 0;
    for (const SharedBytes& answer : answers_) answer_bytes_ += answer->size();
    sending_.reset();
    return true;
}

// Receives requests. Waits briefly if there is nothing to send.
void Peer::listen(const Hear& hear) {
    if (*unanswered_ >= max_unanswered) return std::this_thread::sleep_for(sending_ ? 0ms : look_around);
    std::array<std::byte, 65536> bytes;
    const std::optional<std::size_t> came = connection_.receive(bytes, sends_something() ? 0ms : look_around);
    if (!came) throw Error(ErrorCode::device, "has gone", address());
    for (const Request& request : reader_.read(std::span(bytes).first(*came))) {
        ++counts_.requests;
        if (request.kind == Request::Kind::status || request.kind == Request::Kind::capability) {
            answer_own(request);
            continue;
        }
        ++*unanswered_;
        hear(request, std::shared_ptr<void>(nullptr, [count = unanswered_](void*) { --*count; }));
    }
}

void Peer::answer_own(const Request& request) {
    const Stamp stamp{request.device, unix_now()};
    send(request.kind == Request::Kind::status ? status(stamp, StatusCode::ok, "") : capability(stamp));
}

}  // namespace echolux::igtl
