// Destination of the response to one request: its connection, or the collected responses of its batch. Notifications
// (JSON-RPC requests without id) get no response.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ui/control/message.h"
#include "ui/net/connection.h"

namespace echolux {

// Responses of a batch, sent together when the last one is complete.
struct BatchAnswers {
    // requests without a response yet
    std::size_t waiting = 0;
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
};

class Reply {
  public:
    // `waiting` is kept until the request is answered.
    Reply(ConnectionPtr to, const Request& request, std::shared_ptr<BatchAnswers> batch, std::shared_ptr<void> waiting)
        : to_(std::move(to)), id_(request.id), is_silent_(request.is_notification), batch_(std::move(batch)),
          waiting_(std::move(waiting)) {}

    const Connection& connection() const { return *to_; }
    const ConnectionPtr& shared_connection() const { return to_; }

    // Send the response. Call exactly one of these, once.
    void result(nlohmann::ordered_json result) const { send(result_answer(id_, std::move(result))); }
    void result(nlohmann::ordered_json result, SharedBytes data) const;  // adds "bytes"; not in a batch
    void refuse(const Refusal& refusal) const { send(error_answer(id_, refusal)); }

  private:
    void send(nlohmann::ordered_json answer) const;

    ConnectionPtr to_;
    nlohmann::json id_;
    bool is_silent_;
    std::shared_ptr<BatchAnswers> batch_;
    std::shared_ptr<void> waiting_;
};

}  // namespace echolux
