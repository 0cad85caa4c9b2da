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
    std::vector<void (*)(CLI::App&)> add;                               // in the order of the help
    void (*before_parsing)(const std::vector<std::string>&) = nullptr;  // may replace the process
};

// Runs the command that the arguments name. Returns the exit code. Does not throw.
int run_program(int argc, char** argv, const Commands& commands);

// The commands of the program. Each add_NAME() adds a subcommand with its options and its action.
void add_batch(CLI::App& program);
void add_bench(CLI::App& program);
void add_ctl(CLI::App& program);
void add_demo(CLI::App& program);
void add_info(CLI::App& program);
void add_serve(CLI::App& program);
void add_view(CLI::App& program);
void add_operations(CLI::App& program);  // one command for each
void add_live(CLI::App& program);
void add_record(CLI::App& program);

// Continues as the command of the Python module if the first argument is `batch`. Throws Error if it is missing.
void hand_over_batch(const std::vector<std::string>& arguments);

}  // namespace echolux
