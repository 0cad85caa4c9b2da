// What shape the spectra in an unknown raw file have. Neighbouring spectra are alike, which tells how long a line is;
// neighbouring B-scans are alike line by line, which tells how many lines they have; neighbouring samples are alike,
// which tells how they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

struct RawGuess {
    SampleFormat sample_format = SampleFormat::u16;
    ByteOrder byte_order = ByteOrder::little;
    std::int64_t offset_bytes = 0;
    std::int64_t frame_offset_bytes = 0;  // before each B-scan
    std::int64_t samples = 0;             // of a line
    std::int64_t a_scans = 0;             // lines of a B-scan
    std::int64_t b_scans = 0;
    double likeness = 0;  // mean correlation of neighbouring lines, 0 to 1: how sure that is
};

// Best first, the others by likeness, at most `max`; none where nothing fits. Reads a few MB. Throws Error{bad_file}.
std::vector<RawGuess> guess_raw(const std::filesystem::path& path, std::size_t max = 8);

// The first `count` samples of a line's bytes. There must be as many.
std::vector<float> raw_samples(const RawFormat& format, std::span<const std::byte> bytes, std::int64_t count);

// What no detector sends becomes 0: what is no number, and beyond 1e15, whose squares floats do not hold.
void silence_the_impossible(std::vector<float>& values);

}  // namespace echolux
