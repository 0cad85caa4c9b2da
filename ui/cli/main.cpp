// The program `echolux`: parses the command line, runs one command, turns every failure into one line on standard
// error. Exit codes: 0 the whole job was done, 1 it was not, 2 the command line was not understood, 130 cancelled, 141
// nobody reads what it prints.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/version.h"
#include "ui/cli/commands.h"
#include "ui/cli/option_words.h"
#include "ui/cli/terminal_progress.h"

namespace {

constexpr int nobody_reads = 141;  // what it prints, as after `| head`: no failure, and no word

// CLI11 says of an option that is given twice "--size: At Most 1 required but received 2".
std::string what_is_wrong(const CLI::Error& error) {
    const std::string text = error.what();
    const auto end_of_name = text.find(": At Most 1 required");
    return end_of_name == std::string::npos ? text : text.substr(0, end_of_name) + " is given more than once";
}

std::string one_line(const CLI::App* app, const CLI::Error& error) {
    const auto parsed = app->get_subcommands();
    const std::string command = parsed.empty() ? "" : " " + parsed.front()->get_name();
    return fmt::format("echolux: {} (see echolux{} --help)\n", what_is_wrong(error), command);
}

[[noreturn]] void refuse(const std::string& kind, const std::string& name, const std::vector<std::string>& known) {
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    const std::string near = echolux::nearest_name(name, candidates);
    throw CLI::ExtrasError(near.empty() ? fmt::format("there is no {} '{}'", kind, name)
                                        : fmt::format("there is no {} '{}', did you mean '{}'?", kind, name, near),
                           CLI::ExitCodes::ExtrasError);
}

// CLI11 only says that a command is missing when its name is misspelt, and lists what it did not expect backwards.
const CLI::App& command_named(const CLI::App& program, const std::string& name) {
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({})) {
        if (command->get_name() == name) return *command;
        names.push_back(command->get_name());
    }
    refuse("command", name, names);
}

void refuse_unknown_option(const CLI::App& command, const std::string& argument) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--")) return;
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
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

int run(int argc, char** argv) {
    CLI::App program("Echolux turns raw OCT spectra into volumes and pictures.", "echolux");
    program.set_version_flag("--version", fmt::format("echolux {}", echolux::version));
    program.require_subcommand(1);
    program.failure_message(one_line);
    program.get_formatter()->column_width(34);
    program.footer("Start with `echolux demo`. `echolux COMMAND --help` explains a command.");
#ifdef ECHOLUX_RENDER
    echolux::add_demo(program);
#endif
    echolux::add_info(program);
    echolux::add_simulate(program);
    echolux::add_calibrate(program);
    echolux::add_reconstruct(program);
    echolux::add_convert(program);
#ifdef ECHOLUX_RENDER
    echolux::add_render(program);
    echolux::add_reproduce(program);
    echolux::add_figure(program);
#ifdef ECHOLUX_WINDOW
    echolux::add_view(program);
#endif
    echolux::add_live(program);
    echolux::add_record(program);
#endif
    echolux::add_bench(program);
    echolux::add_validate(program);
    try {
        std::vector<std::string> arguments(argv + 1, argv + argc);
        if (!arguments.empty() && arguments[0] == "help") arguments[0] = "--help";
        refuse_unknown_names(program, arguments);
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
        program.parse(arguments);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : 2;
    }
    // What was printed is part of the job.
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        if (errno == EPIPE) return nobody_reads;
        throw echolux::Error(echolux::ErrorCode::output, "cannot be written", "standard output", "check free space");
    }
    return 0;
}

// Whether anybody reads it or not.
void tell(const std::string& line) {
    std::fputs(("echolux: " + line + "\n").c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
    setenv("SVT_LOG", "1", 0);  // an encoder of movies that tells about itself else; no other thread is there yet
    echolux::catch_interrupts();
    try {
        return run(argc, argv);
    } catch (const echolux::Error& error) {
        tell(echolux::in_options(error.line()));
        return error.code() == echolux::ErrorCode::cancelled ? 130 : 1;
    } catch (const std::bad_alloc&) {
        tell("out of memory (work on fewer B-scans at a time with --blocks)");
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::broken_pipe) return nobody_reads;
        tell(fmt::format("unexpected failure: {}", error.what()));
    } catch (const std::exception& error) {
        tell(fmt::format("unexpected failure: {}", error.what()));
    }
    return 1;
}
