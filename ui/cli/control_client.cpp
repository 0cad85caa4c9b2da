#include "ui/cli/control_client.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/io/json_text.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr double welcomes_within_s = 10;
constexpr std::size_t longest_line = std::size_t{1} << 30;  // in bytes; a line may hold a volume in base64

// Error for a connection closed by the server.
Error ended(const std::string& place) {
    return {ErrorCode::device, "the connection was closed", place, "see what the other side says of it"};
}

void write_all(ClientConnection& to, std::string_view text, const std::string& place) {
    if (!to.send(text)) throw ended(place);
}

// Unknown names become bad_setting.
ErrorCode code_named(const std::string& name) {
    for (const ErrorCode code :
         {ErrorCode::bad_file, ErrorCode::output, ErrorCode::out_of_memory, ErrorCode::device, ErrorCode::cancelled}) {
        if (name == name_of(code)) return code;
    }
    return ErrorCode::bad_setting;
}

// Converts an error of JSON-RPC or of the greeting to the Error that the server reported.
Error error_of(const nlohmann::json& error) {
    const nlohmann::json data = error.value("data", nlohmann::json::object());
    const std::string what = data.value("what", error.value("message", error.value("what", "was refused")));
    return {code_named(data.value("code", "")), what, data.value("where", ""),
            data.value("remedy", error.value("remedy", ""))};
}

}  // namespace

// The first line sent is the token; the first line received is the greeting or an error.
ControlClient::ControlClient(const NetAddress& address, const std::string& token, const std::optional<TlsTrust>& trust)
    : place_(address.text()), connection_(address, trust, 10s) {
    write_all(connection_, nlohmann::json{{"token", token}}.dump() + "\n", place_);
    const std::string first = line(welcomes_within_s);
    constexpr const char* remedy = "is this the port of --control?";
    if (first.empty()) throw Error(ErrorCode::device, "does not answer", place_, remedy);
    const nlohmann::json welcome = parsed_json(first, place_, remedy);
    if (!welcome.contains("welcome")) throw error_of(welcome.value("error", nlohmann::json::object()));
}

// Appends the bytes that arrive within `max_s` to bytes_. Throws Error{device} if the connection has ended.
void ControlClient::fill(double max_s) {
    std::array<std::byte, 65536> some{};
    const auto patience = std::chrono::milliseconds(static_cast<int>(1e3 * std::min(max_s, 3600.)));
    const std::optional<std::size_t> count = connection_.receive(some, patience);
    if (!count) throw ended(place_);
    bytes_.append(reinterpret_cast<const char*>(some.data()), *count);
}

std::string ControlClient::line(double max_s) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t looked = 0;
    for (std::size_t end = bytes_.find('\n');; end = bytes_.find('\n', looked)) {
        if (end != std::string::npos) {
            std::string found = bytes_.substr(0, end);
            bytes_.erase(0, end + 1);
            return found;
        }
        looked = bytes_.size();
        if (looked > longest_line) throw Error(ErrorCode::device, "sends a line without an end", place_);
        const double left_s = max_s - seconds_since(begin);
        if (left_s <= 0 && max_s < forever) return {};
        fill(std::max(left_s, 0.));
    }
}

// Binary data follows an answer with a member "bytes": the line {"binary": SIZE}, then SIZE bytes.
ControlClient::Answer ControlClient::with_data(Answer answer) {
    if (!answer.json.is_object() || !answer.json.contains("bytes")) return answer;
    const std::size_t size = parsed_json(line(forever), place_, "").value("binary", std::size_t{0});
    while (bytes_.size() < size) fill(forever);
    answer.data.resize(size);
    std::memcpy(answer.data.data(), bytes_.data(), size);
    bytes_.erase(0, size);
    return answer;
}

ControlClient::Answer ControlClient::ask(const std::string& method, const nlohmann::json& params) {
    const nlohmann::json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    write_all(connection_, request.dump() + "\n", place_);
    while (true) {
        nlohmann::json json = parsed_json(line(forever), place_, "");
        if (json.contains("error")) throw error_of(json["error"]);
        if (json.contains("result")) return with_data({std::move(json["result"]), method, {}});
        // a notification that arrived before the answer; its data is discarded
        with_data({json.value("params", nlohmann::json()), "", {}});
    }
}

bool ControlClient::hear(Answer& notification, double max_s) {
    const std::string text = line(max_s);
    if (text.empty()) return false;
    nlohmann::json json = parsed_json(text, place_, "");
    notification = with_data({json.value("params", nlohmann::json()), json.value("method", ""), {}});
    return true;
}

}  // namespace echolux
