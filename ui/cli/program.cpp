#include "ui/cli/program.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <regex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/build.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"

namespace {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_no_reader = 141;  // the pipe was closed (`| head`): not a failure, no message

// Rewrites CLI11's messages in the words of this program.
std::string error_text(const CLI::Error& error) {
    static const std::array<std::pair<std::regex, const char*>, 6> phrases{{
        {std::regex("(.+): At Most 1 required but received .+"), "$1 is given more than once"},
        {std::regex("(.+): [0-9]+ required (.+) missing"), "$1 needs a value: $2"},
        {std::regex("A subcommand is required"), "no command is given"},
        {std::regex("The following arguments? (?:was|were) not expected: (.+)"), "unexpected: $1"},
        {std::regex("(.+) excludes (.+)"), "$1 and $2 exclude each other"},
        {std::regex("Could not convert: (.+) = (.+)"), "$1: expected a number, got $2"},
    }};
    const std::string text = error.what();
    for (const auto& [theirs, ours] : phrases) {
        if (std::regex_match(text, theirs)) return std::regex_replace(text, theirs, ours);
    }
    return text;
}

// Returns the names of the commands on the command line, e.g. " calibrate k".
std::string command_of(const CLI::App& program, const std::vector<std::string>& arguments) {
    std::string names;
    const CLI::App* app = &program;
    for (const std::string& argument : arguments) {
        const auto commands = app->get_subcommands({});
        const auto named =
            std::ranges::find_if(commands, [&](const CLI::App* one) { return one->check_name(argument); });
        if (named == commands.end()) break;
        app = *named;
        names += " " + argument;
    }
    return names;
}

// Reports an invalid command line. --help and --version also end in a ParseError, with exit code 0.
int print_usage_error(const CLI::App& program, const CLI::ParseError& error,
                      const std::vector<std::string>& arguments) {
    if (error.get_exit_code() == 0) return program.exit(error);
    echolux::print_error("usage", error_text(error),
                         fmt::format("see echolux{} --help", command_of(program, arguments)));
    return exit_usage;
}

// Looks for --json before parsing, so that command line errors are also printed as JSON.
bool asks_for_json(const std::vector<std::string>& arguments) {
    return std::ranges::count(arguments, "--json") > 0 && arguments.front() != "bench";
}

// Adds --quiet and --json to every command.
void add_output_options_everywhere(CLI::App& program) {
    for (CLI::App* command : program.get_subcommands({})) {
        if (command->get_subcommands({}).empty())
            echolux::add_output_options(*command, command->get_name() != "bench");
        else
            add_output_options_everywhere(*command);
    }
}

// Throws an error that suggests the most similar known name.
[[noreturn]] void refuse(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    const std::string near = echolux::nearest_name(name, candidates);
    throw CLI::ExtrasError(near.empty() ? fmt::format("there is no {} '{}'", kind, name)
                                        : fmt::format("there is no {} '{}', did you mean '{}'?", kind, name, near),
                           CLI::ExitCodes::ExtrasError);
}

// For a misspelt command, CLI11 reports only that a command is missing and lists the unexpected words in reverse order.
const CLI::App& command_named(const CLI::App& program, const std::string& name) {
    std::vector<std::string> names;
    for (const CLI::App* known : program.get_subcommands({})) {
        if (known->check_name(name)) return *known;
        names.push_back(known->get_name());
    }
    refuse("command", name, names);
}

// Short options and values are left to CLI11.
void refuse_unknown_option(const CLI::App& app, const std::string& argument) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--")) return;
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (option->check_lname(name.substr(2)) || option->check_fname(name.substr(2))) return;
        for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
    }
    refuse("option", name, names);
}

