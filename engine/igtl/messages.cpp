#include "engine/igtl/messages.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/volume_file.h"

namespace echolux::igtl {

namespace {

constexpr std::size_t image_header_bytes = 72;
constexpr std::int64_t max_side = 65535;  // sizes are 16 bits
constexpr std::size_t max_string = 65535;
constexpr std::uint16_t utf8 = 106;  // IANA's number
constexpr const char* protocol = "OpenIGTLink";

// Builds a message: reserves space for its header, then appends the body.
class Packer {
  public:
    explicit Packer(std::size_t body_bytes = 0) {
        bytes_.reserve(header_bytes + body_bytes);
        bytes_.resize(header_bytes);
    }

    template <class T>
    void put(T value) {
        const T big = swapped(value);
        put_bytes(std::as_bytes(std::span(&big, 1)));
    }
    void put_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void put_text(std::string_view text) { put_bytes(std::as_bytes(std::span(text))); }

    // Pads with at least one zero to `room` bytes.
    void put_field(std::string_view text, std::size_t room) {
        const std::string_view some = text.substr(0, room - 1);
        put_text(some);
        bytes_.resize(bytes_.size() + room - some.size());
    }
    // Appends space for voxels.
    std::span<std::byte> put_room(std::size_t bytes) {
        bytes_.resize(bytes_.size() + bytes);
        return std::span(bytes_).last(bytes);
    }

    // Fills in the header and returns the message. The packer is unusable afterwards.
    Bytes message(std::string_view type, const Stamp& stamp, std::uint16_t version = 1);

  private:
    Bytes bytes_;
};

// Returns a 32.32 fixed-point number of seconds.
std::uint64_t packed_time(double unix_s) {
    const double some = std::max(unix_s, 0.0), whole = std::floor(some);
    return static_cast<std::uint64_t>(whole) << 32 | static_cast<std::uint64_t>((some - whole) * 4294967296.0);
}

Bytes Packer::message(std::string_view type, const Stamp& stamp, std::uint16_t version) {
    const std::span<const std::byte> body = std::span(bytes_).subspan(header_bytes);
    Packer header;
    header.bytes_.clear();
    header.put(version);
    header.put_field(type, 12);
    header.put_field(stamp.device, 20);
    header.put(packed_time(stamp.unix_s));
    header.put(static_cast<std::uint64_t>(body.size()));
    header.put(crc64(body));
    std::ranges::copy(header.bytes_, bytes_.begin());
    return std::move(bytes_);
}

// Returns 0 for unsupported types.
std::uint8_t scalar_type(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return 3;
        case VoxelType::i16: return 4;
        case VoxelType::u16: return 5;
        case VoxelType::f32: return 10;
        default: return 0;
    }
}

// The pose in the header is that of the volume's centre, as the protocol requires.
void put_image_header(Packer& packer, const VolumeGrid& grid, const Pose& pose) {
    const std::array<std::int64_t, 3> size{grid.a_scans, grid.depth, grid.b_scans};
    packer.put(std::uint16_t{1});
    packer.put(std::uint8_t{1});  // numbers per voxel
    packer.put(scalar_type(grid.type));
    packer.put(std::uint8_t{2});  // voxels are little-endian
    packer.put(std::uint8_t{1});  // coordinates are RAS
    for (const std::int64_t side : size) packer.put(static_cast<std::uint16_t>(side));
    std::array<double, 3> centre = pose.origin_mm;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        for (std::size_t i = 0; i < 3; ++i) {
            const double step = pose.directions[axis][i] * pose.spacing_mm[axis];
            packer.put(static_cast<float>(step));
            centre[i] += step * static_cast<double>(size[axis] - 1) / 2;
        }
    }
    for (const double at : centre) packer.put(static_cast<float>(at));
    for (int axis = 0; axis < 3; ++axis) packer.put(std::uint16_t{0});  // the transmitted part: everything
    for (const std::int64_t side : size) packer.put(static_cast<std::uint16_t>(side));
}

