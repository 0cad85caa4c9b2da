// Files of the web page, embedded in the program.
#pragma once

#include "ui/net/net_server.h"

namespace echolux {

// Returns all files with their paths and MIME types.
WebContent web_pages();

}  // namespace echolux
