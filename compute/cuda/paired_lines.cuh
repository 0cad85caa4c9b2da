// Arguments of kernels that process lines in pairs.
#pragma once

#include "compute/cuda/line_pairs.h"
#include "compute/cuda/spectrum_pair.cuh"

namespace echolux::cuda {

// Raw lines, their format, pairing and background.
struct PairedLines {
    LineFormat format;
    const std::byte* raw = nullptr;
    LinePairs pairs;
    DeviceBackground background;

    PairedLines() = default;
    PairedLines(const LineFormat& lines_format, const RawLines& lines)
        : format(lines_format), raw(lines.raw), pairs(lines.count, lines.background), background(lines.background) {}

    __device__ LinePair spectra(LinePairs::Pair pair, int t, int threads) const {
        const std::int64_t row = background.row(pair.a), line_bytes = format.line_bytes();
        return {format,
                {raw + pair.a * line_bytes, raw + pair.b * line_bytes},
                background.whole + row,
                background.rest + row,
                static_cast<int>(format.samples()),
                t,
                threads};
    }
};

}  // namespace echolux::cuda
