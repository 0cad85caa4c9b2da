#include "ui/cli/control_line.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "compute/error_name.h"
#include "engine/io/json_text.h"

namespace echolux {
namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr std::size_t longest_line = std::size_t{1} << 30;  // base64 of a volume may stand in one

Error ended(const std::string& place) {
    return {ErrorCode::device, "the line was cut", place, "see what the other side says of it"};
}

int connected(const std::string& host, int port, const std::string& place) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) {
        throw Error(ErrorCode::device, "is not an address", place, "give HOST:PORT as the other side printed it");
    }
    int connection = -1;
    for (const addrinfo* one = found; one != nullptr && connection < 0; one = one->ai_next) {
        connection = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (connection >= 0 && connect(connection, one->ai_addr, one->ai_addrlen) != 0) {
            close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(found);
    if (connection >= 0) return connection;
    throw Error(ErrorCode::device, "nobody answers there", place, "start one: echolux view --control PORT");
}

void write_all(int to, std::string_view text, const std::string& place) {
    while (!text.empty()) {
        const ssize_t count = send(to, text.data(), text.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw ended(place);
        text.remove_prefix(static_cast<std::size_t>(count));
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

ControlLine::ControlLine(const std::string& host, int port, const std::string& token)
    : place_(host + ":" + std::to_string(port)), socket_(connected(host, port, place_)) {
    write_all(socket_, nlohmann::json{{"token", token}}.dump() + "\n", place_);
    const nlohmann::json welcome = parsed_json(line(forever), place_, "is this the port of --control?");
    if (welcome.contains("welcome")) return;
    close(socket_);
    throw error_of(welcome.value("error", nlohmann::json::object()));
}

ControlLine::~ControlLine() {
    close(socket_);
}

void ControlLine::fill(double max_s) {
    pollfd waits{socket_, POLLIN, 0};
    is_silent_ = poll(&waits, 1, max_s == forever ? -1 : static_cast<int>(1e3 * max_s)) <= 0;
    if (is_silent_) return;
    std::array<char, 65536> some{};
    const ssize_t count = recv(socket_, some.data(), some.size(), 0);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) throw ended(place_);
    bytes_.append(some.data(), static_cast<std::size_t>(count));
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
        fill(max_s);
        if (is_silent_) return {};
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
    write_all(socket_, request.dump() + "\n", place_);
    while (true) {
        const std::string text = line(forever);
        if (text.empty()) continue;  // interrupted
        nlohmann::json json = parsed_json(text, place_, "");
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
