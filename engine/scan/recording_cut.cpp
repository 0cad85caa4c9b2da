// Opens recordings that were cut off: finds the last whole block from the index.
#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "compute/error.h"
#include "engine/scan/frame_header.h"
#include "engine/scan/raw_bytes.h"
#include "engine/scan/recording_index.h"
#include "engine/scan/recording_layout.h"

namespace echolux {
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
        std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(piece, row.bytes)));
        std::uint32_t crc = 0;
        for (std::int64_t done = 0; done < row.bytes; done += piece) {
            const auto some = std::span(bytes).first(static_cast<std::size_t>(std::min(piece, row.bytes - done)));
            raw_.read(row.byte_offset + done, some);
            crc = crc32(some, crc);
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

}  // namespace echolux
