#include "ui/net/client_session.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace echolux::net {

ClientSession::ClientSession(Hub& hub)
    : hub_(hub), rate_(hub.limits().messages_per_s, Hub::now_s()), pause_(hub.io), end_(hub.io) {}

void ClientSession::open(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> place,
                         const std::string& greeting) {
    place_ = std::move(place);
    box_ = hub_.opened(right, is_page, peer, shared_from_this());
    box_->attach([weak = weak_from_this(), io = &hub_.io] {
        asio::post(*io, [weak] {
            if (const auto self = weak.lock()) self->go_on();
        });
    });
    if (!greeting.empty()) box_->send_text(greeting);
    read();
}

// Called on the network's thread when there is something to send or close, or when a message has been answered.
void ClientSession::go_on() {
    if (is_over_) return;
    if (box_->gives_up()) return disconnect();
    write();
    if (!is_over_) read();
}

// Reading pauses while too many messages wait for their answer, which slows the sender down through TCP.
void ClientSession::read() {
    const bool waits = box_ && box_->unanswered() >= hub_.limits().messages_waiting;
    if (is_reading_ || is_over_ || is_paused_ || has_read_all_ || waits) return;
    is_reading_ = true;
    start_read();
}

void ClientSession::take(Incoming::Kind kind, std::string message) {
    hub_.arrived(box_, kind, std::move(message));
    if (const double wait_s = rate_.take(Hub::now_s()); wait_s > 0) return pause(wait_s);
    read();
}

// Delays reading, because the client sends more messages per second than the limit.
void ClientSession::pause(double wait_s) {
    is_paused_ = true;
    pause_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(in_time(wait_s)));
    pause_.async_wait([self = shared_from_this()](error_code) {
        self->is_paused_ = false;
        self->read();
    });
}

void ClientSession::write() {
    if (is_writing_ || is_over_) return;
    std::optional<Outbox::Message> next = box_->next();
    // Nothing is left to write: close if requested, or if the client has stopped sending and has all answers.
    if (!next) {
        const bool is_answered = has_read_all_ && box_->unanswered() == 0;
        const std::optional<std::string> reason = box_->reason_to_close();
        if (!reason && !is_answered) return;
        is_over_ = true;
        return start_close(reason.value_or(""));
    }
    is_writing_ = true;
    writing_ = std::move(*next);
    writing_bytes_ = writing_.size();
    start_write();
}

void ClientSession::has_written(bool failed) {
    is_writing_ = false;
    if (failed || is_over_) return disconnect();
    box_->sent(writing_bytes_);
    write();
}

void ClientSession::read_no_more() {
    has_read_all_ = true;
    write();
}

void ClientSession::refuse(const std::string& line) {
    has_read_all_ = true;
    end_after(hub_.limits().introduction_s);  // limits the wait for a client that does not read
    box_->send_text(line);
    box_->close("refused");
}

void ClientSession::end_after(double seconds) {
    end_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(in_time(seconds)));
    end_.async_wait([weak = weak_from_this()](error_code error) {
        if (const auto self = weak.lock(); self && !error) self->disconnect();
    });
}

void ClientSession::no_more_messages() {
    is_over_ = true;
    if (box_) hub_.closed(box_);
    place_.reset();
}

void ClientSession::disconnect() {
    no_more_messages();
    pause_.cancel();
    end_.cancel();
    cut();
}

}  // namespace echolux::net
