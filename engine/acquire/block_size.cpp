#include "engine/acquire/block_size.h"

#include <algorithm>

#include "engine/memory_budget.h"

namespace echolux {
namespace {

constexpr double max_bytes = 16 << 20;
constexpr double max_s = 1.0 / 60;
constexpr std::int64_t few_blocks = 4;     // minimum, however little memory is free
constexpr std::int64_t usual_blocks = 16;  // minimum if there is enough memory, for small volumes

// As double, since sizes are unchecked. Returns 1 or more.
double position_lines(const ScanGeometry& geometry) {
    return std::max(static_cast<double>(geometry.lines_per_frame()) * static_cast<double>(geometry.b_repeats), 1.0);
}

// Returns the bytes of a B-scan position, including frame headers.
double position_bytes(const Scan& scan) {
    const double headers =
        static_cast<double>(scan.file.frame_offset_bytes) * static_cast<double>(scan.geometry.b_repeats);
    return position_lines(scan.geometry) * std::max<double>(line_bytes(scan.format, scan.geometry), 1) + headers;
}

}  // namespace

std::int64_t block_size(const SourceSettings& settings, const Scan& scan, double line_rate_hz) {
    const double max = static_cast<double>(std::max<std::int64_t>(scan.geometry.b_scans, 1));
    double b_scans = static_cast<double>(settings.block_b_scans);
    if (settings.block_b_scans == 0) {
        b_scans = max_bytes / position_bytes(scan);
        if (line_rate_hz > 0) b_scans = std::min(b_scans, max_s * line_rate_hz / position_lines(scan.geometry));
    }
    return static_cast<std::int64_t>(std::clamp(b_scans, 1.0, max));
}

std::int64_t pool_size(const SourceSettings& settings, const Scan& scan, std::int64_t block_b_scans) {
    if (settings.pool_blocks > 0) return settings.pool_blocks;
    const std::int64_t blocks_a_volume = (scan.geometry.b_scans + block_b_scans - 1) / block_b_scans;
    const std::int64_t wanted = std::max(volumes_in_use * (blocks_a_volume + 1), usual_blocks);
    const double affordable =
        static_cast<double>(available_memory_bytes() / 2) / (position_bytes(scan) * static_cast<double>(block_b_scans));
    if (affordable >= static_cast<double>(wanted)) return wanted;
    return std::max(static_cast<std::int64_t>(affordable), few_blocks);
}

}  // namespace echolux
