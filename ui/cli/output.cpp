#include "ui/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/atomic_file.h"
#include "engine/progress.h"

namespace echolux {
namespace {

void print_to(std::FILE* stream, const std::string& text) {
    // Write errors are ignored here; main() checks standard output at the end.
    std::fputs(in_plain_names(text).c_str(), stream);
}

std::FILE* place_of_words() {
    return output_options().streams_out ? stderr : stdout;
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
OutputOptions& output_options() {
    static OutputOptions one;
    return one;
}

void add_output_options(CLI::App& command, bool has_json) {
    command.add_flag("--quiet", output_options().is_quiet, "print only results and errors");
    if (has_json) {
        command.add_flag("--json", output_options().is_json,
                         "print one JSON object for programs, on standard output; errors as one on standard error");
    }
}

void print_answer(const std::string& text) {
    if (!output_options().is_json) print_to(place_of_words(), text);
}

void print_closing(const std::string& text) {
    if (!output_options().is_silent()) print_to(place_of_words(), text);
}

void print_json(nlohmann::ordered_json object) {
    if (!output_options().is_json) return;
    if (object.contains("files") && !object.contains("warnings")) object["warnings"] = lines_of(all_warnings());
    print_to(stdout, dumped(object));
}

std::string in_plain_names(std::string text) {
    for (const auto& [name, plain] : output_options().substitutes) {
        for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + plain.size()))
            text.replace(at, name.size(), plain);
    }
    return text;
}

void print_warnings(const std::vector<std::string>& warnings) {
    all_warnings().insert(all_warnings().end(), warnings.begin(), warnings.end());
    if (output_options().is_silent()) return;
    for (const std::string& warning : warnings) print_to(stderr, "echolux: warning: " + in_options(warning) + "\n");
}

void print_progress(const std::string& text) {
    errno = 0;
    if (std::fputs(text.c_str(), stderr) >= 0 && std::fflush(stderr) == 0) return;
    if (errno == EPIPE) throw std::system_error(EPIPE, std::generic_category(), "standard error");
}

void print_error(const Error& error) {
    // Errors name setting keys; users know the options.
    const Error shown = in_options(error);
    if (!output_options().is_json) return print_to(stderr, "echolux: " + shown.line() + "\n");
    print_to(stderr, dumped({{"error",
                              {{"code", name_of(shown.code())},
                               {"what", shown.problem()},
                               {"where", shown.where()},
                               {"remedy", shown.remedy()}}}}));
}

void print_error(const std::string& code, const std::string& what, const std::string& remedy) {
    if (output_options().is_json) {
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

// ---- progress -------------------------------------------------------------------------------------------------------

namespace {

volatile std::sig_atomic_t interrupted = 0;  // number of interrupts
// number of InterruptScope objects, and of those that save work
volatile std::sig_atomic_t listeners = 0, savers = 0;
int end_at_once = -1;  // write end of a pipe to the thread that ends the program
constexpr char at_once = 'a', after_a_while = 'w';

// Removing files is not safe in a signal handler, so the thread that waits at the pipe does it.
void end_without_delay() {
    if (end_at_once < 0 || write(end_at_once, &at_once, 1) != 1) _exit(exit_interrupted);
}

// A library call that cannot be cancelled, such as the compression of much data, must not delay the end.
void end_after_a_while() {
    if (end_at_once < 0 || savers > 0) return;
    [[maybe_unused]] const ssize_t written = write(end_at_once, &after_a_while, 1);
}

constexpr const char* cancelled = "cancelled, no file was left incomplete";

// Called in a signal handler, so it uses write() only.
void print_ending() {
    constexpr std::string_view words =
        "\necholux: stopping; no file will be left incomplete. Press Ctrl-C again to stop at once: a recording then "
        "ends with what is on the disk\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
}

// The first Ctrl-C cancels the work, the second prints a hint, the third ends the program.
void on_interrupt(int) {
    interrupted = interrupted + 1;
    if (interrupted == 2 && listeners > 0) print_ending();
    if (interrupted > 2 || listeners == 0) return end_without_delay();
    if (interrupted == 1) end_after_a_while();
}

// Starts the thread that removes unfinished files and exits.
void prepare_to_end_at_once() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    end_at_once = ends[1];
    std::thread([from = ends[0]] {
        constexpr int grace_ms = 1500;
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);  // the next interrupt must not end poll()
        char byte = 0;
        while (read(from, &byte, 1) != 1) {
            if (errno != EINTR) return;
        }
        pollfd next{from, POLLIN, 0};
        if (byte == after_a_while && poll(&next, 1, grace_ms) == 0) print_error("cancelled", cancelled, "");
        end_without_unfinished_files(exit_interrupted);
    }).detach();
}

}  // namespace

void catch_interrupts() {
    prepare_to_end_at_once();
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGPIPE, SIG_IGN);  // printing to a closed pipe then fails, and temporary files are removed
    std::signal(SIGXFSZ, SIG_IGN);  // writing beyond a file size limit then fails like a full disk
    const auto ends_in_order = [](int) {
        if (interrupted == 0) interrupted = 1;
        if (listeners == 0) return end_without_delay();
        end_after_a_while();
    };
    std::signal(SIGTERM, ends_in_order);
    if (std::signal(SIGHUP, ends_in_order) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup ignores SIGHUP: keep that
}

InterruptScope::InterruptScope(AtInterrupt at_interrupt) : at_interrupt_(at_interrupt) {
    listeners = listeners + 1;
    if (at_interrupt_ == AtInterrupt::saves) savers = savers + 1;
}

InterruptScope::~InterruptScope() {
    listeners = listeners - 1;
    if (at_interrupt_ == AtInterrupt::saves) savers = savers - 1;
}

bool InterruptScope::is_interrupted() const {
    return interrupted != 0;
}

TerminalProgress::TerminalProgress(AtInterrupt at_interrupt)
    : listening_(at_interrupt), silent_(output_options().is_silent()), terminal_(isatty(STDERR_FILENO) != 0) {}

void TerminalProgress::begin(const std::string& task, std::int64_t total, const std::string& unit) {
    task_ = in_plain_names(task);
    unit_ = unit;
    total_ = total;
    done_ = 0;
    shown_left_s_ = std::numeric_limits<double>::infinity();
    start_ = printed_ = Clock::now();
    const std::string amount = amount_words(total, unit);
    if (!terminal_ && !silent_) print_progress((amount.empty() ? task_ : task_ + ": " + amount) + "\n");
}

void TerminalProgress::advance(std::int64_t count) {
    if (listening_.is_interrupted()) {
        if (terminal_ && !silent_) print_progress("\n");
        throw Error(ErrorCode::cancelled, cancelled, task_);
    }
    done_ += count;
    const auto interval = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    if (Clock::now() - printed_ < interval) return;
    if (!terminal_ && total_ > 0 && done_ >= total_) return;  // end() prints the last line
    printed_ = Clock::now();
    print(false);
}

void TerminalProgress::end() {
    if (total_ <= 0) total_ = std::max<std::int64_t>(1, done_);
    done_ = total_;
    print(true);
}

void TerminalProgress::print(bool last) {
    if (silent_) return;
    if (!terminal_) {
        print_progress(fmt::format("{}: {}\n", task_, state()));
        return;
    }
    constexpr int width = 24;
    const auto filled = static_cast<int>(width * std::min(done_, total_) / std::max<std::int64_t>(1, total_));
    print_progress(fmt::format("\r{} [{}{}] {}\033[K{}", task_, std::string(index(filled), '#'),
                               std::string(index(width - std::min(filled, width)), '.'), state(), last ? "\n" : ""));
}

std::string TerminalProgress::state() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const WorkProgress work{
        .done = done_, .total = total_, .unit = unit_, .seconds = seconds, .max_left_s = shown_left_s_};
    shown_left_s_ = std::min(shown_left_s_, seconds_left(work).value_or(shown_left_s_));
    return words_of(work);
}

