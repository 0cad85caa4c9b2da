// Session of one WebSocket.
#pragma once

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <memory>
#include <string>

#include "ui/net/either_stream.h"
#include "ui/net/hub.h"

namespace echolux::net {

// Starts a session from an HTTP upgrade request. `place` counts this client while it is held.
void begin_socket_session(Hub& hub, EitherStream&& stream, const beast::http::request<beast::http::empty_body>& request,
                          Right right, const std::string& peer, const std::shared_ptr<void>& place);

}  // namespace echolux::net
