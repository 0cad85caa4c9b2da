// Takes apart what comes over a line of OpenIGTLink, of all versions of the protocol: strangers may have sent it. Only
// what is understood here is kept in memory, and only as much of it as a request may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace echolux::igtl {

constexpr std::size_t header_bytes = 58;
constexpr std::size_t extended_header_bytes = 12;  // from version 2 on, at the beginning of the body
constexpr std::size_t command_name_bytes = 128;
constexpr std::size_t max_request_bytes = 1 << 18;

struct Request {
    enum class Kind { string, command, status, capability };  // the last two are GET_STATUS and GET_CAPABIL

    Kind kind = Kind::string;
    std::uint16_t version = 1;  // of its header
    std::string device;
    std::uint32_t id = 0;  // of a command
    std::string name;      // of a command
    std::string text;      // of a string or a command
};

class MessageReader {
  public:
    // What became whole with these bytes, in whatever pieces they come. Throws Error{bad_file} for what is no message:
    // the line is of no use any more.
    std::vector<Request> read(std::span<const std::byte> bytes);

  private:
    void begin_body();
    Request finished() const;
    std::size_t body_bytes() const;

    std::vector<std::byte> message_;  // header, then body
    std::uint64_t skips_ = 0;         // bytes of a message that nobody reads here
};

}  // namespace echolux::igtl
