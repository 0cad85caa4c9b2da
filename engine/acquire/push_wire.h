// Blocks of spectra over a connection (docs/push.md): one greeting that says what comes, then blocks, each behind a
// head of its own. All little endian. There is no checksum, which TCP has: lengths and numbers are checked, so that a
// stream which has lost its place is noticed with the next head.
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
    char magic[4];        // "BLCK", or "ENDS": no more will come, and the rest of the head is 0
    std::uint32_t bytes;  // of `block`
    echolux_push_block block;
};

static_assert(sizeof(PushGreeting) == 208 && sizeof(PushHead) == 72);

// Throws Error{device} naming `where`: it is none. What the stream says is not checked.
echolux_push_stream parsed_greeting(std::span<const std::byte, sizeof(PushGreeting)> bytes, const std::string& where);

struct ParsedHead {
    bool is_end = false;
    echolux_push_block block{};
};

// Throws Error{device}.
ParsedHead parsed_head(std::span<const std::byte, sizeof(PushHead)> bytes, const std::string& where);

}  // namespace echolux
