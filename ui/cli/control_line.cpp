#include "ui/cli/control_line.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "compute/error.h"
#include "compute/error_name.h"
#include "engine/io/json_text.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr std::size_t longest_line = std::size_t{1} << 30;  // base64 of a volume may stand in one

Error ended(const std::string& place) {
    return {ErrorCode::device, "the line was cut", place, "see what the other side says of it"};
}

void write_all(TcpConnection& to, std::string_view text, const std::string& place) {
    while (!text.empty()) {
        const std::optional<std::size_t> sent = to.send(std::as_bytes(std::span(text)), 1s);
        if (!sent) throw ended(place);
        text.remove_prefix(*sent);
    }
}

ErrorCode code_named(const std::string& name) {
    for (const ErrorCode code :
         {ErrorCode::bad_file, ErrorCode::output, ErrorCode::out_of_memory, ErrorCode::device, ErrorCode::cancelled}) {
        if (name == name_of(code)) return code;
    }
    return ErrorCode::bad_setting;
}

Error error_of(const nlohmann::json& error) {
    const nlohmann::json data = error.value("data", nlohmann::json::object());
    const std::string what = data.value("what", error.value("message", error.value("what", "was refused")));
    return {code_named(data.value("code", "")), what, data.value("where", ""),
            data.value("remedy", error.value("remedy", ""))};
}

}  // namespace

ControlLine::ControlLine(const NetAddress& address, const std::string& token)
    : place_(address.text()), connection_(connect_to(address, 10s, place_)) {
    write_all(connection_, nlohmann::json{{"token", token}}.dump() + "\n", place_);
    const nlohmann::json welcome = parsed_json(line(forever), place_, "is this the port of --control?");
    if (!welcome.contains("welcome")) throw error_of(welcome.value("error", nlohmann::json::object()));
}

bool ControlLine::fill(double max_s) {
    std::array<std::byte, 65536> some{};
    const auto patience = std::chrono::milliseconds(static_cast<int>(1e3 * std::min(max_s, 3600.)));
    const std::optional<std::size_t> count = connection_.receive(some, patience);
    if (!count) throw ended(place_);
    bytes_.append(reinterpret_cast<const char*>(some.data()), *count);
    return *count > 0;
}

std::string ControlLine::line(double max_s) {
    std::size_t looked = 0;
    for (std::size_t end = bytes_.find('\n');; end = bytes_.find('\n', looked)) {
        if (end != std::string::npos) {
            std::string found = bytes_.substr(0, end);
            bytes_.erase(0, end + 1);
            return found;
        }
        looked = bytes_.size();
        if (looked > longest_line) throw Error(ErrorCode::device, "sends a line without an end", place_);
        if (!fill(max_s) && max_s < forever) return {};
    }
}

// The line {"binary": SIZE}, then so many bytes.
ControlLine::Answer ControlLine::with_data(Answer answer) {
    if (!answer.json.is_object() || !answer.json.contains("bytes")) return answer;
    const std::size_t size = parsed_json(line(forever), place_, "").value("binary", std::size_t{0});
    while (bytes_.size() < size) fill(forever);
    answer.data.resize(size);
    std::memcpy(answer.data.data(), bytes_.data(), size);
    bytes_.erase(0, size);
    return answer;
}

ControlLine::Answer ControlLine::ask(const std::string& method, const nlohmann::json& params) {
    const nlohmann::json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    write_all(connection_, request.dump() + "\n", place_);
    while (true) {
        nlohmann::json json = parsed_json(line(forever), place_, "");
        if (json.contains("error")) throw error_of(json["error"]);
        if (json.contains("result")) return with_data({std::move(json["result"]), method, {}});
        with_data({json.value("params", nlohmann::json()), "", {}});  // news from before
    }
}

bool ControlLine::hear(Answer& news, double max_s) {
    const std::string text = line(max_s);
    if (text.empty()) return false;
    nlohmann::json json = parsed_json(text, place_, "");
    news = with_data({json.value("params", nlohmann::json()), json.value("method", ""), {}});
    return true;
}

}  // namespace echolux