void refuse_unknown_names(const CLI::App& program, const std::vector<std::string>& arguments) {
    const CLI::App* app = &program;
    std::size_t next = 0;
    for (; next < arguments.size() && !arguments[next].starts_with('-'); ++next) {  // echolux calibrate dispersion ...
        if (app->get_subcommands({}).empty()) break;
        app = &command_named(*app, arguments[next]);
    }
    for (; next < arguments.size(); ++next) refuse_unknown_option(*app, arguments[next]);
}

// CLI11 prints a flag and its opposite as "--box,--no-box{false}". This formatter removes the braces.
class HelpText : public CLI::Formatter {
  public:
    HelpText() {
        column_width(34);
        label("SUBCOMMAND", "COMMAND");
        label("REQUIRED", "(required)");
    }

    std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
        std::string name;
        for (const char c : CLI::Formatter::make_option_name(option, is_positional)) {
            if (c == '{') break;
            name += c;
            if (c == ',') name += ' ';
        }
        return name;
    }

    // Prints the type and whether the option is required. Exclusions are reported by the error when they occur.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text =
            option->get_type_size() == 0 || option->get_type_name().empty() ? "" : " " + option->get_type_name();
        if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
        if (option->get_required()) text += " " + get_label("REQUIRED");
        for (const CLI::Option* needed : option->get_needs()) text += " (needs " + needed->get_name() + ")";
        return text;
    }
};

// Sets the layout and --help. Call it before options and commands are added, which inherit it.
void set_help_format(CLI::App& program) {
    program.formatter(std::make_shared<HelpText>());
    program.set_help_flag("-h,--help", "Print this help and exit");
}

// Returns whether the reader of a pipe at standard output has ended. errno of a failed write is gone by the time that
// all is printed.
bool has_no_reader() {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

int run(const std::vector<std::string>& given, const echolux::Commands& commands) {
    CLI::App program("Echolux turns raw OCT spectra into volumes and pictures.", "echolux");
    program.set_version_flag("--version", fmt::format("echolux {}", echolux::version), "Print the version and exit");
    program.require_subcommand(1);
    set_help_format(program);
    for (const auto add : commands.add) add(program);
    for (CLI::App* command : program.get_subcommands({})) command->group("Commands");
    program.footer("Start with `echolux demo`. `echolux COMMAND --help` explains a command.");
    add_output_options_everywhere(program);
    echolux::output_options().is_json = asks_for_json(given);
    try {
        std::vector<std::string> arguments = given;
        if (!arguments.empty() && arguments[0] == "help") arguments[0] = "--help";
        if (commands.before_parsing != nullptr) commands.before_parsing(arguments);
        refuse_unknown_names(program, arguments);
        std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them reversed
        program.parse(arguments);
    } catch (const CLI::ParseError& error) {
        return print_usage_error(program, error, given);
    }
    echolux::deliver_output();
    // Printing is part of the job: a full disk is an error.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        if (has_no_reader()) return exit_no_reader;
        throw echolux::Error(echolux::ErrorCode::output, "cannot be written", "standard output", "check free space");
    }
    return 0;
}

}  // namespace

int echolux::run_program(int argc, char** argv, const Commands& commands) {
    setenv("SVT_LOG", "1", 0);  // silences the SVT-AV1 encoder; safe because no other thread runs yet
    echolux::catch_interrupts();
    try {
        return run({argv + 1, argv + argc}, commands);
    } catch (const echolux::UsageError& error) {
        echolux::print_error(error);
        return exit_usage;
    } catch (const echolux::Error& error) {
        echolux::print_error(error);
        return error.code() == echolux::ErrorCode::cancelled ? echolux::exit_interrupted : exit_failed;
    } catch (const std::bad_alloc&) {
        echolux::print_error("out_of_memory", "out of memory", "process fewer B-scans at a time with --blocks");
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::broken_pipe) return exit_no_reader;
        echolux::print_error("unexpected", fmt::format("unexpected failure: {}", error.what()));
    } catch (const std::exception& error) {
        echolux::print_error("unexpected", fmt::format("unexpected failure: {}", error.what()));
    }
    return exit_failed;
}