std::array<double, 3> direction_of(char letter) {
    switch (letter) {
        case 'R': return {1, 0, 0};
        case 'L': return {-1, 0, 0};
        case 'A': return {0, 1, 0};
        case 'P': return {0, -1, 0};
        case 'I': return {0, 0, -1};
        default: return {0, 0, 1};
    }
}

}  // namespace

Pose pose_of(const VolumeGrid& grid, const std::string& orientation) {
    const std::string letters = orientation.size() == 3 ? orientation : "PLS";
    const ImageHeader header = image_header({.grid = grid});
    Pose pose{{direction_of(letters[1]), direction_of(letters[0]), direction_of(letters[2])}, {}, {}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        pose.spacing_mm[axis] = header.spacing_or_one(axis);
        for (std::size_t i = 0; i < 3; ++i) pose.origin_mm[i] += pose.directions[axis][i] * header.origin_mm[axis];
    }
    return pose;
}

void check_image(const VolumeGrid& grid) {
    if (scalar_type(grid.type) == 0) {
        throw Error(ErrorCode::bad_setting, "has a voxel type that OpenIGTLink does not support", protocol,
                    "set recipe.voxel to u8, u16 or f32, and recipe.quantity to one that is not complex");
    }
    if (std::max({grid.depth, grid.a_scans, grid.b_scans}) <= max_side) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("cannot send {} x {} x {} voxels: sides are limited to {}", grid.depth, grid.a_scans,
                            grid.b_scans, max_side),
                protocol, "reconstruct a smaller part");
}

Bytes image(const Stamp& stamp, const VolumeGrid& grid, const Pose& pose, std::span<const std::byte> voxels) {
    check_image(grid);
    if (std::ssize(voxels) != grid.bytes())
        throw Error(ErrorCode::bad_setting, "has a number of voxels that does not match its size", protocol);
    Packer packer(image_header_bytes + voxels.size());
    put_image_header(packer, grid, pose);
    transpose(voxels, packer.put_room(voxels.size()), grid.type, grid.a_scans, grid.depth);
    return packer.message("IMAGE", stamp);
}

Bytes b_scan_of(const Stamp& stamp, std::span<const std::byte> packed_image, const VolumeGrid& grid, const Pose& pose,
                std::int64_t b_scan) {
    const std::int64_t at = std::clamp<std::int64_t>(b_scan, 0, grid.b_scans - 1);
    VolumeGrid one = grid;
    one.b_scans = 1;
    Pose there = pose;
    for (std::size_t i = 0; i < 3; ++i)
        there.origin_mm[i] += pose.directions[2][i] * pose.spacing_mm[2] * static_cast<double>(at);
    const auto bytes = index(grid.b_scan_bytes());
    Packer packer(image_header_bytes + bytes);
    put_image_header(packer, one, there);
    packer.put_bytes(packed_image.subspan(header_bytes + image_header_bytes + index(at) * bytes, bytes));
    return packer.message("IMAGE", stamp);
}

Bytes transform(const Stamp& stamp, const Pose& pose) {
    Packer packer;
    for (const auto& direction : pose.directions) {
        for (const double part : direction) packer.put(static_cast<float>(part));
    }
    for (const double at : pose.origin_mm) packer.put(static_cast<float>(at));
    return packer.message("TRANSFORM", stamp);
}

Bytes string(const Stamp& stamp, std::string_view text) {
    const std::string_view some = text.substr(0, max_string);
    Packer packer;
    packer.put(utf8);
    packer.put(static_cast<std::uint16_t>(some.size()));
    packer.put_text(some);
    return packer.message("STRING", stamp);
}