// ---- standard input and output --------------------------------------------------------------------------------------

namespace {

// Temporary folder with the files that replace standard input and output. Removed when the program ends.
class Streams {
  public:
    ~Streams() {
        std::error_code ignored;
        if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    }

    // Copies standard input to a file and returns its name. Throws Error if it was read before or is empty.
    std::string take_input(const std::string& ending) {
        if (std::exchange(has_input_, true)) {
            throw Error(ErrorCode::bad_setting, "standard input can be read once", "-", "name a file instead");
        }
        const std::filesystem::path file = folder() / "stdin";
        spool(file);
        if (std::filesystem::file_size(file) == 0)
            throw Error(ErrorCode::bad_file, "is empty", "standard input", "pipe a file into it");
        const std::filesystem::path named = file.string() + ending_by_content(file, ending);
        std::filesystem::rename(file, named);
        call(named, "standard input");
        return named.string();
    }

    // Returns the name of the file that deliver() will copy. From then on, messages go to standard error.
    std::string promise_output(const std::string& ending, bool is_binary) {
        if (!output_.empty() || output_options().is_json) {
            throw Error(ErrorCode::bad_setting, "only one result can use standard output", "-",
                        output_options().is_json ? "leave out --json, or name a file" : "name a file instead");
        }
        if (is_binary && isatty(STDOUT_FILENO) != 0) {
            throw Error(ErrorCode::bad_setting, "standard output is a terminal", "-",
                        "pipe it into a program or a file");
        }
        output_options().streams_out = true;
        output_ = folder() / ("stdout" + ending);
        call(output_, "standard output");
        return output_.string();
    }

