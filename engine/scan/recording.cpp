#include "engine/scan/recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <concepts>
#include <deque>
#include <fstream>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/io/regular_file.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "engine/scan/scan_pattern.h"

namespace echolux {

template <>
const std::vector<Field<RecordingNotes>>& describe<RecordingNotes>() {
    using S = RecordingNotes;
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t max = std::int64_t{1} << 50;
    static const std::vector<Field<S>> fields{
        text("index", &S::index, effect, "file: the blocks of a live recording, one per line").file({".csv"}),
        flag("complete", &S::complete, effect, "finished, and every block from the first to the last is in it"),
        flag("finished", &S::finished, effect, "false: cut off; the scan ends with the last whole block"),
        integer("missing_blocks", &S::missing_blocks, 0, max, "", effect,
                "blocks that arrived but were not recorded (disk full or too slow), replaced by zeros"),
        integer("lost_blocks", &S::lost_blocks, 0, max, "", effect, "blocks that the source lost, replaced by zeros"),
        integer("lost_b_scans", &S::lost_b_scans, 0, max, "", effect,
                "B-scan positions without a block, replaced by zeros"),
        integer("refused_blocks", &S::refused_blocks, 0, max, "", effect,
                "blocks of the wrong size or order, which were rejected"),
        integer("interruptions", &S::interruptions, 0, max, "", effect, "times that the source failed"),
        integer("doubtful_blocks", &S::doubtful_blocks, 0, max, "", effect,
                "last blocks that the disk failed to flush: those with the right checksum are used"),
        text("continues", &S::continues, effect, "file: the recording that this one continues after its disk failed")
            .file({".toml"}),
        integer("last_volume_b_scans", &S::last_volume_b_scans, 0, max, "", effect,
                "B-scans of a last volume that ends early; 0: all volumes are whole"),
        text("folder", &S::folder, effect,
             "folder of the striped recording; only there its stripes are replaced with it"),
        text("subject", &S::subject, effect, "person or sample, as entered for the recording"),
        text("note", &S::note, effect, "note of the user"),
        text("started", &S::started, effect, "start of the recording (UTC)"),
        text("program", &S::program, effect, "program that recorded it"),
    };
    return fields;
}

bool RecordingNotes::is_complete() const {
    return missing_blocks == 0 && lost_blocks == 0 && lost_b_scans == 0 && refused_blocks == 0 && interruptions == 0 &&
           doubtful_blocks == 0 && continues.empty();
}

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
    if (!stream)
        throw Error(ErrorCode::bad_file, "cannot be read", path.string(), "it is stored next to the raw spectra");
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

std::string lack_of(const RecordingNotes& notes) {
    if (notes.index.empty() || notes.complete) return {};
    std::vector<std::string> parts;
    const auto add = [&](std::int64_t count, const char* unit, const char* what) {
        if (count > 0) parts.push_back(fmt::format("{} {}", plural(count, unit), what));
    };
    const std::int64_t missing = notes.missing_blocks + notes.lost_blocks;
    if (notes.was_cut())
        parts.push_back(plural(missing, "blocks") + " missing");
    else
        add(missing, "blocks", "missing");
    add(notes.lost_b_scans, "B-scans", "without data");
    add(notes.refused_blocks, "blocks", "refused");
    add(notes.doubtful_blocks, "blocks", "doubtful");
    add(notes.interruptions, "times", "interrupted by its source");
    if (!notes.continues.empty()) parts.push_back("it continues " + notes.continues);
    if (parts.empty()) return {};
    const char* const state = notes.was_cut() ? "was not finished" : "is incomplete";
    return fmt::format("recording {}: {}", state, fmt::join(parts, ", "));
}

RecordingLayout::RecordingLayout(const Scan& scan)
    : layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
      b_scans_(scan.geometry.b_scans), b_repeats_(scan.geometry.b_repeats) {}

std::optional<FileRange> RecordingLayout::place_of(std::int64_t volume, std::int64_t first,
                                                   std::int64_t b_scans) const {
    constexpr std::int64_t largest_file = std::int64_t{1} << 60;
    if (volume < 0 || first < 0 || b_scans < 1 || first >= b_scans_ || b_scans > b_scans_ - first) return {};
    if (volume >= largest_file / layout_.volume_bytes()) return {};
    const std::int64_t b_scan_bytes = layout_.frame_stride() * b_repeats_;
    const std::int64_t begin = first * b_scan_bytes;
    const bool ends_volume = first + b_scans == b_scans_;
    const std::int64_t flyback = ends_volume ? layout_.volume_bytes() - b_scans_ * b_scan_bytes : 0;
    return FileRange{layout_.offset_bytes + volume * layout_.volume_bytes() + begin, b_scans * b_scan_bytes + flyback,
                     flyback};
}

RecordingEnd RecordingEnd::after(std::int64_t volume, std::int64_t next_b_scan, std::int64_t b_scans_a_volume) {
    if (next_b_scan == b_scans_a_volume) return {volume + 1, 0};
    return {volume, next_b_scan};
}

void describe_end(Scan& scan, const RecordingEnd& end, std::int64_t file_bytes) {
    scan.recording.last_volume_b_scans = end.b_scans;
    scan.geometry.volumes = end.volumes;
    if (end.volumes == 0) {
        scan.geometry.volumes = 1;
        scan.geometry.b_scans = end.b_scans;
        scan.geometry.flyback_frames = 0;                                           // follow the last B-scan
        if (!has_raster(scan.geometry)) scan.geometry.protocol = Protocol::raster;  // others need all their B-scans
    }
    scan.file.trailer_bytes = 0;
    scan.file.trailer_bytes =
        file_bytes - spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string()).file_bytes();
}

