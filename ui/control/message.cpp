#include "ui/control/message.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "engine/io/json_text.h"

namespace echolux {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_requests = 1000;  // per batch
constexpr std::string_view shape = "send {\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"describe\"}";

struct NamedCode {
    RpcCode code;
    std::string_view name;
};
constexpr std::array names{
    NamedCode{RpcCode::parse_error, "parse_error"},
    NamedCode{RpcCode::invalid_request, "invalid_request"},
    NamedCode{RpcCode::method_not_found, "method_not_found"},
    NamedCode{RpcCode::invalid_params, "invalid_params"},
    NamedCode{RpcCode::internal_error, "internal_error"},
    NamedCode{RpcCode::bad_setting, name_of(ErrorCode::bad_setting)},
    NamedCode{RpcCode::bad_file, name_of(ErrorCode::bad_file)},
    NamedCode{RpcCode::output, name_of(ErrorCode::output)},
    NamedCode{RpcCode::out_of_memory, name_of(ErrorCode::out_of_memory)},
    NamedCode{RpcCode::device, name_of(ErrorCode::device)},
    NamedCode{RpcCode::cancelled, name_of(ErrorCode::cancelled)},
    NamedCode{RpcCode::not_allowed, "not_allowed"},
    NamedCode{RpcCode::too_many, "too_many"},
};

Refusal invalid(const std::string& what, const std::string& where) {
    return {RpcCode::invalid_request, Error(ErrorCode::bad_setting, what, where, std::string(shape))};
}

// Returns the error of an invalid request.
std::optional<Refusal> problem_of(const Json& json) {
    if (!json.is_object()) return invalid("a request is a JSON object", "request");
    const auto version = json.find("jsonrpc");
    if (version == json.end() || *version != "2.0") return invalid("is not \"2.0\"", "jsonrpc");
    const auto id = json.find("id");
    if (id != json.end() && !id->is_string() && !id->is_number() && !id->is_null()) {
        return invalid("is neither text nor number", "id");
    }
    const auto method = json.find("method");
    if (method == json.end() || !method->is_string()) return invalid("is not a text", "method");
    const auto params = json.find("params");
    if (params != json.end() && !params->is_structured()) return invalid("is neither object nor list", "params");
    return std::nullopt;
}

// An invalid request is answered with its id if the id is usable.
Request request_of(Json json) {
    Request request{nullptr, false, {}, Json::object(), problem_of(json)};
    if (!json.is_object()) return request;
    if (const auto id = json.find("id"); id != json.end() && !id->is_structured() && !id->is_boolean()) {
        request.id = *id;
    }
    if (request.refusal) return request;
    request.is_notification = !json.contains("id");
    request.method = json["method"].get<std::string>();
    if (json.contains("params")) request.params = std::move(json["params"]);
    return request;
}

// Message that consists of one error.
Message refused(Refusal refusal) {
    return {false, {Request{nullptr, false, {}, Json::object(), std::move(refusal)}}};
}

}  // namespace

std::string_view name_of(RpcCode code) {
    for (const NamedCode& named : names) {
        if (named.code == code) return named.name;
    }
    return "";
}

std::vector<RpcCode> all_rpc_codes() {
    std::vector<RpcCode> codes;
    for (const NamedCode& named : names) codes.push_back(named.code);
    return codes;
}

RpcCode rpc_code(ErrorCode code) {
    for (const NamedCode& named : names) {
        if (named.name == name_of(code)) return named.code;
    }
    return RpcCode::internal_error;
}

Message parsed_message(std::string_view text) {
    Json json;
    try {
        json = parsed_json(text, "request", std::string(shape));
    } catch (const Error& error) {
        return refused({RpcCode::parse_error, error});
    }
    if (!json.is_array()) return {false, {request_of(std::move(json))}};
    if (json.empty()) return refused(invalid("is an empty list", "request"));
    if (json.size() > max_requests) {
        return refused({RpcCode::too_many, Error(ErrorCode::bad_setting, "has more than 1,000 requests", "request",
                                                 "send them in several batches")});
    }
    Message message{true, {}};
    for (Json& one : json) message.requests.push_back(request_of(std::move(one)));
    return message;
}

