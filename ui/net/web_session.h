// HTTP session: serves the files of the page, accepts uploads, and upgrades to WebSockets.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "ui/net/hub.h"

namespace echolux::net {

// Starts a session, which keeps itself alive as long as the connection.
void begin_web_session(Hub& hub, boost::asio::ip::tcp::socket&& socket);

}  // namespace echolux::net
