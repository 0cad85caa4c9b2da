// JSON-RPC 2.0 messages (jsonrpc.org/specification): single requests and batches, from text or OpenIGTLink, and their
// responses. Parses text from any client without knowing the methods. Errors are returned as data, so that every
// request receives a response.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "engine/igtl/messages.h"
#include "ui/net/connection.h"

namespace echolux {

// Codes of the specification; from -32001 down our own, including one for each ErrorCode.
enum class RpcCode : int {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    internal_error = -32603,
    bad_setting = -32001,
    bad_file = -32002,
    output = -32003,
    out_of_memory = -32004,
    device = -32005,
    cancelled = -32006,
    not_allowed = -32007,
    too_many = -32008,
};

std::string_view name_of(RpcCode code);  // "invalid_params"
RpcCode rpc_code(ErrorCode code);
std::vector<RpcCode> all_rpc_codes();

// An error with its JSON-RPC code.
struct Refusal {
    RpcCode code;
    Error error;

    Refusal(RpcCode of, const Error& why) : code(of), error(why) {}
    Refusal(const Error& why) : code(rpc_code(why.code())), error(why) {}  // NOLINT: every Error has a code
};

struct Request {
    nlohmann::json id;  // string, number or null
    bool is_notification = false;
    std::string method;
    nlohmann::json params;           // object or array
    std::optional<Refusal> refusal;  // set if the request is invalid
};

struct Message {
    bool is_batch = false;          // a JSON array, which is answered by an array
    std::vector<Request> requests;  // at least one
};

// Parses a request or batch. Invalid text becomes a request with `refusal`; nothing is thrown.
Message parsed_message(std::string_view text);

// Build messages as JSON objects.
nlohmann::ordered_json result_answer(const nlohmann::json& id, nlohmann::ordered_json result);
nlohmann::ordered_json error_answer(const nlohmann::json& id, const Refusal& refusal);
nlohmann::ordered_json notification(std::string_view method, nlohmann::ordered_json params);

// Serializes to one line. Invalid UTF-8, e.g. in file names, is replaced.
std::string line_of(const nlohmann::ordered_json& json);

// ---- Destination of the response to one request: its connection, or the collected responses of its batch.
// Notifications (JSON-RPC requests without id) get no response.

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

// ---- Base64 (RFC 4648) for responses that hold a picture or voxels in their JSON.

// Returns the bytes as base64 with padding and without line breaks.
std::string base64_of(std::span<const std::byte> bytes);

// ---- Translates OpenIGTLink messages of type COMMAND and STRING to the JSON-RPC requests of docs/control.md, with the
// same methods, names and checks.

// Returns the request for a message.
//
// The name of a COMMAND is the method. Its text holds the parameters: a JSON object or list, nothing, or, for `set` and
// `get`, lines such as "view.mode=mip" and "view.mode". A STRING holds such lines or a complete JSON request. The id is
// the number of the COMMAND, or 0. Throws Error{bad_setting} if the text has none of these forms.
std::string rpc_of(const igtl::Request& request);

// Adds binary data to a response as base64, in the member `data` of its result.
std::string with_data(const std::string& answer, std::span<const std::byte> data);

}  // namespace echolux
