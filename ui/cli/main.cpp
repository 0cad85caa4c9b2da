// The program `echolux`: parses the command line, runs one command, turns every failure into one line on standard
// error. Exit codes: 0 the whole job was done, 1 it was not, 2 the command line was not understood, 130 cancelled.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>

#include "compute/describe.h"
#include "compute/error.h"
#include "engine/version.h"
#include "ui/cli/commands.h"
#include "ui/cli/terminal_progress.h"

namespace {

std::string one_line(const CLI::App*, const CLI::Error& error) {
    return fmt::format("echolux: {} (see echolux --help)\n", error.what());
}

// CLI11 only says that a command is missing when its name is misspelt.
void refuse_unknown_command(const CLI::App& program, const std::string& name) {
    if (name.starts_with('-')) return;
    std::vector<std::string> names;
    for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const std::string near = echolux::nearest_name(name, candidates);
    throw CLI::ExtrasError(near.empty() ? fmt::format("there is no command '{}'", name)
                                        : fmt::format("there is no command '{}', did you mean '{}'?", name, near),
                           CLI::ExitCodes::ExtrasError);
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
    echolux::add_reconstruct(program);
#ifdef ECHOLUX_RENDER
    echolux::add_render(program);
#endif
    try {
        if (argc > 1) refuse_unknown_command(program, argv[1]);
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? 0 : 2;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    echolux::catch_interrupts();
    try {
        return run(argc, argv);
    } catch (const echolux::Error& error) {
        fmt::print(stderr, "echolux: {}\n", error.line());
        return error.code() == echolux::ErrorCode::cancelled ? 130 : 1;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "echolux: out of memory (work on fewer B-scans at a time with --blocks)\n");
    } catch (const std::exception& error) {
        fmt::print(stderr, "echolux: unexpected failure: {}\n", error.what());
    }
    return 1;
}
