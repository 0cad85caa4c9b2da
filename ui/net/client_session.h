// What the connections of all clients have in common: messages are read as fast as they are answered, written in their
// order, and the client is disconnected in one place. A WebSocket and a connection of lines differ in how one message
// is read and written.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "ui/net/either_stream.h"
#include "ui/net/hub.h"

namespace echolux::net {

// On the network's thread. Lives as long as its connection.
class ClientSession : public std::enable_shared_from_this<ClientSession> {
  public:
    virtual ~ClientSession() = default;
    ClientSession(const ClientSession&) = delete;
    ClientSession& operator=(const ClientSession&) = delete;

  protected:
    explicit ClientSession(Hub& hub);

    // Authenticated: from now on others can send, behind the greeting. `place`: counts this client while it lives.
    void open(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> place,
              const std::string& greeting = {});
    bool is_open() const { return box_ != nullptr; }

    // Starts reading or writing unless that goes on already, has to wait, or has ended.
    void read();
    void write();

    // The ends of start_read() and start_write().
    void has_read() { is_reading_ = false; }
    void take(Incoming::Kind kind, std::string message);
    void has_written(bool failed);

    void read_no_more();                   // what is unanswered is still answered, then the connection ends
    void refuse(const std::string& line);  // which is the last message
    void end_after(double seconds);        // at the latest
    void no_more_messages();               // in either direction: others hear that it is closed
    void disconnect();

    virtual void start_read() = 0;                            // then has_read()
    virtual void start_write() = 0;                           // of writing_; then has_written()
    virtual void start_close(const std::string& reason) = 0;  // nothing is left to write; then disconnect()
    virtual void cut() = 0;

    Hub& hub_;
    Outbox::Message writing_;
    bool is_reading_ = false;

  private:
    void go_on();
    void pause(double wait_s);

    std::shared_ptr<Outbox> box_;
    std::shared_ptr<void> place_;
    Rate rate_;
    asio::steady_timer pause_, end_;
    std::size_t writing_bytes_ = 0;
    bool is_writing_ = false, is_paused_ = false, is_over_ = false, has_read_all_ = false;
};

}  // namespace echolux::net