nlohmann::ordered_json result_answer(const Json& id, nlohmann::ordered_json result) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

nlohmann::ordered_json error_answer(const Json& id, const Refusal& refusal) {
    const Error& error = refusal.error;
    return {{"jsonrpc", "2.0"},
            {"id", id},
            {"error",
             {{"code", static_cast<int>(refusal.code)},
              {"message", error.line()},
              {"data",
               {{"code", name_of(refusal.code)},
                {"what", error.problem()},
                {"where", error.where()},
                {"remedy", error.remedy()}}}}}};
}

nlohmann::ordered_json notification(std::string_view method, nlohmann::ordered_json params) {
    return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string line_of(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// ---- Reply

void Reply::result(nlohmann::ordered_json result, SharedBytes data) const {
    if (is_silent_) return;
    result["bytes"] = data->size();
    to_->send_both(line_of(result_answer(id_, std::move(result))), std::move(data));
}

// The last response of a batch sends all of them.
void Reply::send(nlohmann::ordered_json answer) const {
    if (batch_ == nullptr) {
        if (!is_silent_) to_->send_text(line_of(answer));
        return;
    }
    if (!is_silent_) batch_->answers.push_back(std::move(answer));
    if (--batch_->waiting == 0 && !batch_->answers.empty()) to_->send_text(line_of(batch_->answers));
}

// ---- Base64

std::string base64_of(std::span<const std::byte> bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        unsigned bits = 0;
        for (std::size_t j = 0; j < 3; ++j)
            bits = bits << 8 | (j < count ? std::to_integer<unsigned>(bytes[i + j]) : 0);
        for (std::size_t j = 0; j < 4; ++j) text += j <= count ? letters[bits >> (18 - 6 * j) & 63] : '=';
    }
    return text;
}

// ---- Igtl request

namespace {

using Json = nlohmann::json;

constexpr const char* shapes = "send view.mode=mip, view.mode, or JSON";

bool is_json(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos ? std::string_view()
                                           : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Lines "KEY=VALUE" in `values`, lines "KEY" in `keys`.
struct Lines {
    Json values = Json::object(), keys = Json::array();
};

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = trimmed(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        const std::size_t equals = line.find('=');
        if (line.empty()) continue;
        if (equals == std::string_view::npos)
            lines.keys.push_back(line);
        else
            lines.values[std::string(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
    }
    if (!lines.values.empty() && !lines.keys.empty())
        throw Error(ErrorCode::bad_setting, "has lines with a value and lines without", "request", shapes);
    return lines;
}

Json request_of(const std::string& method, Json params, std::uint32_t id) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

Json of_command(const igtl::Request& request) {
    if (is_json(request.text))
        return request_of(request.name, parsed_json(request.text, request.name, shapes), request.id);
    const Lines lines = lines_of(request.text);
    Json params = Json::object();
    if (!lines.values.empty()) params["values"] = lines.values;
    if (!lines.keys.empty()) params["keys"] = lines.keys;
    return request_of(request.name, std::move(params), request.id);
}

}  // namespace

std::string rpc_of(const igtl::Request& request) {
    if (request.kind == igtl::Request::Kind::command) return line_of(of_command(request));
    if (is_json(request.text)) return request.text;
    const Lines lines = lines_of(request.text);
    if (!lines.values.empty()) return line_of(request_of("set", {{"values", lines.values}}, 0));
    if (lines.keys.empty()) throw Error(ErrorCode::bad_setting, "is empty", "request", shapes);
    return line_of(request_of("get", {{"keys", lines.keys}}, 0));
}

std::string with_data(const std::string& answer, std::span<const std::byte> data) {
    nlohmann::ordered_json json = nlohmann::ordered_json(parsed_json(answer, "", ""));
    json["result"]["data"] = base64_of(data);
    return json.dump();
}

}  // namespace echolux
