#include "engine/scan/missing_b_scans.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/scan/recording_index.h"
#include "engine/scan/recording_lack.h"
#include "engine/scan/scan.h"

namespace echolux {
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
                       b_scans, counted(geometry.b_scans * geometry.volumes, "B-scans"),
                       incomplete_volumes(scan.missing).size(), counted(geometry.volumes, "volumes"));
}

}  // namespace echolux
