// Where the answer of one request goes: to its connection by itself, or with the others of its batch. A notification
// (in the sense of JSON-RPC: a request without an id) has none.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ui/control/message.h"
#include "ui/net/connection.h"

namespace echolux {

// Answers of a batch, sent as one when the last is there.
struct BatchAnswers {
    std::size_t waiting = 0;
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
};

class Reply {
  public:
    Reply(ConnectionPtr to, const Request& request, std::shared_ptr<BatchAnswers> batch)
        : to_(std::move(to)), id_(request.id), is_silent_(request.is_notification), batch_(std::move(batch)) {}

    const Connection& connection() const { return *to_; }
    const ConnectionPtr& shared_connection() const { return to_; }
    bool is_in_batch() const { return batch_ != nullptr; }

    // One of these once.
    void result(nlohmann::ordered_json result) const { send(result_answer(id_, std::move(result))); }
    void result(nlohmann::ordered_json result, std::vector<std::byte> data) const;  // says "bytes"; not in a batch
    void refuse(const Refusal& refusal) const { send(error_answer(id_, refusal)); }

  private:
    void send(nlohmann::ordered_json answer) const;

    ConnectionPtr to_;
    nlohmann::json id_;
    bool is_silent_;
    std::shared_ptr<BatchAnswers> batch_;
};

}  // namespace echolux
