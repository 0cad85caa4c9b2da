// Main loop of a reader process: receives the order to open a file, enters the sandbox, and answers requests until the
// socket is closed.
#pragma once

#include <functional>
#include <memory>

#include "engine/io/contained/wire.h"

namespace echolux {

// Opens the file at the descriptor reader_file.
using OpenReader = std::function<std::unique_ptr<ImageReader>(const OpenOrder& order)>;

// Returns the exit status.
int serve_reader(const OpenReader& open);

}  // namespace echolux