    // Copies the file to standard output. Throws std::system_error if the pipe was closed.
    void deliver() {
        if (output_.empty()) return;
        std::ifstream file(output_, std::ios::binary);
        std::vector<char> part(1 << 20);
        while (file) {
            file.read(part.data(), std::ssize(part));
            const auto count = index(file.gcount());
            errno = 0;
            if (std::fwrite(part.data(), 1, count, stdout) == count) continue;
            throw std::system_error(errno, std::generic_category(), "standard output");
        }
    }

  private:
    // Makes later messages print `plain` instead of the temporary path or file name.
    static void call(const std::filesystem::path& file, const std::string& plain) {
        output_options().substitutes.emplace_back(file.string(), plain);
        output_options().substitutes.emplace_back(file.filename().string(), plain);
    }

    // Created on first use.
    const std::filesystem::path& folder() {
        if (!folder_.empty()) return folder_;
        std::string name = (std::filesystem::temp_directory_path() / "echolux-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            throw Error(ErrorCode::output, "no temporary folder can be made", name, "set TMPDIR to one with room");
        }
        unfinished_.emplace(name);
        return folder_ = name;
    }

    // Copies standard input to a file, because readers need to seek.
    static void spool(const std::filesystem::path& file) {
        std::ofstream to(file, std::ios::binary);
        std::vector<char> part(1 << 20);
        while (const std::size_t count = std::fread(part.data(), 1, part.size(), stdin)) {
            to.write(part.data(), static_cast<std::streamsize>(count));
        }
        if (!to.flush()) {
            throw Error(ErrorCode::output, "standard input does not fit into a temporary file", file.string(),
                        "set TMPDIR to a folder with room");
        }
    }

    // Detects the format from the first bytes.
    static std::string ending_by_content(const std::filesystem::path& file, const std::string& otherwise) {
        using namespace std::string_view_literals;
        constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known{{{"\x93NUMPY"sv, ".npy"sv},
                                                                                      {"NRRD"sv, ".nrrd"sv},
                                                                                      {"\x89PNG"sv, ".png"sv},
                                                                                      {"II*\0"sv, ".tif"sv},
                                                                                      {"\x89HDF"sv, ".h5"sv},
                                                                                      {"ObjectType"sv, ".mha"sv}}};
        std::array<char, 16> start{};
        std::ifstream(file, std::ios::binary).read(start.data(), start.size());
        for (const auto& [magic, ending] : known) {
            if (std::string_view(start.data(), start.size()).starts_with(magic)) return std::string(ending);
        }
        return otherwise;
    }

