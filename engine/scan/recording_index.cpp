#include "engine/scan/recording_index.h"

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <fstream>
#include <limits>

#include "compute/error.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

constexpr std::string_view heading =
    "sequence,volume,first_b_scan,b_scans,byte_offset,bytes,time_s,arrived_utc,lost_before,missing,crc32,"
    "durable_bytes,interruptions\n";
constexpr std::string_view heading_before_interruptions =
    "sequence,volume,first_b_scan,b_scans,byte_offset,bytes,time_s,arrived_utc,lost_before,missing,crc32,"
    "durable_bytes\n";

// Parses the columns of a line one by one.
class Columns {
  public:
    explicit Columns(std::string_view line) : rest_(line) {}

    template <std::integral T>
    void take(T& number, int base = 10) {
        const std::string_view text = next();
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
        check(problem == std::errc() && end == text.data() + text.size());
    }
    void take(double& number) {
        const std::string_view text = next();
        const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
        check(problem == std::errc() && end == text.data() + text.size());
    }
    void take(std::string& text) { text = next(); }

    bool at_end() const { return at_end_; }
    bool all_taken() const { return is_right_ && at_end_; }

  private:
    std::string_view next() {
        check(!at_end_);
        const std::size_t comma = rest_.find(',');
        const std::string_view column = rest_.substr(0, comma);
        at_end_ = comma == std::string_view::npos;
        rest_ = at_end_ ? std::string_view() : rest_.substr(comma + 1);
        return column;
    }
    void check(bool is_right) { is_right_ = is_right_ && is_right; }

    std::string_view rest_;
    bool at_end_ = false;
    bool is_right_ = true;
};

// Returns whether the byte range is possible in a file.
bool has_end(const IndexRow& row) {
    constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max();
    return row.byte_offset >= 0 && row.bytes >= 0 && row.bytes <= max - row.byte_offset;
}

}  // namespace

std::string_view index_heading() {
    return heading;
}

std::string text_of(const IndexRow& row) {
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{:08x},{},{}\n", row.sequence, row.volume, row.first_b_scan,
                       row.b_scans, row.byte_offset, row.bytes, row.time_s, row.arrived_utc, row.lost_before,
                       row.missing, row.crc32, row.durable_bytes, row.interruptions);
}

std::optional<IndexRow> index_row(std::string_view line) {
    IndexRow row;
    Columns columns(line);
    columns.take(row.sequence);
    columns.take(row.volume);
    columns.take(row.first_b_scan);
    columns.take(row.b_scans);
    columns.take(row.byte_offset);
    columns.take(row.bytes);
    columns.take(row.time_s);
    columns.take(row.arrived_utc);
    columns.take(row.lost_before);
    columns.take(row.missing);
    columns.take(row.crc32, 16);
    columns.take(row.durable_bytes);
    if (!columns.at_end()) columns.take(row.interruptions);  // missing in older recordings
    if (!columns.all_taken() || !has_end(row)) return {};
    return row;
}

void read_index(const std::filesystem::path& path, const std::function<bool(const IndexRow&)>& take) {
    std::ifstream stream = regular_stream(path);
    if (!stream) throw Error(ErrorCode::bad_file, "cannot be read", path.string(), "it lies beside the raw spectra");
    std::string line;
    constexpr std::size_t longest = 4096;
    if (!read_line(stream, line, longest, path.string()) ||
        (line + "\n" != heading && line + "\n" != heading_before_interruptions)) {
        throw Error(ErrorCode::bad_file, "is not the index of a recording", path.string(), "check recording.index");
    }
    // A last line without line feed is incomplete.
    while (read_line(stream, line, longest, path.string()) && !stream.eof()) {
        const std::optional<IndexRow> row = index_row(line);
        if (!row || !take(*row)) return;
    }
}

}  // namespace echolux
