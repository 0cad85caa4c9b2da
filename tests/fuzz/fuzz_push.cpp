// Untrusted spectra pushed over TCP: a greeting, then blocks, each behind a header.
#include <algorithm>
#include <cstring>

#include "compute/error.h"
#include "engine/acquire/stream.h"
#include "fuzz_target.h"

namespace echolux::fuzz {
namespace {

// Omits the bytes of blocks, which nothing reads. Blocks that are accepted must be within their volume.
void read_pushed(Bytes bytes) {
    if (bytes.size() < sizeof(PushGreeting)) return;
    try {
        const echolux_push_stream said = parsed_greeting(bytes.first<sizeof(PushGreeting)>(), "fuzz");
        name_of(said);
        PushedStream stream({}, said, "fuzz");
        stream.require_alike(said);
        bytes = bytes.subspan(sizeof(PushGreeting));
        for (; bytes.size() >= sizeof(PushHead); bytes = bytes.subspan(sizeof(PushHead))) {
            const ParsedHead head = parsed_head(bytes.first<sizeof(PushHead)>(), "fuzz");
            if (head.is_end) return;
            const std::optional<Block> block = stream.placed(head.block, {});
            if (!block) continue;
            const std::int64_t b_scans = stream.scan().geometry.b_scans;
            if (block->volume < 0 || block->first_b_scan < 0 || block->b_scans < 1 || block->lost_before < 0 ||
                block->first_b_scan + block->b_scans > b_scans || block->bytes > stream.block_bytes())
                std::abort();
        }
    } catch (const Error&) {
    }
}

const Registration registrations[] = {{"pushed", read_pushed}};

}  // namespace
}  // namespace echolux::fuzz
