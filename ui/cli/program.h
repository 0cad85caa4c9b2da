// Runs a program of commands: parses the command line, runs one command, and prints a failure as one line (or one JSON
// object) on standard error.
//
// Exit codes (docs/scripts.md):
//   0    the whole job is done
//   1    the job failed
//   2    invalid command line
//   130  interrupted
//   141  the reader of standard output closed the pipe
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace echolux {

struct Commands {
    std::vector<void (*)(CLI::App&)> add;                         // in the order of the help
    void (*before_parsing)(std::vector<std::string>&) = nullptr;  // may rewrite the arguments, or replace the process
};

// Runs the command that the arguments name. Returns the exit code. Does not throw.
int run_program(int argc, char** argv, const Commands& commands);

}  // namespace echolux
