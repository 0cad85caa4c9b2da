// A client of an Echolux that listens (`--control`): requests out, results, notifications and bytes in. Blocking, for
// one thread.
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
    // Shows the token. `trust`: nothing: without TLS. Throws Error{device}: nobody listens there; Error{bad_setting}:
    // the token is refused, or the server's certificate is not accepted.
    ControlClient(const NetAddress& address, const std::string& token, const std::optional<TlsTrust>& trust);

    struct Answer {
        nlohmann::json json;  // the result, or params of a notification
        std::string method;   // of a notification
        std::vector<std::byte> data;
    };

    // Throws the error that it is answered with, and Error{device} where the connection ends.
    Answer ask(const std::string& method, const nlohmann::json& params);

    // The next notification; waits at most so long. False: none came.
    bool hear(Answer& notification, double max_s);

  private:
    std::string line(double max_s);  // empty: none came
    void fill(double max_s);         // with what comes
    Answer with_data(Answer answer);

    std::string place_;
    ClientConnection connection_;
    std::string bytes_;  // that came and were not taken
};

}  // namespace echolux