Bytes status(const Stamp& stamp, StatusCode code, std::string_view text) {
    Packer packer;
    packer.put(static_cast<std::uint16_t>(code));
    packer.put(std::int64_t{0});
    packer.put_field(code == StatusCode::ok ? "OK" : "Error", 20);
    packer.put_field(text, text.size() + 1);
    return packer.message("STATUS", stamp);
}

Bytes capability(const Stamp& stamp) {
    constexpr std::array types{"IMAGE",      "TRANSFORM",   "STRING", "COMMAND",
                               "GET_STATUS", "GET_CAPABIL", "STATUS", "CAPABILITY"};
    Packer packer;
    for (const std::string_view type : types) packer.put_field(type, 12);
    return packer.message("CAPABILITY", stamp);
}

Bytes answer_to(const Request& request, double unix_s, std::string_view text) {
    const Stamp stamp{request.device.empty() ? "Echolux" : request.device, unix_s};
    if (request.kind != Request::Kind::command) return string(stamp, text);
    Packer packer;
    if (request.version >= 2) {  // extended header: its size, sizes of metadata, message number
        packer.put(static_cast<std::uint16_t>(extended_header_bytes));
        packer.put(std::uint16_t{0});
        packer.put(std::uint32_t{0});
        packer.put(request.id);
    }
    packer.put(request.id);
    packer.put_field(request.name, command_name_bytes);
    packer.put(utf8);
    packer.put(static_cast<std::uint32_t>(text.size()));
    packer.put_text(text);
    return packer.message("RTS_COMMAND", stamp, request.version >= 2 ? 2 : 1);
}

double UnixTimes::of(double time_s, double now_s) {
    constexpr double longest_halt_s = 1;
    const double begin_s = now_s - time_s;
    const bool continues = begin_s_ && time_s >= last_s_ && begin_s - *begin_s_ < longest_halt_s;
    begin_s_ = continues ? std::min(*begin_s_, begin_s) : begin_s;
    last_s_ = time_s;
    return *begin_s_ + time_s;
}

double unix_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string note_of(const VolumeGrid& grid, std::optional<std::int64_t> volume, std::optional<double> time_s) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (volume) json["volume"] = *volume;
    if (time_s) json["time_s"] = *time_s;
    json["quantity"] = grid.quantity;
    json["unit"] = grid.unit;
    json["scale"] = grid.scale;
    json["offset"] = grid.offset;
    json["spacing_um"] = {grid.spacing_um[2], grid.spacing_um[1], grid.spacing_um[0]};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

using Table = std::array<std::array<std::uint64_t, 256>, 8>;

// Table k is for a byte followed by k others, so that eight bytes are processed per step. Byte by byte, the checksum of
// a volume would take longer than sending it.
constexpr Table tables = [] {
    constexpr std::uint64_t polynomial = 0x42F0E1EBA9EA3693;
    Table made{};
    for (std::uint64_t byte = 0; byte < 256; ++byte) {
        std::uint64_t crc = byte << 56;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 63) != 0 ? crc << 1 ^ polynomial : crc << 1;
        made[0][byte] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte)
            made[k][byte] = made[k - 1][byte] << 8 ^ made[0][made[k - 1][byte] >> 56];
    }
    return made;
}();

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) {
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        const std::uint64_t mixed = crc ^ number_at<std::uint64_t>(bytes, 0);
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) crc ^= tables[k][mixed >> 8 * k & 0xFF];
    }
    for (const std::byte byte : bytes) crc = crc << 8 ^ tables[0][crc >> 56 ^ static_cast<std::uint64_t>(byte)];
    return crc;
}

using Span = std::span<const std::byte>;

constexpr std::size_t type_at = 2, device_at = 14, size_at = 42, crc_at = 50;
constexpr std::size_t command_header_bytes = 4 + command_name_bytes + 2 + 4;
constexpr std::uint64_t max_message = std::uint64_t{1} << 40;  // larger ones are refused instead of skipped

[[noreturn]] static void refuse(const std::string& problem) {
    throw Error(ErrorCode::bad_file, problem, "OpenIGTLink", "check which program is connected");
}

