// The connection as others hold it: messages wait here for the network's thread, where the session of the client takes
// them out, one at a time. It outlives session and server.
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

    // ---- of the session, on the network's thread

    // Called, on any thread, when there is something to send or to end.
    void attach(std::function<void()> wake);
    // The connection has ended, or the server ends: nothing is called any more.
    void detach();

    // Of a message: it counts as unanswered while the returned handle lives.
    std::shared_ptr<void> note_unanswered();
    int unanswered() const { return unanswered_; }

    std::optional<Message> next();                       // what is to be written now
    void sent(std::size_t bytes) { waiting_ -= bytes; }  // of a message of next()
    std::optional<std::string> reason_to_close();        // once nothing is left to write
    bool gives_up();                                     // on a client that takes nothing: at once

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
    std::mutex mutex_;  // of what follows
    std::deque<Message> messages_;
    std::size_t queued_ = 0;  // bytes of them
    std::function<void()> wake_;
    std::optional<std::string> reason_;
    bool is_over_ = false;  // whatever waits is not sent
};

}  // namespace echolux