namespace {

using ByteRange = std::pair<std::int64_t, std::int64_t>;  // [begin, end) of the raw file

// Returns the ranges of all blocks, in order and merged. The rows of an index are in file order.
std::vector<ByteRange> recorded_ranges(const Scan& scan) {
    std::vector<ByteRange> all;
    read_index(scan.path.parent_path() / scan.recording.index, [&](const IndexRow& row) {
        if (row.bytes == 0) return true;
        if (!all.empty() && row.byte_offset <= all.back().second)
            all.back().second = std::max(all.back().second, row.end());
        else
            all.emplace_back(row.byte_offset, row.end());
        return true;
    });
    return all;
}

// Adds the B-scans that begin or end in a gap between recorded bytes.
class Gaps {
  public:
    explicit Gaps(const Scan& scan)
        : layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
          b_scans_(scan.geometry.b_scans), b_scan_bytes_(layout_.frame_stride() * scan.geometry.b_repeats) {}

    void add(std::int64_t begin, std::int64_t end) {
        begin = std::max<std::int64_t>(begin - layout_.offset_bytes, 0);
        end -= layout_.offset_bytes;
        while (begin < end) {
            const std::int64_t volume = begin / layout_.volume_bytes(), first_byte = volume * layout_.volume_bytes();
            const std::int64_t here = std::min(end, first_byte + layout_.volume_bytes());
            const std::int64_t first = (begin - first_byte) / b_scan_bytes_;
            const std::int64_t last = (here - first_byte + b_scan_bytes_ - 1) / b_scan_bytes_;
            note({volume, first, std::min(last, b_scans_)});  // the rest is flyback
            begin = here;
        }
    }

    std::vector<MissingBScans> found;

  private:
    void note(const MissingBScans& missing) {
        if (missing.begin >= missing.end) return;
        if (!found.empty() && found.back().volume == missing.volume && missing.begin <= found.back().end)
            found.back().end = missing.end;
        else
            found.push_back(missing);
    }

    SpectraLayout layout_;
    std::int64_t b_scans_;
    std::int64_t b_scan_bytes_;
};

}  // namespace

std::vector<MissingBScans> missing_b_scans(const Scan& scan) {
    if (scan.recording.index.empty() || scan.recording.complete) return {};
    Gaps gaps(scan);
    std::int64_t end = 0;
    for (const ByteRange& bytes : recorded_ranges(scan)) {
        gaps.add(end, bytes.first);
        end = bytes.second;
    }
    const SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string());
    const std::int64_t file_end = layout.file_bytes() - layout.trailer_bytes;
    gaps.add(end, file_end);
    std::erase_if(gaps.found, [&](const MissingBScans& one) { return one.volume >= scan.geometry.volumes; });
    return gaps.found;
}

void find_missing(Scan& scan) {
    try {
        scan.missing = missing_b_scans(scan);
    } catch (const Error& error) {  // the spectra can still be read
        scan.remarks.push_back(
            "recording is incomplete, and without its index it is unknown which B-scans have no data: " + error.line());
        return;
    }
    if (!scan.missing.empty()) scan.remarks.push_back(text_of_missing(scan));
}

BScanRun run_from(const std::vector<MissingBScans>& missing, std::int64_t volume, std::int64_t begin,
                  std::int64_t end) {
    const auto is_before = [&](const MissingBScans& one) {
        return one.volume < volume || (one.volume == volume && one.end <= begin);
    };
    const auto next = std::ranges::partition_point(missing, is_before);
    if (next == missing.end() || next->volume > volume) return {end, false};
    if (next->begin > begin) return {std::min(next->begin, end), false};
    return {std::min(next->end, end), true};
}

std::vector<std::int64_t> incomplete_volumes(const std::vector<MissingBScans>& missing) {
    std::vector<std::int64_t> volumes;
    for (const MissingBScans& one : missing) {
        if (volumes.empty() || volumes.back() != one.volume) volumes.push_back(one.volume);
    }
    return volumes;
}

std::string missing_slices(const std::vector<MissingBScans>& missing, const MissingBScans& part, std::int64_t slices) {
    std::string text;
    for (std::int64_t b = part.begin; b < part.end;) {
        const BScanRun run = run_from(missing, part.volume, b, part.end);
        if (run.is_missing) {
            text += fmt::format("{}{}:{}", text.empty() ? "" : " ", (b - part.begin) * slices,
                                (run.end - part.begin) * slices);
        }
        b = run.end;
    }
    return text;
}

