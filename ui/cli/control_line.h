// A line to an Echolux that listens (`--control`): requests out, answers, news and bytes in. Blocking, for one thread.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/net/tcp.h"

namespace echolux {

class ControlLine {
  public:
    // Shows the token. Throws Error{device}: nobody listens there; Error{bad_setting}: the token is refused.
    ControlLine(const NetAddress& address, const std::string& token);

    struct Answer {
        nlohmann::json json;  // result, or params of what it is told
        std::string method;   // of what it is told
        std::vector<std::byte> data;
    };

    // Throws the error that it is answered with, and Error{device} where the line ends.
    Answer ask(const std::string& method, const nlohmann::json& params);

    // The next news; waits at most so long. False: none came.
    bool hear(Answer& news, double max_s);

  private:
    std::string line(double max_s);  // empty: none came
    bool fill(double max_s);         // false: nothing came
    Answer with_data(Answer answer);

    std::string place_;
    TcpConnection connection_;
    std::string bytes_;  // that came and were not taken
};

}  // namespace echolux
