// One line that speaks HTTP: says what belongs to the page, takes uploads, becomes a WebSocket.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "ui/net/hub.h"

namespace echolux::net {

// Lives as long as its line.
void begin_web_session(Hub& hub, boost::asio::ip::tcp::socket&& socket);

}  // namespace echolux::net
