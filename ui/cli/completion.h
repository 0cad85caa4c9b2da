// Completion of command lines in shells: commands, options and their choices, from the options that the program has.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace echolux {

// Returns a script for bash, zsh or fish, to be sourced by the shell or installed where it looks for such scripts.
// Throws Error{bad_setting} for another shell.
std::string completion_script(const CLI::App& program, const std::string& shell);

}  // namespace echolux
