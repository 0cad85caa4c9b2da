// Messages of OpenIGTLink (J. Tokuda et al., Int. J. Med. Robotics 5, 423, 2009; openigtlink.org), the protocol of 3D
// Slicer and other programs for image-guided therapy. They are few and simple, so they are implemented here. Debian's
// library does not support COMMAND, listens on all addresses of a machine, and trusts received sizes. The tests use it
// as the reference receiver (docs/openigtlink.md).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/types.h"

namespace echolux::igtl {

// ---- Parses incoming OpenIGTLink messages of all protocol versions from untrusted senders. Only supported messages
// are kept in memory, up to the size limit of requests.

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

// ---- Big-endian numbers, as in OpenIGTLink.

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

// ---- CRC-64 of ECMA-182, not reflected, with initial value 0: the checksum of message bodies in OpenIGTLink.

// Returns the checksum. `crc` is that of the preceding bytes.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc = 0);

using Bytes = std::vector<std::byte>;

// Sender and time of a message.
struct Stamp {
    std::string device;  // up to 19 bytes
    double unix_s = 0;   // seconds since 1970
};

// Pose of a volume in the coordinates of OpenIGTLink and Slicer: RAS in millimetres, x to the patient's right, y to the
// front, z to the head.
struct Pose {
    std::array<std::array<double, 3>, 3> directions;  // of columns (A-scans), rows (depth), slices (B-scans)
    std::array<double, 3> spacing_mm;                 // 1 if unknown
    std::array<double, 3> origin_mm;                  // centre of the first voxel
};

// Returns the pose of a volume. `orientation` gives the directions of depth, A-scans and B-scans
// (engine/io/image_header.h). The default, as in files written by Echolux, is to the back, the left and the head.
Pose pose_of(const VolumeGrid& grid, const std::string& orientation = "");

// Throws Error{bad_setting} if IMAGE does not support the voxel type or the size.
void check_image(const VolumeGrid& grid);

// Returns an IMAGE: columns are A-scans, rows depth, slices B-scans. `voxels` has grid.bytes(), depth fastest. Throws
// as check_image().
Bytes image(const Stamp& stamp, const VolumeGrid& grid, const Pose& pose, std::span<const std::byte> voxels);

// Returns an IMAGE of one B-scan at its position, copied from a packed image(). The index is clamped.
Bytes b_scan_of(const Stamp& stamp, std::span<const std::byte> packed_image, const VolumeGrid& grid, const Pose& pose,
                std::int64_t b_scan);

// Returns a TRANSFORM with the pose of a volume, without its spacing.
Bytes transform(const Stamp& stamp, const Pose& pose);

// Returns a STRING, truncated to 65,535 bytes.
Bytes string(const Stamp& stamp, std::string_view text);

// Returns a STATUS with a success or error code.
enum class StatusCode : std::uint16_t { ok = 1, unknown_error = 2, unknown_instruction = 12 };
Bytes status(const Stamp& stamp, StatusCode code, std::string_view text);

// Returns a CAPABILITY with the supported message types.
Bytes capability(const Stamp& stamp);

// Returns the answer to a request: a STRING to a STRING, an RTS_COMMAND with the same number and name to a COMMAND.
Bytes answer_to(const Request& request, double unix_s, std::string_view text);

// ---- Data sent with the voxels of a volume: acquisition time since 1970, and the meaning of voxel values.

// Converts seconds since a source's start to seconds since 1970. Intervals follow the source's clock. The start is
// estimated from the volume with the shortest delay after its acquisition.
class UnixTimes {
  public:
    // `now_s` is the time since 1970. A source that restarted, or paused for more than a second, is synchronised again.
    double of(double time_s, double now_s);

  private:
    std::optional<double> begin_s_;
    double last_s_ = 0;
};

// Returns the current time in seconds since 1970.
double unix_now();

// Returns JSON with `volume` and `time_s` if known, `quantity`, `unit`, `scale`, `offset`, and `spacing_um` with 0 for
// unknown spacings.
std::string note_of(const VolumeGrid& grid, std::optional<std::int64_t> volume, std::optional<double> time_s);

}  // namespace echolux::igtl
