#include "engine/igtl/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux::igtl {
namespace {

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

}  // namespace

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) {
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        const std::uint64_t mixed = crc ^ number_at<std::uint64_t>(bytes, 0);
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) crc ^= tables[k][mixed >> 8 * k & 0xFF];
    }
    for (const std::byte byte : bytes) crc = crc << 8 ^ tables[0][crc >> 56 ^ static_cast<std::uint64_t>(byte)];
    return crc;
}

namespace {

using Span = std::span<const std::byte>;

constexpr std::size_t type_at = 2, device_at = 14, size_at = 42, crc_at = 50;
constexpr std::size_t command_header_bytes = 4 + command_name_bytes + 2 + 4;
constexpr std::uint64_t max_message = std::uint64_t{1} << 40;  // that is skipped

[[noreturn]] void refuse(const std::string& problem) {
    throw Error(ErrorCode::bad_file, problem, "OpenIGTLink", "check what is connected there");
}

std::optional<Request::Kind> kind_of(Span header) {
    const std::string type = text_at(header, type_at, device_at - type_at);
    if (type == "STRING") return Request::Kind::string;
    if (type == "COMMAND") return Request::Kind::command;
    if (type == "GET_STATUS") return Request::Kind::status;
    if (type == "GET_CAPABIL") return Request::Kind::capability;
    return std::nullopt;
}

// Returns the content of a version 2 body, without extended header and metadata.
Span content_of(Span body) {
    if (body.size() < extended_header_bytes) refuse("a message ends within its extended header");
    const std::uint64_t before = number_at<std::uint16_t>(body, 0);
    const std::uint64_t behind = std::uint64_t{number_at<std::uint16_t>(body, 2)} + number_at<std::uint32_t>(body, 4);
    if (before < extended_header_bytes || before + behind > body.size())
        refuse("a message is shorter than its extended header says");
    return body.subspan(before, body.size() - before - behind);
}

std::string text_of(Span content, std::size_t at, std::size_t bytes) {
    if (bytes > content.size() - at) refuse("a message ends within its text");
    return text_at(content, at, bytes);
}

}  // namespace

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
    if (version < 1 || version > 3 || size > max_message) refuse("is not a message of OpenIGTLink");
    if (!kind_of(message_)) {
        skips_ = size;
        message_.clear();
    } else if (size > max_request_bytes) {
        refuse(fmt::format("a request of {} is too long: at most {}", counted(size, "bytes"), max_request_bytes));
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
