// One line that programs write to: a JSON object a line, for LabVIEW, MATLAB and netcat. The first line shows the
// token.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "ui/net/hub.h"

namespace echolux::net {

// Lives as long as its line.
void begin_line_session(Hub& hub, boost::asio::ip::tcp::socket&& socket);

}  // namespace echolux::net
