// Guesses the layout of spectra in an unknown raw file. Similar neighbouring samples reveal the sample format, similar
// neighbouring lines the line length, and similar lines of neighbouring B-scans the lines per B-scan. Between layouts
// that fit equally well, the file size and numbers in the file name decide, then little-endian unsigned samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// A possible layout of the file.
struct RawGuess {
    SampleFormat sample_format = SampleFormat::u16;
    ByteOrder byte_order = ByteOrder::little;
    std::int64_t offset_bytes = 0;
    std::int64_t frame_offset_bytes = 0;  // header before each B-scan
    std::int64_t samples = 0;             // per line
    std::int64_t a_scans = 0;             // lines per B-scan
    std::int64_t b_scans = 0;
    double likeness = 0;     // mean correlation of neighbouring lines, 0 to 1, as a measure of confidence
    double smoothness = 0;   // correlation of neighbouring samples
    double fit = 0;          // score of the line length, for comparison with other lengths
    double resemblance = 0;  // score of a_scans, for comparison with other B-scan widths
};

// Returns the indices of the main alternatives to the first guess: layouts that the data supports about as well.
std::vector<std::size_t> rivals_of_first(const std::vector<RawGuess>& guesses);

// Returns up to `max` layouts, the best first, the others by likeness. Returns none if no layout fits. Reads up to 16
// MiB of the file. Throws Error{bad_file}.
std::vector<RawGuess> guess_raw(const std::filesystem::path& path, std::size_t max = 8);

// Decodes the first `count` samples of `bytes`, which must contain that many.
std::vector<float> raw_samples(const RawFormat& format, std::span<const std::byte> bytes, std::int64_t count);

// Sets NaN and values beyond 1e15 to 0. No detector sends them, and their squares would overflow a float.
void silence_the_impossible(std::vector<float>& values);

// Layout hints in the name of a raw file: "spectra_u16le_100x100x1024.raw".
struct RawName {
    std::optional<SampleFormat> format{};
    std::optional<ByteOrder> order{};
    std::vector<std::int64_t> numbers{};  // possible sizes, in order

    // Returns false if the name states another format or byte order.
    bool allows(SampleFormat other_format, ByteOrder other_order) const;

    bool has(std::int64_t number) const;

    // Returns whether the name contains both sizes in their order: samples x A-scans x B-scans, or the reverse.
    bool has_b_scans_of(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans) const;
};

// Parses a file name. Words are separated by characters other than letters and digits, sizes also by an x.
RawName parsed_raw_name(const std::string& file_name);

// ---- similarity of rows of samples ----------------------------------------------------------------------------------

// Correlation (-1 to 1) of samples `lag` apart. With `max_lag`, lags up to it come from one Fourier transform, which is
// faster from about 50 lags on.
class Autocorrelation {
  public:
    explicit Autocorrelation(const std::vector<float>& samples, std::int64_t max_lag = 0);

    double at(std::int64_t lag) const;  // 0 if fewer than 64 pairs remain

  private:
    std::vector<float> samples_;  // normalised to mean 0 and variance 1
    std::vector<float> sums_;     // of products, for lags from 0
};

// Returns the second differences, which emphasise fringes and pixel patterns.
std::vector<float> fine_structure_of(const std::vector<float>& samples);

// Features of each line that do not depend on the phase of its fringes: power per octave of depth, after subtracting
// the mean line. [lines][features], normalised so that a mean product is a correlation.
class LineFeatures {
  public:
    // Divides `samples` from index `first` into lines of length `line`.
    LineFeatures(const std::vector<float>& samples, std::int64_t first, std::int64_t line);

    std::int64_t lines() const { return lines_; }
    double correlation(std::int64_t lag) const;  // of lines `lag` apart

    // Returns the correlation of the samples of a line with the mean line.
    double likeness_to_mean(std::int64_t line) const;

  private:
    std::int64_t lines_ = 0;
    std::int64_t features_ = 0;
    std::vector<float> values_;
    std::vector<double> to_mean_;
};

}  // namespace echolux
