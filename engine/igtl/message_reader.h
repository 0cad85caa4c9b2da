// Parses incoming OpenIGTLink messages of all protocol versions from untrusted senders. Only supported messages are
// kept in memory, up to the size limit of requests.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Big-endian numbers, as in OpenIGTLink.

// Converts between native and big-endian order.
template <class T>
T swapped(T value) {
    std::array<std::byte, sizeof(T)> bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    if constexpr (std::endian::native == std::endian::little) std::ranges::reverse(bytes);
    return std::bit_cast<T>(bytes);
}

// `bytes` must contain the whole number at offset `at`.
template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.subspan(at, sizeof value).data(), sizeof value);
    return swapped(value);
}

// Returns the text of a fixed-size field, up to its first zero.
inline std::string text_at(std::span<const std::byte> bytes, std::size_t at, std::size_t room) {
    const std::span<const std::byte> field = bytes.subspan(at, room);
    const std::string text(reinterpret_cast<const char*>(field.data()), field.size());
    return text.substr(0, text.find('\0'));
}

// CRC-64 of ECMA-182, not reflected, with initial value 0: the checksum of message bodies in OpenIGTLink.

// Returns the checksum. `crc` is that of the preceding bytes.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0);

}  // namespace echolux::igtl
