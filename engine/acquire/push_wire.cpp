#include "engine/acquire/push_wire.h"

#include <fmt/format.h>

#include <cstring>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {

echolux_push_stream parsed_greeting(std::span<const std::byte, sizeof(PushGreeting)> bytes, const std::string& where) {
    PushGreeting greeting;
    std::memcpy(&greeting, bytes.data(), sizeof greeting);
    if (std::memcmp(greeting.magic, "ECHOPUSH", 8) != 0)
        throw Error(ErrorCode::device, "was sent something else than spectra", where, "see docs/push.md");
    if (greeting.version != ECHOLUX_PUSH_VERSION || greeting.stream_bytes != sizeof greeting.stream) {
        throw Error(ErrorCode::device,
                    fmt::format("was sent version {} with {}, this program reads version {} with {}", greeting.version,
                                counted(greeting.stream_bytes, "bytes"), ECHOLUX_PUSH_VERSION, sizeof greeting.stream),
                    where, "see docs/push.md");
    }
    return greeting.stream;
}

ParsedHead parsed_head(std::span<const std::byte, sizeof(PushHead)> bytes, const std::string& where) {
    PushHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    const bool is_end = std::memcmp(head.magic, "ENDS", 4) == 0;
    if (!is_end && (std::memcmp(head.magic, "BLCK", 4) != 0 || head.bytes != sizeof head.block)) {
        throw Error(ErrorCode::device, "out of sync: no block header where one was expected", where,
                    "check how many bytes the acquisition program sends, see docs/push.md");
    }
    return {is_end, head.block};
}

}  // namespace echolux
