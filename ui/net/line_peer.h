// Who is at the other end of a line, for messages.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

namespace echolux::net {

inline std::string peer_of(const boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code error;
    const auto end = socket.remote_endpoint(error);
    return error ? std::string() : end.address().to_string() + ":" + std::to_string(end.port());
}

}  // namespace echolux::net