static std::optional<Request::Kind> kind_of(Span header) {
    const std::string type = text_at(header, type_at, device_at - type_at);
    if (type == "STRING") return Request::Kind::string;
    if (type == "COMMAND") return Request::Kind::command;
    if (type == "GET_STATUS") return Request::Kind::status;
    if (type == "GET_CAPABIL") return Request::Kind::capability;
    return std::nullopt;
}

// Returns the content of a version 2 body, without extended header and metadata.
static Span content_of(Span body) {
    if (body.size() < extended_header_bytes) refuse("a message ends within its extended header");
    const std::uint64_t before = number_at<std::uint16_t>(body, 0);
    const std::uint64_t behind = std::uint64_t{number_at<std::uint16_t>(body, 2)} + number_at<std::uint32_t>(body, 4);
    if (before < extended_header_bytes || before + behind > body.size())
        refuse("a message is shorter than its extended header states");
    return body.subspan(before, body.size() - before - behind);
}

static std::string text_of(Span content, std::size_t at, std::size_t bytes) {
    if (bytes > content.size() - at) refuse("a message ends within its text");
    return text_at(content, at, bytes);
}

std::size_t MessageReader::body_bytes() const {
    return static_cast<std::size_t>(number_at<std::uint64_t>(message_, size_at));
}

std::vector<Request> MessageReader::read(Span bytes) {
    std::vector<Request> requests;
    const auto take = [&](std::uint64_t wanted) {
        const Span part = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, bytes.size())));
        bytes = bytes.subspan(part.size());
        return part;
    };
    const auto fill_to = [&](std::size_t size) {
        const Span part = take(size - message_.size());
        message_.insert(message_.end(), part.begin(), part.end());
        return message_.size() == size;
    };
    while (!bytes.empty()) {
        if (skips_ > 0) {
            skips_ -= take(skips_).size();
            continue;
        }
        if (message_.size() < header_bytes) {
            if (!fill_to(header_bytes)) break;
            begin_body();
            if (message_.empty()) continue;
        }
        if (!fill_to(header_bytes + body_bytes())) break;
        requests.push_back(finished());
        message_.clear();
    }
    return requests;
}

// Skips unsupported messages without storing them.
void MessageReader::begin_body() {
    const auto version = number_at<std::uint16_t>(message_, 0);
    const auto size = number_at<std::uint64_t>(message_, size_at);
    if (version < 1 || version > 3 || size > max_message) refuse("is not an OpenIGTLink message");
    if (!kind_of(message_)) {
        skips_ = size;
        message_.clear();
    } else if (size > max_request_bytes) {
        refuse(fmt::format("a request of {} is too long: at most {}", plural(size, "bytes"), max_request_bytes));
    }
}

Request MessageReader::finished() const {
    const Span body = std::span(message_).subspan(header_bytes);
    if (crc64(body) != number_at<std::uint64_t>(message_, crc_at)) refuse("the checksum of a message is wrong");
    Request request;
    request.kind = *kind_of(message_);
    request.version = number_at<std::uint16_t>(message_, 0);
    request.device = text_at(message_, device_at, size_at - 8 - device_at);
    if (request.kind == Request::Kind::status || request.kind == Request::Kind::capability) return request;
    const Span content = request.version >= 2 ? content_of(body) : body;
    const bool is_command = request.kind == Request::Kind::command;
    const std::size_t head = is_command ? command_header_bytes : 4;
    if (content.size() < head) refuse("a message ends within its header");
    if (is_command) {
        request.id = number_at<std::uint32_t>(content, 0);
        request.name = text_at(content, 4, command_name_bytes);
        request.text = text_of(content, head, number_at<std::uint32_t>(content, head - 4));
    } else {
        request.text = text_of(content, head, number_at<std::uint16_t>(content, 2));
    }
    return request;
}

}  // namespace echolux::igtl