    std::filesystem::path folder_, output_;
    std::optional<UnfinishedName> unfinished_;  // removes the folder if the program is stopped
    bool has_input_ = false;
};

Streams& streams() {
    static Streams both;
    return both;
}

}  // namespace

std::string input_named(const std::string& name, const std::string& ending) {
    return name == "-" ? streams().take_input(ending) : name;
}

std::string output_named(const std::string& name, const std::string& ending, bool is_binary) {
    return name == "-" ? streams().promise_output(ending, is_binary) : name;
}

void deliver_output() {
    streams().deliver();
}

// ---- keys in messages -----------------------------------------------------------------------------------------------

namespace {

struct OptionWord {
    std::string_view key, option;
};

constexpr auto option_words = std::to_array<OptionWord>({
    {"ECHOLUX_DATA_FOLDERS", "--data-folder"},
    {"a_scan", "--a-scan"},
    {"b_scan", "--b-scan"},
    {"backend", "--backend"},
    {"calibrate dispersion", "`echolux calibrate dispersion`"},
    {"convert", "`echolux convert`"},
    {"en_face", "--en-face"},
    {"flow", "--flow"},
    {"fps", "--fps"},
    {"frames", "--frames"},
    {"gpus", "--gpus"},
    {"guess", "`echolux info --guess`"},
    {"igtl", "--igtl"},
    {"input", "--input"},
    {"layout", "--layout"},
    {"ome_version", "--ome-version"},
    {"output", "--output"},
    {"overwrite", "--overwrite"},
    {"part.blocks", "--blocks"},
    {"part.volume", "--volume"},
    {"path", "--path"},
    {"preset", "--preset"},
    {"presets", "`echolux info --presets`"},
    {"processed", "--processed"},
    {"psf", "--psf"},
    {"range", "--range"},
    {"recipe", "--recipe"},
    {"reconstruct", "`echolux reconstruct`"},
    {"region", "--region"},
    {"render", "`echolux render`"},
    {"repeats", "--repeats"},
    {"rolling", "--rolling"},
    {"rows", "--rows"},
    {"scan", "--scan"},
    {"seconds", "--seconds"},
    {"sources", "`echolux info --sources`"},
    {"step_s", "--step"},
    {"stripes", "--stripe"},
    {"time", "--time"},
    {"type", "--type"},
});

// Returns the option or command for a key, or an empty text for other words.
std::string option_of(std::string_view key) {
    const auto found = std::ranges::find(option_words, key, &OptionWord::key);
    if (found != option_words.end()) return std::string(found->option);
    return output_options().option_of == nullptr ? "" : output_options().option_of(key);
}

std::string place_in_options(const std::string& where) {
    const std::string option = option_of(where);
    return option.empty() ? with_options(where) : option;
}

}  // namespace

std::string with_options(std::string_view text) {
    std::string shown;
    std::size_t at = 0;
    for (std::size_t begin = text.find('`'); begin != text.npos; begin = text.find('`', at)) {
        const std::size_t end = text.find('`', begin + 1);
        if (end == text.npos) break;
        const std::string option = option_of(text.substr(begin + 1, end - begin - 1));
        shown += text.substr(at, begin - at);
        shown += option.empty() ? std::string(text.substr(begin, end + 1 - begin)) : option;
        at = end + 1;
    }
    return shown.append(text.substr(at));
}

std::string in_options(const std::string& line) {
    const std::size_t end_of_where = line.find(": ");
    if (end_of_where == line.npos) return with_options(line);
    return place_in_options(line.substr(0, end_of_where)) + with_options(std::string_view(line).substr(end_of_where));
}

// The `where` of a file error is a path, which may look like a key, so it is kept.
Error in_options(const Error& error) {
    const bool is_of_file = error.code() == ErrorCode::bad_file || error.code() == ErrorCode::output;
    return {error.code(), with_options(error.problem()), is_of_file ? error.where() : place_in_options(error.where()),
            with_options(error.remedy())};
}

}  // namespace echolux
