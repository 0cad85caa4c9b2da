#include "compute/invalid_lines.h"

#include <numeric>

#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux {

std::int64_t find_invalid_lines(const RawFormat& format, const ScanGeometry& geometry, const Block& block,
                                std::vector<std::uint8_t>& flags) {
    flags.clear();
    if (format.sample_format != SampleFormat::f32 || is_missing(block)) return 0;
    const LineFormat lines(format, geometry);
    const std::int64_t in_frame = geometry.lines_per_b_scan(), frame_bytes = in_frame * lines.line_bytes();
    flags.resize(index(block.b_scans * geometry.b_repeats * in_frame));
    lines.with_reader([&](const auto& read) {
        parallel_for(0, block.b_scans * geometry.b_repeats, [&](std::int64_t frame) {
            const std::byte* first = block.data + frame_offset(block.frames, frame, frame_bytes);
            for (std::int64_t line = 0; line < in_frame; ++line) {
                flags[index(frame * in_frame + line)] =
                    has_invalid_sample(read, first + line * lines.line_bytes(), lines.samples()) ? 1 : 0;
            }
        });
    });
    return std::accumulate(flags.begin(), flags.end(), std::int64_t{0});
}

}  // namespace echolux