std::string text_of_missing(const Scan& scan) {
    if (scan.missing.empty()) return {};
    std::int64_t b_scans = 0;
    for (const MissingBScans& one : scan.missing) b_scans += one.end - one.begin;
    const ScanGeometry& geometry = scan.geometry;
    const std::string lack = lack_of(scan.recording);
    return fmt::format("{}; {} of {} of {} of {} have no data", lack.empty() ? "recording is incomplete" : lack,
                       b_scans, plural(geometry.b_scans * geometry.volumes, "B-scans"),
                       incomplete_volumes(scan.missing).size(), plural(geometry.volumes, "volumes"));
}

// ---- Opens recordings that were cut off: finds the last whole block from the index.

namespace {

// Processes the rows of an index. Each row states how many bytes were durable when it was written. Blocks within that
// limit are accepted without a check. The others, at most those of the last second, may have been damaged by a power
// cut, so their checksums are verified.
class WholeBlocks {
  public:
    explicit WholeBlocks(Scan& scan) : layout_(scan), notes_(scan.recording), raw_(scan), size_(raw_.size()) {
        notes_.missing_blocks = 0;
        notes_.lost_blocks = 0;
        notes_.lost_b_scans = 0;
        notes_.interruptions = 0;
    }

    // After the first row that does not fit, rows are only counted, because their bytes did not reach the disk.
    void take(const IndexRow& row) {
        if (!has_ended_) {
            while (!doubtful_.empty() && doubtful_.front().end() <= row.durable_bytes) accept_first();
            has_ended_ = !fits(row);
        }
        if (has_ended_)
            ++notes_.missing_blocks;
        else
            doubtful_.push_back(row);
    }

    RecordingEnd finish() {
        while (!doubtful_.empty() && is_whole(doubtful_.front())) accept_first();
        for (const IndexRow& row : doubtful_) notes_.missing_blocks += std::max<std::int64_t>(1, row.missing);
        return end_;
    }

    std::int64_t file_bytes() const { return size_; }

  private:
    bool fits(const IndexRow& row) const {
        constexpr std::int64_t max = std::int64_t{1} << 40;
        const auto is_count = [](std::int64_t number) { return number >= 0 && number <= max; };
        if (!is_count(row.missing) || !is_count(row.lost_before) || !is_count(row.interruptions)) return false;
        if (row.missing > 0) {
            const bool has_place = layout_.place_of(row.volume, row.first_b_scan, 1).has_value();
            return has_place && row.bytes == 0 && is_count(row.b_scans);
        }
        const auto place = layout_.place_of(row.volume, row.first_b_scan, row.b_scans);
        return place && place->begin == row.byte_offset && place->takes(row.bytes) && place->end() <= size_;
    }

    void accept_first() {
        const IndexRow row = doubtful_.front();
        doubtful_.pop_front();
        notes_.missing_blocks += row.missing;
        notes_.lost_blocks += row.lost_before;
        notes_.interruptions += row.interruptions;
        const std::int64_t position = layout_.position_of(row.volume, row.first_b_scan);
        notes_.lost_b_scans += std::max<std::int64_t>(0, position - next_position_);
        next_position_ = position + row.b_scans;
        if (row.missing > 0) return;
        end_ = RecordingEnd::after(row.volume, row.first_b_scan + row.b_scans, layout_.b_scans());
    }

    bool is_whole(const IndexRow& row) const try {
        constexpr std::int64_t piece = 1 << 20;
        std::vector<std::byte> bytes(index(std::min(piece, row.bytes)));
        std::uint32_t crc = 0;
        for (std::int64_t done = 0; done < row.bytes; done += piece) {
            const auto some = std::span(bytes).first(index(std::min(piece, row.bytes - done)));
            raw_.read(row.byte_offset + done, some);
            crc = crc32_of(some, crc);
        }
        return crc == row.crc32;
    } catch (const Error&) {  // unreadable
        return false;
    }

    RecordingLayout layout_;
    RecordingNotes& notes_;
    RawBytes raw_;
    std::int64_t size_;
    std::deque<IndexRow> doubtful_;
    bool has_ended_ = false;
    RecordingEnd end_;
    std::int64_t next_position_ = 0;  // B-scan position after the accepted rows
};

}  // namespace

void end_at_last_whole_block(Scan& scan) {
    WholeBlocks blocks(scan);
    read_index(scan.path.parent_path() / scan.recording.index, [&](const IndexRow& row) {
        blocks.take(row);
        return true;
    });
    const RecordingEnd end = blocks.finish();
    if (end.is_empty()) {
        throw Error(ErrorCode::bad_file, "recording was not finished: it was cut off before its first whole block",
                    scan.spectra.string(), "there is nothing to open");
    }
    describe_end(scan, end, blocks.file_bytes());
}

// ---- Detects stripes that do not belong together.

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
    std::vector<std::byte> bytes(index(row.bytes));
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
        throw Error(ErrorCode::bad_file,
                    fmt::format("lists files that together do not contain block {} as described in {}", row.sequence,
                                index.string()),
                    scan.path.string() + ", scan.stripes",
                    "name the files of this recording in the order of their parts");
    }
}

}  // namespace echolux
