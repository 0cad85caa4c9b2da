// Parses incoming OpenIGTLink messages of all protocol versions from untrusted senders. Only supported messages are
// kept in memory, up to the size limit of requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echolux::igtl {

constexpr std::size_t header_bytes = 58;
constexpr std::size_t extended_header_bytes = 12;  // at the beginning of the body, from version 2
constexpr std::size_t command_name_bytes = 128;
constexpr std::size_t max_request_bytes = 1 << 18;

// A supported message.
struct Request {
    enum class Kind { string, command, status, capability };  // the last two are GET_STATUS and GET_CAPABIL

    Kind kind = Kind::string;
    std::uint16_t version = 1;  // of its header
    std::string device;
    std::uint32_t id = 0;  // only for commands
    std::string name;      // only for commands
    std::string text;      // only for strings and commands
};

// Not thread-safe.
class MessageReader {
  public:
    // Returns the messages completed by these bytes, which may arrive in any pieces. Throws Error{bad_file} for invalid
    // data; then the connection is unusable.
    std::vector<Request> read(std::span<const std::byte> bytes);

  private:
    void begin_body();
    Request finished() const;
    std::size_t body_bytes() const;

    std::vector<std::byte> message_;  // header, then body
    std::uint64_t skips_ = 0;         // remaining bytes of an unsupported message
};

}  // namespace echolux::igtl
