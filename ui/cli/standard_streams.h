// `-` as the name of an input or output: standard input is put into a temporary file before work begins, an output is
// written into one and copied to standard output when the work is done. So every format can be streamed, and what is
// streamed is whole.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace echolux {

// For `-`: the name of a file with what standard input holds, its ending by its first bytes (.npy, .nrrd, .png ...),
// else `ending`. Any other name is returned as it is. Throws Error{bad_setting}: standard input is wanted twice;
// Error{output}: there is no room.
std::string input_named(const std::string& name, const std::string& ending);

// For `-`: the name of a file that deliver_output() copies to standard output. Any other name is returned as it is.
// Throws Error{bad_setting}: standard output is wanted twice, --json wants it, or `is_binary` and it is a terminal.
std::string output_named(const std::string& name, const std::string& ending, bool is_binary = true);

// After all went well. Throws Error{output}; std::system_error for a closed pipe.
void deliver_output();

}  // namespace echolux
