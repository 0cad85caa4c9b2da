// Common part of all client connections: reads messages as fast as they are answered, writes messages in order, and
// disconnects in one place. WebSockets and line connections only differ in how a single message is read and written.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "ui/net/either_stream.h"
#include "ui/net/hub.h"

namespace echolux::net {

// Runs on the network's thread. Its pending operations keep it alive as long as the connection.
class ClientSession : public std::enable_shared_from_this<ClientSession> {
  public:
    virtual ~ClientSession() = default;
    ClientSession(const ClientSession&) = delete;
    ClientSession& operator=(const ClientSession&) = delete;

  protected:
    explicit ClientSession(Hub& hub);

    // Call this after authentication; from then on messages can be sent, starting with the greeting. `place` counts
    // this client while it is held.
    void open(Right right, bool is_page, const std::string& peer, std::shared_ptr<void> place,
              const std::string& greeting = {});
    bool is_open() const { return box_ != nullptr; }

    // Start reading or writing, unless that is in progress, paused or over.
    void read();
    void write();

    // Must be called at the end of start_read() and start_write().
    void has_read() { is_reading_ = false; }
    void take(Incoming::Kind kind, std::string message);
    void has_written(bool failed);

    void read_no_more();                   // answers pending messages, then closes
    void refuse(const std::string& line);  // sends a last message, then closes
    void end_after(double seconds);        // disconnects after this time at the latest
    void no_more_messages();               // in either direction; reports the connection as closed
    void disconnect();

    virtual void start_read() = 0;   // ends with has_read()
    virtual void start_write() = 0;  // writes writing_; ends with has_written()
    // called when nothing is left to write; ends with disconnect()
    virtual void start_close(const std::string& reason) = 0;
    virtual void cut() = 0;  // closes the socket at once

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
