// `-` as the name of an input or output. Standard input is copied to a temporary file before work begins. An output is
// written to a temporary file and copied to standard output when the work is done. Thus every format can be streamed,
// and an incomplete result is never streamed.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace echolux {

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

}  // namespace echolux
