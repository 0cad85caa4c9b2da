// Output of all commands. By default, results and closing lines go to standard output, progress and warnings to
// standard error. --quiet prints only results and errors. --json prints one JSON object on standard output and nothing
// else; an error is one JSON object on standard error.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "engine/progress.h"

namespace CLI {
class App;
}

namespace echolux {

// Output options of this process.
struct OutputOptions {
    bool is_quiet = false;
    bool is_json = false;
    bool streams_out = false;  // standard output carries a result (-o -), so messages go to standard error
    // temporary file names and the words to print instead
    std::vector<std::pair<std::string, std::string>> substitutes{};

    // Returns the option for a key of an operation, or an empty text. May be null.
    std::string (*option_of)(std::string_view key) = nullptr;

    bool is_silent() const { return is_quiet || is_json; }  // prints only results and errors
};
OutputOptions& output_options();

// Adds --quiet and --json. `bench` writes its JSON to a file, so it has only --quiet.
void add_output_options(CLI::App& command, bool has_json = true);

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
void print_json(nlohmann::ordered_json object);

// Replaces names of temporary files by "standard input" or "standard output".
std::string in_plain_names(std::string text);

// Prints one line per warning on standard error. With --json, they are only collected for the object.
void print_warnings(const std::vector<std::string>& warnings);

// Prints progress on standard error. Throws std::system_error{broken_pipe} if it is a closed pipe, as for any filter.
// Other write errors, such as a terminal that has closed, are ignored so that work can end properly.
void print_progress(const std::string& text);

// Prints an error with command-line options instead of keys: "where: what (remedy)", or the JSON object {"error":
// {code, what, where, remedy}}.
void print_error(const Error& error);
void print_error(const std::string& code, const std::string& what, const std::string& remedy = {});

// JSON arrays of file names (empty paths are omitted) and of translated warnings.
nlohmann::ordered_json names_of(const std::vector<std::filesystem::path>& files);
nlohmann::ordered_json lines_of(const std::vector<std::string>& warnings);

// ---- progress -------------------------------------------------------------------------------------------------------

// Progress on standard error: a bar with rate and remaining time on a terminal, a plain line every few seconds in a
// log. Ctrl-C cancels the work.

// Exit code after Ctrl-C, SIGTERM or the end of the terminal (SIGHUP).
constexpr int exit_interrupted = 130;

// Installs signal handlers and starts the thread that exits. From then on an interrupt cancels the running work;
// without an InterruptScope the program ends at once. A second Ctrl-C prints a message. A third ends the program
// immediately and removes unfinished files. So does the first after 1.5 s, if nothing has to be saved.
void catch_interrupts();

// Ends of an interrupted command: it saves its work, or only cancels it.
enum class AtInterrupt { saves, only_cancels };

// While an instance exists, its owner handles interrupts by polling is_interrupted().
class InterruptScope {
  public:
    explicit InterruptScope(AtInterrupt at_interrupt = AtInterrupt::saves);
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

    bool is_interrupted() const;

  private:
    AtInterrupt at_interrupt_;
};

// Prints progress. advance() throws Error{cancelled} after an interrupt.
class TerminalProgress : public Progress {
  public:
    explicit TerminalProgress(AtInterrupt at_interrupt = AtInterrupt::saves);

    void begin(const std::string& task, std::int64_t total, const std::string& unit) override;
    void advance(std::int64_t count) override;
    void end() override;

  private:
    using Clock = std::chrono::steady_clock;

    void print(bool last);
    std::string state();

    InterruptScope listening_;
    bool silent_;
    bool terminal_;
    std::string task_;
    std::string unit_;
    std::int64_t total_ = 0;
    std::int64_t done_ = 0;
    double shown_left_s_ = 0;  // min remaining time shown
    Clock::time_point start_;
    Clock::time_point printed_;
};

// ---- standard input and output --------------------------------------------------------------------------------------

// `-` as the name of an input or output. Standard input is copied to a temporary file before work begins. An output is
// written to a temporary file and copied to standard output when the work is done. Thus every format can be streamed,
// and an incomplete result is never streamed.

// Returns `name`, or for `-` the name of a file with the content of standard input. Its extension follows from the
// first bytes (.npy, .nrrd, .png ...) and is `ending` if they are unknown. Throws Error{bad_setting} if standard input
// is requested twice, and Error{output} if the temporary folder is full.
std::string input_named(const std::string& name, const std::string& ending);

// Returns `name`, or for `-` the name of a file that deliver_output() copies to standard output. Throws
// Error{bad_setting} if standard output is requested twice or used by --json, or if `is_binary` is set and it is a
// terminal.
std::string output_named(const std::string& name, const std::string& ending, bool is_binary = true);

// Copies the output after the command has succeeded. Throws Error{output}, or std::system_error if the pipe was closed.
void deliver_output();

// ---- keys in messages -----------------------------------------------------------------------------------------------

// Translation of setting keys in messages to command-line options. Messages from code outside ui/cli name keys, because
// only ui/cli defines options.

// Translates a warning. The key before the first colon and keys in `backticks` become options or commands. Other words
// are unchanged.
std::string in_options(const std::string& line);

// Translates only keys in `backticks`.
std::string with_options(std::string_view text);

// Translates each part of an error.
Error in_options(const Error& error);

}  // namespace echolux
