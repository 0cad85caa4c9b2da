// Protocol for blocks of spectra over a connection (docs/push.md): a greeting that describes the stream, then blocks,
// each after a header. All numbers are little-endian. There is no checksum beyond that of TCP. Lengths and numbers are
// checked, so a sender that is out of sync is detected at the next header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "plugins/echolux_push.h"

namespace echolux {

struct PushGreeting {
    char magic[8];  // "ECHOPUSH"
    std::uint32_t version;
    std::uint32_t stream_bytes;
    echolux_push_stream stream;
};

struct PushHead {
    char magic[4];        // "BLCK", or "ENDS" for the end of the stream, with zeros in the rest
    std::uint32_t bytes;  // size of `block`
    echolux_push_block block;
};

static_assert(sizeof(PushGreeting) == 208 && sizeof(PushHead) == 72);

// Parses a greeting without checking the stream. Throws Error{device} naming `where` if it is invalid.
echolux_push_stream parsed_greeting(std::span<const std::byte, sizeof(PushGreeting)> bytes, const std::string& where);

struct ParsedHead {
    bool is_end = false;
    echolux_push_block block{};
};

// Parses a header. Throws Error{device}.
ParsedHead parsed_head(std::span<const std::byte, sizeof(PushHead)> bytes, const std::string& where);

}  // namespace echolux
