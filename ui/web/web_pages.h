// The files of the page, as they are embedded in the program.
#pragma once

#include "ui/net/net_server.h"

namespace echolux {

WebContent web_pages();

}  // namespace echolux
