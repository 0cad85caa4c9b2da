// The index of a recording: a CSV file with a line for each block, written after the block's bytes. Anything that reads
// tables reads it (docs/recordings.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace echolux {

struct IndexRow {
    std::uint64_t sequence = 0;      // the source's number
    std::int64_t volume = 0;         // in the file
    std::int64_t first_b_scan = 0;   // position in its volume
    std::int64_t b_scans = 0;        // positions
    std::int64_t byte_offset = 0;    // in the raw file
    std::int64_t bytes = 0;          // 0: missing
    double time_s = 0;               // of the first line, by the source's clock
    std::string arrived_utc;         // ISO 8601
    std::int64_t lost_before = 0;    // blocks that the source lost before this one
    std::int64_t missing = 0;        // blocks from this one on that were not recorded; 0: it was
    std::uint32_t crc32 = 0;         // of the bytes, as zlib has it
    std::int64_t durable_bytes = 0;  // of the raw file, known to be on the disk when the row was written
    std::int64_t interruptions = 0;  // times that the source failed and came back before this block

    std::int64_t end() const { return byte_offset + bytes; }
    bool operator==(const IndexRow&) const = default;
};

// The names of the columns, and the row: with a line feed each.
std::string_view index_heading();
std::string text_of(const IndexRow& row);

// Of a line without its line feed; nothing: it is not a whole row.
std::optional<IndexRow> index_row(std::string_view line);

// Calls `take` with each row until it returns false, the file ends, or a row is not whole: what a power cut left of the
// rows behind that one is not to be trusted. Throws Error{bad_file}: missing, or not an index.
void read_index(const std::filesystem::path& path, const std::function<bool(const IndexRow&)>& take);

}  // namespace echolux
