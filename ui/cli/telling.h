// Output of all commands. By default, results and closing lines go to standard output, progress and warnings to
// standard error. --quiet prints only results and errors. --json prints one JSON object on standard output and nothing
// else; an error is one JSON object on standard error.
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

// Output options of this process.
struct Telling {
    bool is_quiet = false;
    bool is_json = false;
    bool streams_out = false;  // standard output carries a result (-o -), so messages go to standard error
    // temporary file names and the words to print instead
    std::vector<std::pair<std::string, std::string>> stand_ins{};

    bool is_silent() const { return is_quiet || is_json; }  // prints only results and errors
};
Telling& telling();

// Adds --quiet and --json. `bench` writes its JSON to a file, so it has only --quiet.
void add_telling_options(CLI::App& command, bool has_json = true);

// Prints a result; nothing with --json.
void print_answer(const std::string& text);

// Prints additional information; nothing with --quiet or --json.
void print_closing(const std::string& text);

// Formatted versions of print_answer() and print_closing().
template <class... Parts>
void answer(fmt::format_string<Parts...> format, Parts&&... parts) {
    print_answer(fmt::format(format, std::forward<Parts>(parts)...));
}
template <class... Parts>
void close_with(fmt::format_string<Parts...> format, Parts&&... parts) {
    print_closing(fmt::format(format, std::forward<Parts>(parts)...));
}

// Prints the object of --json. All warnings are added if it contains "files". Does nothing without --json.
void give(nlohmann::ordered_json object);

// Replaces names of temporary files by "standard input" or "standard output".
std::string in_plain_names(std::string text);

// Prints one line per warning on standard error. With --json, they are only collected for the object.
void print_warnings(const std::vector<std::string>& warnings);

// Prints progress on standard error. Throws std::system_error{broken_pipe} if it is a closed pipe, as for any filter.
// Other write errors, such as a terminal that has closed, are ignored so that work can end properly.
void print_progress(const std::string& text);

// Prints an error with command-line options in place of keys: "where: what (remedy)", or the JSON object {"error":
// {code, what, where, remedy}}.
void print_error(const Error& error);
void print_error(const std::string& code, const std::string& what, const std::string& remedy = {});

// JSON arrays of file names (empty paths are omitted) and of translated warnings.
nlohmann::ordered_json names_of(const std::vector<std::filesystem::path>& files);
nlohmann::ordered_json lines_of(const std::vector<std::string>& warnings);

}  // namespace echolux
