// What a reader process does: takes one order to open a file, gives up everything else, and answers what is asked of it
// until nobody listens any more.
#pragma once

#include <functional>
#include <memory>

#include "engine/io/contained/wire.h"

namespace echolux {

// Of the file at the descriptor reader_file.
using OpenReader = std::function<std::unique_ptr<ImageReader>(const OpenOrder& order)>;

// The status to end with.
int serve_reader(const OpenReader& open);

}  // namespace echolux
