#include "ui/cli/telling.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "compute/error.h"
#include "ui/cli/option_words.h"

namespace echolux {
namespace {

void print_to(std::FILE* stream, const std::string& text) {
    // Write errors are ignored here; main() checks standard output at the end.
    std::fputs(in_plain_names(text).c_str(), stream);
}

std::FILE* place_of_words() {
    return telling().streams_out ? stderr : stdout;
}

std::string dumped(const nlohmann::ordered_json& object) {
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;  // file names may contain invalid UTF-8
    return object.dump(2, ' ', false, replace) + "\n";
}

// All printed warnings, for the JSON object.
std::vector<std::string>& all_warnings() {
    static std::vector<std::string> all;
    return all;
}

}  // namespace

// Set while the command line is parsed.
Telling& telling() {
    static Telling one;
    return one;
}

void add_telling_options(CLI::App& command, bool has_json) {
    command.add_flag("--quiet", telling().is_quiet, "no progress, no warnings, no closing lines: results and errors");
    if (has_json) {
        command.add_flag("--json", telling().is_json,
                         "print one JSON object for programs, on standard output; errors as one on standard error");
    }
}

void print_answer(const std::string& text) {
    if (!telling().is_json) print_to(place_of_words(), text);
}

void print_closing(const std::string& text) {
    if (!telling().is_silent()) print_to(place_of_words(), text);
}

void give(nlohmann::ordered_json object) {
    if (!telling().is_json) return;
    if (object.contains("files") && !object.contains("warnings")) object["warnings"] = lines_of(all_warnings());
    print_to(stdout, dumped(object));
}

std::string in_plain_names(std::string text) {
    for (const auto& [name, plain] : telling().stand_ins) {
        for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + plain.size()))
            text.replace(at, name.size(), plain);
    }
    return text;
}

void print_warnings(const std::vector<std::string>& warnings) {
    all_warnings().insert(all_warnings().end(), warnings.begin(), warnings.end());
    if (telling().is_silent()) return;
    for (const std::string& warning : warnings) print_to(stderr, "echolux: warning: " + in_options(warning) + "\n");
}

void print_progress(const std::string& text) {
    errno = 0;
    if (std::fputs(text.c_str(), stderr) >= 0 && std::fflush(stderr) == 0) return;
    if (errno == EPIPE) throw std::system_error(EPIPE, std::generic_category(), "standard error");
}

void print_error(const Error& error) {
    // Errors name setting keys; users know the options.
    const Error told = in_options(error);
    if (!telling().is_json) return print_to(stderr, "echolux: " + told.line() + "\n");
    print_to(stderr, dumped({{"error",
                              {{"code", name_of(told.code())},
                               {"what", told.problem()},
                               {"where", told.where()},
                               {"remedy", told.remedy()}}}}));
}

void print_error(const std::string& code, const std::string& what, const std::string& remedy) {
    if (telling().is_json) {
        const nlohmann::ordered_json error{{"code", code}, {"what", what}, {"where", ""}, {"remedy", remedy}};
        return print_to(stderr, dumped({{"error", error}}));
    }
    print_to(stderr, "echolux: " + what + (remedy.empty() ? "" : " (" + remedy + ")") + "\n");
}

nlohmann::ordered_json names_of(const std::vector<std::filesystem::path>& files) {
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (const std::filesystem::path& file : files) {
        if (!file.empty()) names.push_back(file.string());
    }
    return names;
}

nlohmann::ordered_json lines_of(const std::vector<std::string>& warnings) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const std::string& warning : warnings) lines.push_back(in_options(warning));
    return lines;
}

}  // namespace echolux
