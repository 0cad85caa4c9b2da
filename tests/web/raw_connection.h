// A plain TCP connection to a server of the test that can send any bytes, including ones that no client would send.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "compute/indexing.h"

namespace echolux::test {

class RawConnection {
  public:
    explicit RawConnection(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
        const timeval timeout{20, 0};
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        is_open_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    }
    ~RawConnection() { ::close(socket_); }
    RawConnection(const RawConnection&) = delete;
    RawConnection& operator=(const RawConnection&) = delete;

    bool is_open() const { return is_open_; }
    bool send(std::string_view bytes) {
        return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    }

    void end_sending() { ::shutdown(socket_, SHUT_WR); }

    // Reads until the other side closes or `end` arrives.
    std::string read(std::string_view end = {}) {
        std::string got;
        char part[65536];
        for (;;) {
            const ssize_t bytes = ::recv(socket_, part, sizeof part, 0);
            if (bytes <= 0) return got;
            const std::size_t from = got.size() - std::min(got.size(), end.size());  // earliest position of `end`
            got.append(part, index(bytes));
            if (!end.empty() && got.find(end, from) != got.npos) return got;
        }
    }

  private:
    int socket_;
    bool is_open_ = false;
};

}  // namespace echolux::test
