#include "ui/net/outbox.h"

namespace echolux {
namespace {

std::uint64_t new_id() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

}  // namespace

Outbox::Outbox(Right right, bool is_page, std::string peer, std::size_t max_waiting_bytes)
    : id_(new_id()), right_(right), is_page_(is_page), peer_(std::move(peer)), max_waiting_bytes_(max_waiting_bytes) {}

void Outbox::put(std::initializer_list<Message*> messages) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || reason_) return;
    // The size of the next message is not limited, only the data queued behind it.
    const bool is_behind = !messages_.empty() && queued_ - messages_.front().size() > max_waiting_bytes_;
    for (Message* message : messages) {
        waiting_ += message->size();
        queued_ += message->size();
        messages_.push_back(std::move(*message));
    }
    if (is_behind) {
        reason_ = "the client reads too slowly";
        is_over_ = true;
    }
    if (wake_) wake_();
}

void Outbox::send_text(std::string text) {
    Message message{std::move(text), {}, false};
    put({&message});
}

void Outbox::send_binary(SharedBytes bytes) {
    Message message{{}, std::move(bytes), true};
    put({&message});
}

void Outbox::send_both(std::string text, SharedBytes bytes) {
    Message one{std::move(text), {}, false}, other{{}, std::move(bytes), true};
    put({&one, &other});
}

void Outbox::close(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || reason_) return;
    reason_ = reason;
    if (wake_) wake_();
}

void Outbox::attach(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    if (wake_ && (!messages_.empty() || reason_)) wake_();
}

void Outbox::detach() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    wake_ = {};
    messages_.clear();
    waiting_ = queued_ = 0;
}

// Releasing the handle wakes the session, which may then read on.
std::shared_ptr<void> Outbox::note_unanswered() {
    ++unanswered_;
    return {this, [self = shared_from_this()](void*) {
                --self->unanswered_;
                const std::lock_guard lock(self->mutex_);
                if (self->wake_) self->wake_();
            }};
}

std::optional<Outbox::Message> Outbox::next() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty() || is_over_) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    queued_ -= message.size();
    return message;
}

std::optional<std::string> Outbox::reason_to_close() {
    const std::lock_guard lock(mutex_);
    return reason_;
}

bool Outbox::gives_up() {
    const std::lock_guard lock(mutex_);
    return is_over_;
}

}  // namespace echolux
