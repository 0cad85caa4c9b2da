#include "ui/control/igtl_request.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "compute/error.h"
#include "engine/io/json_text.h"
#include "ui/control/base64.h"
#include "ui/control/message.h"

namespace echolux {
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
