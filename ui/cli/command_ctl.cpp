// `echolux ctl VERB ...`: controls a running Echolux that was started with `--control`. Verbs, parameters and help come
// from control_methods(); `watch` is the verb for subscribe. Each call opens a connection, sends one request and prints
// the result.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/seconds_since.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/json_text.h"
#include "engine/io/output_rule.h"
#include "engine/io/regular_file.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"
#include "ui/control/methods.h"
#include "ui/net/client_connection.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr double welcomes_within_s = 10;
constexpr std::size_t longest_line = std::size_t{1} << 30;  // in bytes; a line may hold a volume in base64

// Error for a connection closed by the server.
Error ended(const std::string& place) {
    return {ErrorCode::device, "the connection was closed", place, "see the log of the other program"};
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

// Client of an Echolux that was started with `--control`: sends JSON-RPC requests and receives results, notifications
// and binary data. Blocking; for use by one thread.
class ControlClient {
  public:
    // Connects and sends the token. Without `trust`, the connection is not encrypted. Throws Error{device} if no server
    // answers, and Error{bad_setting} if the token or the server's certificate is rejected.
    // The first line sent is the token; the first line received is the greeting or an error.
    ControlClient(const NetAddress& address, const std::string& token, const std::optional<TlsTrust>& trust)
        : place_(address.text()), connection_(address, trust, 10s) {
        write_all(connection_, nlohmann::json{{"token", token}}.dump() + "\n", place_);
        const std::string first = line(welcomes_within_s);
        constexpr const char* remedy = "is this the port of --control?";
        if (first.empty()) throw Error(ErrorCode::device, "does not answer", place_, remedy);
        const nlohmann::json welcome = parsed_json(first, place_, remedy);
        if (!welcome.contains("welcome")) throw error_of(welcome.value("error", nlohmann::json::object()));
    }

    // One message of the server.
    struct Answer {
        nlohmann::json json;          // the result, or the params of a notification
        std::string method;           // method of a notification
        std::vector<std::byte> data;  // binary data that followed, else empty
    };

    // Sends a request and returns its result. Throws the error of the answer, and Error{device} if the connection ends.
    Answer ask(const std::string& method, const nlohmann::json& params) {
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

    // Waits for the next notification for at most `max_s` seconds. Returns false on timeout.
    bool next_notification(Answer& notification, double max_s) {
        const std::string text = line(max_s);
        if (text.empty()) return false;
        nlohmann::json json = parsed_json(text, place_, "");
        notification = with_data({json.value("params", nlohmann::json()), json.value("method", ""), {}});
        return true;
    }

  private:
    // Next line without its end; empty on timeout.
    std::string line(double max_s) {
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
    // Reads into bytes_.
    // Appends the bytes that arrive within `max_s` to bytes_. Throws Error{device} if the connection has ended.
    void fill(double max_s) {
        std::array<std::byte, 65536> some{};
        const auto timeout = std::chrono::milliseconds(static_cast<int>(1e3 * std::min(max_s, 3600.)));
        const std::optional<std::size_t> count = connection_.receive(some, timeout);
        if (!count) throw ended(place_);
        bytes_.append(reinterpret_cast<const char*>(some.data()), *count);
    }
    // Binary data follows an answer with a member "bytes": the line {"binary": SIZE}, then SIZE bytes.
    Answer with_data(Answer answer) {
        if (!answer.json.is_object() || !answer.json.contains("bytes")) return answer;
        const std::size_t size = parsed_json(line(forever), place_, "").value("binary", std::size_t{0});
        while (bytes_.size() < size) fill(forever);
        answer.data.resize(size);
        std::memcpy(answer.data.data(), bytes_.data(), size);
        bytes_.erase(0, size);
        return answer;
    }

    std::string place_;
    ClientConnection connection_;
    std::string bytes_;  // received, not yet consumed
};

// ---- the command ----------------------------------------------------------------------------------------------------

using Json = nlohmann::json;
using Type = ParameterType;

struct CtlOptions {
    std::string at, token, token_file, output, authorities, fingerprint;
    bool speaks_tls = false;
    bool overwrites = false;
    // Values on the command line, keyed by parameter name.
    std::map<std::string, std::string> words;
    std::map<std::string, std::vector<std::string>> lists;
    std::map<std::string, bool> flags;
    double seconds = 0;
    std::int64_t count = 0;
};

std::string from_environment(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
}

// Order of precedence: --token, --token-file, ECHOLUX_TOKEN_FILE, ECHOLUX_TOKEN. Throws UsageError if none is set.
std::string token_of(const CtlOptions& options) {
    if (!options.token.empty()) return options.token;
    const std::string file = options.token_file.empty() ? from_environment("ECHOLUX_TOKEN_FILE") : options.token_file;
    if (file.empty()) {
        const std::string token = from_environment("ECHOLUX_TOKEN");
        if (!token.empty()) return token;
        throw UsageError("no token is given", "--token-file",
                         "give --token-file, --token or ECHOLUX_TOKEN; the running program prints the token");
    }
    const std::string text = whole_file(file, 4096, "is not a file with a token");
    return text.substr(0, text.find_first_of("\r\n"));
}

// Returns nullopt for a connection without TLS. The fingerprint from the environment applies only if no TLS option is
// given.
std::optional<TlsTrust> trust_of(const CtlOptions& options) {
    TlsTrust trust{options.authorities, options.fingerprint};
    const bool lacks_trust = !options.speaks_tls && trust.authorities.empty() && trust.fingerprint.empty();
    if (lacks_trust) trust.fingerprint = from_environment("ECHOLUX_FINGERPRINT");
    if (!options.speaks_tls && trust.authorities.empty() && trust.fingerprint.empty()) return std::nullopt;
    return trust;
}

ControlClient connected(const CtlOptions& options) {
    const std::string at = options.at.empty() ? from_environment("ECHOLUX_CONTROL") : options.at;
    if (at.empty()) throw UsageError("no address is given", "--at", "give [HOST:]PORT, or set ECHOLUX_CONTROL");
    return {parsed_address(at, "--at"), token_of(options), trust_of(options)};
}

// Turns "view.mode=mip" into {"view.mode": "mip"}. Values stay strings; the server converts them to their type.
Json values_of(const std::vector<std::string>& assignments) {
    Json values = Json::object();
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        if (equals == std::string::npos) {
            throw UsageError("expected KEY=VALUE, got " + assignment, "ctl", "for example view.mode=mip");
        }
        values[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    return values;
}

// "max_bytes" becomes --max-bytes; a set of values becomes --set.
std::string with_dashes(std::string_view key) {
    std::string name(key);
    std::ranges::replace(name, '_', '-');
    return name;
}

std::string option_of(const ControlParameter& parameter) {
    return parameter.type == Type::values ? "--set" : "--" + with_dashes(parameter.name);
}

// Throws UsageError if the text is not a number of the parameter's type.
Json number_of(const std::string& text, const ControlParameter& parameter) {
    char* end = nullptr;
    errno = 0;
    if (parameter.type == Type::whole) {
        const std::int64_t whole = std::strtoll(text.c_str(), &end, 10);
        if (*end == '\0' && !text.empty() && errno == 0) return whole;
    } else {
        const double number = std::strtod(text.c_str(), &end);
        if (*end == '\0' && !text.empty() && errno == 0) return number;
    }
    throw UsageError(fmt::format("expected {}, got {}", name_of(parameter.type), text), option_of(parameter), "");
}

// Omits parameters that are not given, so that the server applies its defaults.
Json params_of(const ControlMethod& method, const CtlOptions& options) {
    Json params = Json::object();
    for (const ControlParameter& parameter : method.parameters) {
        const std::string name(parameter.name);
        if (const auto list = options.lists.find(name); list != options.lists.end() && !list->second.empty()) {
            params[name] = parameter.type == Type::values ? values_of(list->second) : Json(list->second);
        }
        if (const auto flag = options.flags.find(name); flag != options.flags.end() && flag->second)
            params[name] = true;
        const auto word = options.words.find(name);
        if (word == options.words.end() || word->second.empty()) continue;
        const bool is_number = parameter.type == Type::number || parameter.type == Type::whole;
        params[name] = is_number ? number_of(word->second, parameter) : Json(word->second);
    }
    return params;
}

// Prints one line per member of the object. Nested values are printed as JSON.
void print_result(const std::string& method, const Json& result) {
    print_json(nlohmann::ordered_json(result));
    if (output_options().is_json) return;
    const bool has_values = result.contains("values");
    if (method == "describe") return print_answer(result.dump(2) + "\n");
    for (const auto& [key, value] : (has_values ? result["values"] : result).items()) {
        answer("{} = {}\n", key, value.dump());
    }
}

void save(const std::string& name, const ControlClient::Answer& answer) {
    write_text(name, {reinterpret_cast<const char*>(answer.data.data()), answer.data.size()});
}

// Calls a method once. Methods with a parameter "encoding" return bytes, which are saved to --output.
void call(const ControlMethod& method, const CtlOptions& options) {
    const bool sends = std::ranges::count(method.parameters, "encoding", &ControlParameter::name) > 0;
    const bool is_picture = method.name == "snapshot";
    const std::string output = output_named(options.output, is_picture ? ".png" : ".raw");
    if (is_picture)
        check_outputs({{output, is_own_picture, {".png"}}}, {options.token_file}, options.overwrites);
    else
        check_outputs({{output}}, {options.token_file}, options.overwrites);
    const Json params = params_of(method, options);
    ControlClient client = connected(options);
    const ControlClient::Answer answer = client.ask(std::string(method.name), params);
    if (sends && !output.empty() && answer.json.contains("bytes")) save(output, answer);
    print_result(std::string(method.name), answer.json);
}

// Prints each notification as one line of JSON until an interrupt or until --seconds or --count is reached.
void watch(const ControlMethod& method, const CtlOptions& options) {
    const InterruptScope listening;
    const Json params = params_of(method, options);
    ControlClient client = connected(options);
    client.ask("subscribe", params);
    const auto begin = std::chrono::steady_clock::now();
    std::int64_t received = 0;
    while (!listening.is_interrupted() && (options.seconds == 0 || seconds_since(begin) < options.seconds)) {
        ControlClient::Answer notification;
        if (!client.next_notification(notification, 0.1)) continue;
        fmt::print("{}\n", Json{{"topic", notification.method}, {"news", notification.json}}.dump());
        std::fflush(stdout);
        if (++received == options.count) return;
    }
}

std::string help_of(const ControlParameter& parameter) {
    std::string help(parameter.help);
    for (const std::string_view& choice : parameter.choices) {
        help += (&choice == parameter.choices.data() ? (help.empty() ? "" : ": ") : ", ") + std::string(choice);
    }
    return help;
}

// The first parameter may be given without its name. Lists and settings consume all remaining arguments.
void add_parameter(CLI::App& verb, const ControlParameter& parameter, bool is_first, CtlOptions& options) {
    const std::string name(parameter.name);
    const bool is_list = parameter.type == Type::texts || parameter.type == Type::values;
    CLI::Option* option = nullptr;
    if (parameter.type == Type::flag) {
        verb.add_flag(option_of(parameter), options.flags[name], help_of(parameter));
        return;
    }
    const std::string names = is_first ? (is_list ? name : option_of(parameter) + "," + name) : option_of(parameter);
    option = is_list ? verb.add_option(names, options.lists[name], help_of(parameter))
                     : verb.add_option(names, options.words[name], help_of(parameter));
    if (is_list) option->take_all();
    if (is_list && !is_first) option->allow_extra_args(false);
    option->type_name(parameter.type == Type::values  ? "KEY=VALUE"
                      : parameter.type == Type::file  ? "FILE"
                      : parameter.type == Type::texts ? "NAME"
                      : parameter.type == Type::text  ? "TEXT"
                                                      : "N");
    if (parameter.is_required) option->required();
}

void add_connection_options(CLI::App& verb, CtlOptions& options) {
    verb.add_option("--at", options.at, "address of the running program [ECHOLUX_CONTROL]")->type_name("[HOST:]PORT");
    verb.add_option("--token-file", options.token_file, "file with the token [ECHOLUX_TOKEN_FILE]")->type_name("FILE");
    verb.add_option("--token", options.token,
                    "the token that the program printed; on the command line other users of this machine can read it "
                    "[ECHOLUX_TOKEN]")
        ->type_name("TOKEN");
    verb.add_flag("--tls", options.speaks_tls, "connect with TLS, to a server whose certificate the system trusts");
    verb.add_option("--ca", options.authorities, "connect with TLS, and trust the certificate in this PEM file")
        ->type_name("FILE");
    verb.add_option("--fingerprint", options.fingerprint,
                    "connect with TLS, and accept the certificate with this fingerprint (SHA-256) alone, as `serve "
                    "--tls` printed it [ECHOLUX_FINGERPRINT]")
        ->type_name("SHA256");
}

// Adds a subcommand for one method: `b-scan` for b_scan, `watch` for subscribe; encodings keep their defaults.
void add_verb(CLI::App& command, const ControlMethod& method) {
    const bool watches = method.name == "subscribe";
    CLI::App* verb = command.add_subcommand(watches ? "watch" : with_dashes(method.name), std::string(method.help));
    if (!watches && verb->get_name() != method.name) verb->alias(std::string(method.name));
    auto options = std::make_shared<CtlOptions>();
    for (const ControlParameter& parameter : method.parameters) {
        if (parameter.name == "encoding" || (watches && parameter.name == "voxels")) continue;
        add_parameter(*verb, parameter, &parameter == method.parameters.data(), *options);
    }
    if (std::ranges::count(method.parameters, "encoding", &ControlParameter::name) > 0) {
        verb->add_option("-o,--output", options->output, "write the bytes here; - for standard output")
            ->type_name("FILE");
        add_overwrite_option(*verb, options->overwrites);
    }
    if (watches) {
        verb->add_option("--seconds", options->seconds, "end after this many seconds [0: at Ctrl-C]")
            ->check(not_negative())
            ->type_name("S");
        verb->add_option("--count", options->count, "end after this many lines [0: no limit]")->type_name("N");
    }
    add_connection_options(*verb, *options);
    verb->callback([options, &method, watches] { watches ? watch(method, *options) : call(method, *options); });
}

}  // namespace

void add_ctl(CLI::App& program) {
    CLI::App* command = program.add_subcommand("ctl", "Control a running Echolux (started with --control)");
    command->footer(examples_text({"echolux ctl state", "echolux ctl set view.mode=mip"}));
    command->require_subcommand(1);
    for (const ControlMethod& method : control_methods()) {
        if (method.name != "unsubscribe") add_verb(*command, method);
    }
}

}  // namespace echolux
