// Detects stripes that do not belong together.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "compute/error.h"
#include "engine/scan/frame_header.h"
#include "engine/scan/raw_bytes.h"
#include "engine/scan/recording_index.h"
#include "engine/scan/recording_layout.h"

namespace echolux {
namespace {

constexpr std::int64_t max_checked_bytes = 128 << 20;  // more would delay opening

// Returns the first rows with bytes that were certainly on disk. In a recording that was cut off, blocks of the last
// second may be damaged even if the stripes match. Returns nothing if the file is not an index.
std::vector<IndexRow> first_durable_rows(const Scan& scan, std::int64_t wanted_bytes) try {
    std::vector<IndexRow> rows;
    std::int64_t bytes = 0, durable = 0;
    read_index(scan.path.parent_path() / scan.recording.index, [&](const IndexRow& row) {
        durable = std::max(durable, row.durable_bytes);
        if (row.missing == 0 && bytes < wanted_bytes && bytes + row.bytes <= max_checked_bytes) {
            rows.push_back(row);
            bytes += row.bytes;
        }
        const bool has_enough = bytes >= wanted_bytes || bytes + row.bytes > max_checked_bytes;
        return !has_enough || (!rows.empty() && durable < rows.back().end());
    });
    if (!scan.recording.finished) std::erase_if(rows, [&](const IndexRow& row) { return row.end() > durable; });
    return rows;
} catch (const Error&) {
    return {};
}

bool holds(const RawBytes& raw, std::int64_t size, const IndexRow& row) {
    if (row.end() > size) return true;  // reported by the size check
    std::vector<std::byte> bytes(static_cast<std::size_t>(row.bytes));
    raw.read(row.byte_offset, bytes);
    return crc32_of_many(bytes) == row.crc32;
}

}  // namespace

void check_stripes(const Scan& scan) {
    std::error_code missing;
    const std::filesystem::path index = scan.path.parent_path() / scan.recording.index;
    if (scan.stripes.empty() || scan.recording.index.empty() || !std::filesystem::exists(index, missing)) return;
    const RawBytes raw(scan);
    const std::int64_t size = raw.size(), parts = std::ssize(scan.stripes) + 1;
    for (const IndexRow& row : first_durable_rows(scan, parts * scan.file.stripe_bytes)) {
        if (holds(raw, size, row)) continue;
        throw Error(
            ErrorCode::bad_file,
            fmt::format("names files that together do not hold what {} says of block {}", index.string(), row.sequence),
            scan.path.string() + ", scan.stripes", "name the files of this recording in the order of their parts");
    }
}

}  // namespace echolux
