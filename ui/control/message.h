// What programs send to steer Echolux, as JSON-RPC 2.0 (jsonrpc.org/specification): one request or a batch of them.
// What any client sends is taken apart here, without knowing what it asks for; whatever is wrong with it is data, so
// that every request has its answer.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"

namespace echolux {

// Those of the specification; below -32000 those of ours, one for each ErrorCode.
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

// An error with its place in the protocol.
struct Refusal {
    RpcCode code;
    Error error;

    Refusal(RpcCode of, const Error& why) : code(of), error(why) {}
    Refusal(const Error& why) : code(rpc_code(why.code())), error(why) {}  // NOLINT: every Error is one
};

struct Request {
    nlohmann::json id;  // a text, a number or null
    bool is_notification = false;
    std::string method;
    nlohmann::json params;           // an object, or an array
    std::optional<Refusal> refusal;  // why it is no request
};

struct Message {
    bool is_batch = false;
    std::vector<Request> requests;  // at least one
};

Message parsed_message(std::string_view text);

// Answers, each a JSON object in one line.
nlohmann::ordered_json result_answer(const nlohmann::json& id, nlohmann::ordered_json result);
nlohmann::ordered_json error_answer(const nlohmann::json& id, const Refusal& refusal);
nlohmann::ordered_json notification(std::string_view method, nlohmann::ordered_json params);

// In one line; bytes that are no UTF-8 (names of files may have them) are replaced.
std::string line_of(const nlohmann::ordered_json& json);

}  // namespace echolux
