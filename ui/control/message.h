// JSON-RPC 2.0 messages (jsonrpc.org/specification): single requests and batches. Parses text from any client without
// knowing the methods. Errors are returned as data, so that every request receives a response.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"

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

}  // namespace echolux
