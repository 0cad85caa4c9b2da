// How every command speaks. People get closing lines on standard output, progress and warnings on standard error;
// --quiet leaves what was asked for, and errors; with --json standard output is one JSON object and nothing else, and
// an error is one on standard error.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace echolux {

class Error;

// Of this call of the program.
struct Telling {
    bool is_quiet = false;
    bool is_json = false;
    bool streams_out = false;  // standard output carries a result (-o -): what is said goes to standard error
    std::vector<std::pair<std::string, std::string>> stand_ins{};  // temporary names, and what people call them

    bool is_silent() const { return is_quiet || is_json; }  // but for results and errors
};
Telling& telling();

// --quiet and --json. `bench` writes its JSON into a file and has --quiet alone.
void add_telling_options(CLI::App& command, bool has_json = true);

// What was asked for: printed unless it is told as JSON.
void print_answer(const std::string& text);

// What is good to know besides.
void print_closing(const std::string& text);

template <class... Parts>
void answer(fmt::format_string<Parts...> format, Parts&&... parts) {
    print_answer(fmt::format(format, std::forward<Parts>(parts)...));
}
template <class... Parts>
void close_with(fmt::format_string<Parts...> format, Parts&&... parts) {
    print_closing(fmt::format(format, std::forward<Parts>(parts)...));
}

// The one object of --json, with all warnings beside the files; nothing without.
void give(nlohmann::ordered_json object);

// "standard output" in place of the temporary file that stands in for it.
std::string in_plain_names(std::string text);

// One line each on standard error; JSON has them in its object.
void print_warnings(const std::vector<std::string>& warnings);

// How far the work is, on standard error. Where that is a pipe that has been closed, the work ends like that of any
// filter: throws std::system_error{broken_pipe}. A terminal that is gone must not get in the way of an orderly end.
void print_progress(const std::string& text);

// In the words of the command line: "where: what (remedy)", or {"error": {code, what, where, remedy}}.
void print_error(const Error& error);
void print_error(const std::string& code, const std::string& what, const std::string& remedy = {});

// Files and warnings as arrays of an object.
nlohmann::ordered_json names_of(const std::vector<std::filesystem::path>& files);
nlohmann::ordered_json lines_of(const std::vector<std::string>& warnings);

}  // namespace echolux
