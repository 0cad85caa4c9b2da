// Shared by the tests in this folder: a volume in which every voxel differs, messages built byte by byte from the
// specification, and a connection that sends raw bytes. It uses no code under test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "await.h"
#include "compute/indexing.h"
#include "engine/igtl/link.h"
#include "engine/net/tcp.h"

namespace echolux::test {

using namespace std::chrono_literals;
using igtl::Bytes;

inline VolumeGrid small_grid(VoxelType type = VoxelType::u8) {
    VolumeGrid grid{.depth = 5,
                    .a_scans = 4,
                    .b_scans = 3,
                    .type = type,
                    .spacing_um = {3, 10, 20},
                    .first_depth_um = 50,
                    .scale = 0.5,
                    .offset = -7,
                    .quantity = "db",
                    .unit = "dB above noise floor"};
    return grid;
}

// Voxel n (depth fastest) has the value n (u8: n & 255) plus `more`.
inline Bytes voxels_of(const VolumeGrid& grid, int more = 0) {
    Bytes bytes(index(grid.bytes()));
    for (std::int64_t n = 0; n < grid.voxels(); ++n) {
        const std::int64_t value = n + more;
        const auto u8 = static_cast<std::uint8_t>(value);
        const auto i16 = static_cast<std::int16_t>(value - 30);
        const auto u16 = static_cast<std::uint16_t>(value + 1000);
        const auto f32 = static_cast<float>(value) / 3;
        const void* from = &u8;
        if (grid.type == VoxelType::i16) from = &i16;
        if (grid.type == VoxelType::u16) from = &u16;
        if (grid.type == VoxelType::f32) from = &f32;
        const auto size = index(bytes_of(grid.type));
        std::memcpy(bytes.data() + index(n) * size, from, size);
    }
    return bytes;
}

inline igtl::OfferedVolume offered(const VolumeGrid& grid, std::int64_t number) {
    return {grid, {}, number, 0.1 * static_cast<double>(number), [=] {
                return std::make_shared<const Bytes>(voxels_of(grid, static_cast<int>(number)));
            }};
}

// ---- messages, byte by byte

inline std::string big(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
}

inline std::string field(std::string text, std::size_t room) {
    text.resize(room, '\0');
    return text;
}

// Computes the checksum bit by bit, as in the standard (ECMA-182).
inline std::uint64_t slow_crc64(const std::string& text) {
    std::uint64_t crc = 0;
    for (const char c : text) {
        crc ^= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << 56;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 63) != 0 ? crc << 1 ^ 0x42F0E1EBA9EA3693 : crc << 1;
    }
    return crc;
}

inline std::string message(const std::string& type, const std::string& body, int version = 1,
                           const std::string& device = "test") {
    return big(static_cast<std::uint64_t>(version), 2) + field(type, 12) + field(device, 20) + big(0, 8) +
           big(body.size(), 8) + big(slow_crc64(body), 8) + body;
}

inline std::string string_body(const std::string& text) {
    return big(3, 2) + big(text.size(), 2) + text;
}

inline std::string command_body(std::uint32_t id, const std::string& name, const std::string& text) {
    return big(id, 4) + field(name, 128) + big(3, 2) + big(text.size(), 4) + text;
}

// A body of version 2, followed by one metadata key.
inline std::string extended(const std::string& content) {
    const std::string keys = big(1, 2) + big(3, 2) + big(3, 2) + big(5, 4), values = "keyvalue" + std::string();
    return big(12, 2) + big(keys.size(), 2) + big(values.size(), 4) + big(7, 4) + content + keys + values;
}

inline std::span<const std::byte> bytes_of_text(const std::string& text) {
    return std::as_bytes(std::span(text));
}

// ---- program at the other end

class RawProgram {
  public:
    struct Got {
        std::string type, device, body;
        double unix_s = 0;
    };

    explicit RawProgram(TcpConnection connection) : connection_(std::move(connection)) {}
    explicit RawProgram(std::uint16_t port) : RawProgram(connect_to({"127.0.0.1", port}, 5s, "test")) {}

    void send(const std::string& text) {
        for (auto left = bytes_of_text(text); !left.empty();) {
            const auto went = connection_.send(left, 1s);
            if (!went) return;
            left = left.subspan(*went);
        }
    }

    // Returns the next message. An empty type means that the connection is closed or that nothing arrived.
    Got next(std::chrono::milliseconds timeout = 10s) {
        const auto end = std::chrono::steady_clock::now() + timeout;
        while (std::chrono::steady_clock::now() < end) {
            if (text_.size() >= 58 && text_.size() >= 58 + size()) return taken();
            std::vector<std::byte> some(1 << 16);
            const auto came = connection_.receive(some, 20ms);
            if (!came) {
                is_closed = true;
                return {};
            }
            text_.append(reinterpret_cast<const char*>(some.data()), *came);
        }
        return {};
    }
    // Returns the next message of that type and device; skips others.
    Got next(const std::string& type, const std::string& device = "") {
        for (Got got = next(); !got.type.empty(); got = next()) {
            if (got.type == type && (device.empty() || got.device == device)) return got;
        }
        return {};
    }

    bool is_closed = false;

  private:
    std::uint64_t number(std::size_t at, int bytes) const {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(text_[at + i]);
        return value;
    }
    std::size_t size() const { return number(42, 8); }
    Got taken() {
        Got got{std::string(text_.c_str() + 2), std::string(text_.c_str() + 14), text_.substr(58, size()),
                static_cast<double>(number(34, 4)) + static_cast<double>(number(38, 4)) / 4294967296.0};
        if (got.body.size() < 100'000) {  // bit by bit is slow
            EXPECT_EQ(number(50, 8), slow_crc64(got.body));
        }
        text_.erase(0, 58 + size());
        return got;
    }

    TcpConnection connection_;
    std::string text_;
};

}  // namespace echolux::test
