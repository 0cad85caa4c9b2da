// Connection for programs that exchange lines, such as LabVIEW, MATLAB and netcat: one JSON object per line. The first
// line contains the token.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "ui/net/hub.h"

namespace echolux::net {

// Starts a session, which keeps itself alive as long as the connection.
void begin_line_session(Hub& hub, boost::asio::ip::tcp::socket&& socket);

}  // namespace echolux::net
