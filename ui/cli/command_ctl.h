// Client of an Echolux that was started with `--control`: sends JSON-RPC requests and receives results, notifications
// and binary data. Blocking; for use by one thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
#include "ui/net/client_connection.h"

namespace echolux {

class ControlClient {
  public:
    // Connects and sends the token. Without `trust`, the connection is not encrypted. Throws Error{device} if no server
    // answers, and Error{bad_setting} if the token or the server's certificate is rejected.
    ControlClient(const NetAddress& address, const std::string& token, const std::optional<TlsTrust>& trust);

    // One message of the server.
    struct Answer {
        nlohmann::json json;          // the result, or the params of a notification
        std::string method;           // method of a notification
        std::vector<std::byte> data;  // binary data that followed, else empty
    };

    // Sends a request and returns its result. Throws the error of the answer, and Error{device} if the connection ends.
    Answer ask(const std::string& method, const nlohmann::json& params);

    // Waits for the next notification for at most `max_s` seconds. Returns false on timeout.
    bool hear(Answer& notification, double max_s);

  private:
    std::string line(double max_s);  // next line without its end; empty on timeout
    void fill(double max_s);         // reads into bytes_
    Answer with_data(Answer answer);

    std::string place_;
    ClientConnection connection_;
    std::string bytes_;  // received, not yet consumed
};

}  // namespace echolux
