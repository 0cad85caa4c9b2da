// The index of a recording: a CSV file with one line per block, written after the block's data, and readable by any
// program that reads tables (docs/recordings.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace echolux {

// One line of the index.
struct IndexRow {
    std::uint64_t sequence = 0;      // assigned by the source
    std::int64_t volume = 0;         // number in the file
    std::int64_t first_b_scan = 0;   // position within its volume
    std::int64_t b_scans = 0;        // number of positions
    std::int64_t byte_offset = 0;    // in the raw file
    std::int64_t bytes = 0;          // 0 if missing
    double time_s = 0;               // first line, by the source's clock
    std::string arrived_utc;         // ISO 8601
    std::int64_t lost_before = 0;    // blocks lost by the source before this one
    std::int64_t missing = 0;        // number of unrecorded blocks, starting with this one; 0: this block was recorded
    std::uint32_t crc32 = 0;         // of the block's bytes, as in zlib
    std::int64_t durable_bytes = 0;  // size of the raw file known to be on disk when the row was written
    std::int64_t interruptions = 0;  // failures of the source, with recovery, before this block

    std::int64_t end() const { return byte_offset + bytes; }
    bool operator==(const IndexRow&) const = default;
};

// Both texts end with a line feed.
std::string_view index_heading();
std::string text_of(const IndexRow& row);

// Parses one line without its line feed. Returns std::nullopt if the row is incomplete.
std::optional<IndexRow> index_row(std::string_view line);

// Calls `take` for each row until it returns false, the file ends, or a row is incomplete. Rows after an incomplete one
// may have been damaged by a power cut. Throws Error{bad_file} if the file is missing or not an index.
void read_index(const std::filesystem::path& path, const std::function<bool(const IndexRow&)>& take);

}  // namespace echolux
