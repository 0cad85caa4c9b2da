// Sending side of a connection, as seen by other threads. Messages are queued here until the client's session takes
// them on the network's thread. May outlive session and server.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/net/access.h"
#include "ui/net/connection.h"

namespace echolux {

class Outbox : public Connection, public std::enable_shared_from_this<Outbox> {
  public:
    struct Message {
        std::string text;
        SharedBytes bytes;
        bool is_binary = false;

        std::size_t size() const { return text.size() + (bytes ? bytes->size() : 0); }
    };

    Outbox(Right right, bool is_page, std::string peer, std::size_t max_waiting_bytes);

    std::uint64_t id() const override { return id_; }
    bool may_steer() const override { return right_ == Right::steer; }
    bool is_page() const override { return is_page_; }
    const std::string& peer() const override { return peer_; }
    void send_text(std::string text) override;
    void send_binary(SharedBytes bytes) override;
    void send_both(std::string text, SharedBytes bytes) override;
    std::size_t waiting_bytes() const override { return waiting_; }
    void close(const std::string& reason) override;
    bool is_open() const override { return is_open_; }

    // ---- for the session, on the network's thread

    // Sets the function that is called, on any thread, when there is something to send or to close.
    void attach(std::function<void()> wake);
    // Ends the connection; `wake` is never called again.
    void detach();

    // Counts a message as unanswered until the returned handle is released.
    std::shared_ptr<void> note_unanswered();
    int unanswered() const { return unanswered_; }

    std::optional<Message> next();                       // next message to write, if any
    void sent(std::size_t bytes) { waiting_ -= bytes; }  // reports bytes of next() as written
    std::optional<std::string> reason_to_close();  // set when the connection is to be closed after the last message
    bool gives_up();                               // true if the client is too slow: disconnect at once

  private:
    void put(std::initializer_list<Message*> messages);

    const std::uint64_t id_;
    const Right right_;
    const bool is_page_;
    const std::string peer_;
    const std::size_t max_waiting_bytes_;

    std::atomic<std::size_t> waiting_ = 0;
    std::atomic<int> unanswered_ = 0;
    std::atomic<bool> is_open_ = true;
    std::mutex mutex_;  // protects the members below
    std::deque<Message> messages_;
    std::size_t queued_ = 0;  // their size in bytes
    std::function<void()> wake_;
    std::optional<std::string> reason_;
    bool is_over_ = false;  // discards the queued messages
};

}  // namespace echolux
