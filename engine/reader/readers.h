// The kinds of files that are read in a separate process.
#pragma once

#include <memory>

#include "engine/io/contained/wire.h"

namespace echolux {

// Opens the reader for order.kind. Throws Error{bad_file, bad_setting (not part of this build)}.
std::unique_ptr<ImageReader> reader_of_kind(const OpenOrder& order);

}  // namespace echolux
