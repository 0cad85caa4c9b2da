#include "engine/io/raw_guess.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"
#include "engine/io/file_name.h"
#include "engine/io/regular_file.h"

namespace echolux {

// ---- the file name --------------------------------------------------------------------------------------------------

namespace {

struct FormatWord {
    std::string_view word;
    SampleFormat format;
};
constexpr FormatWord format_words[] = {{"u8", SampleFormat::u8},       {"uint8", SampleFormat::u8},
                                       {"uchar", SampleFormat::u8},    {"u16", SampleFormat::u16},
                                       {"uint16", SampleFormat::u16},  {"ushort", SampleFormat::u16},
                                       {"i16", SampleFormat::i16},     {"s16", SampleFormat::i16},
                                       {"int16", SampleFormat::i16},   {"u32", SampleFormat::u32},
                                       {"uint32", SampleFormat::u32},  {"f32", SampleFormat::f32},
                                       {"float32", SampleFormat::f32}, {"float", SampleFormat::f32},
                                       {"single", SampleFormat::f32},  {"packed12", SampleFormat::packed12},
                                       {"12p", SampleFormat::packed12}};

struct OrderWord {
    std::string_view word;
    ByteOrder order;
};
constexpr OrderWord order_words[] = {
    {"le", ByteOrder::little}, {"little", ByteOrder::little}, {"littleendian", ByteOrder::little},
    {"be", ByteOrder::big},    {"big", ByteOrder::big},       {"bigendian", ByteOrder::big}};

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

std::optional<SampleFormat> format_in(std::string_view word) {
    const auto found = std::ranges::find(format_words, word, &FormatWord::word);
    return found == std::end(format_words) ? std::nullopt : std::optional(found->format);
}

std::optional<ByteOrder> order_in(std::string_view word) {
    const auto found = std::ranges::find(order_words, word, &OrderWord::word);
    return found == std::end(order_words) ? std::nullopt : std::optional(found->order);
}

// Parses "u16", "be", or both as "u16be".
void add_word(std::string_view word, RawName& name) {
    if (const auto format = format_in(word)) name.format = format;
    if (const auto order = order_in(word)) name.order = order;
    if (word.size() <= 2) return;
    const auto format = format_in(word.substr(0, word.size() - 2));
    const auto order = order_in(word.substr(word.size() - 2));
    if (format && order) name.format = format, name.order = order;
}

// Parses "1024", or "100x100x1024".
void add_numbers(std::string_view word, RawName& name) {
    constexpr std::int64_t max = std::int64_t{1} << 24;
    const bool are_sizes = std::ranges::all_of(word, [](char c) { return is_digit(c) || c == 'x'; });
    if (!are_sizes) return;
    for (std::size_t begin = 0; begin < word.size();) {
        const std::size_t end = std::min(word.find('x', begin), word.size());
        std::int64_t number = 0;
        const auto [at, problem] = std::from_chars(word.data() + begin, word.data() + end, number);
        if (problem == std::errc() && at == word.data() + end && number > 1 && number <= max)
            name.numbers.push_back(number);
        begin = end + 1;
    }
}

}  // namespace

bool RawName::allows(SampleFormat other_format, ByteOrder other_order) const {
    return (!format || *format == other_format) && (!order || *order == other_order);
}

bool RawName::has(std::int64_t number) const {
    return std::ranges::count(numbers, number) > 0;
}

bool RawName::has_b_scans_of(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans) const {
    const auto a = std::ranges::find(numbers, a_scans), b = std::ranges::find(numbers, b_scans);
    if (a == numbers.end() || b == numbers.end()) return false;
    if (numbers.front() == samples) return a <= b;
    return numbers.back() != samples || b <= a;
}

RawName parsed_raw_name(const std::string& file_name) {
    const std::string text = lower_case(file_name);
    RawName name;
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin;
        while (end < text.size() && is_of_word(text[end])) ++end;
        const std::string_view word = std::string_view(text).substr(begin, end - begin);
        add_word(word, name);
        add_numbers(word, name);
        begin = end + 1;
    }
    return name;
}

// ---- similarity -----------------------------------------------------------------------------------------------------

// Sixteen partial sums allow the compiler to vectorise the loop. Runs of 128 products are summed in single precision.
static double dot(const float* a, const float* b, std::size_t count) {
    constexpr std::size_t run = 128;
    std::array<double, 16> lanes{};
    const std::size_t whole = count - count % run;
    for (std::size_t begin = 0; begin < whole; begin += run) {
        std::array<float, lanes.size()> sums{};
        for (std::size_t i = begin; i < begin + run; i += sums.size()) {
            for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += a[i + lane] * b[i + lane];
        }
        for (std::size_t lane = 0; lane < sums.size(); ++lane) lanes[lane] += static_cast<double>(sums[lane]);
    }
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    for (std::size_t i = whole; i < count; ++i) sum += static_cast<double>(a[i] * b[i]);
    return sum;
}

// Scales the elements `stride` apart from `first` to mean 0 and variance 1. Constant values become 0.
static void normalise(std::vector<float>& values, std::size_t first = 0, std::size_t stride = 1) {
    double sum = 0, squares = 0, count = 0;
    for (std::size_t i = first; i < values.size(); i += stride, ++count) sum += static_cast<double>(values[i]);
    const double mean = count > 0 ? sum / count : 0;
    for (std::size_t i = first; i < values.size(); i += stride) {
        squares += std::pow(static_cast<double>(values[i]) - mean, 2);
    }
    const double scale = squares > 0 ? std::sqrt(count / squares) : 0;
    for (std::size_t i = first; i < values.size(); i += stride) {
        values[i] = static_cast<float>((static_cast<double>(values[i]) - mean) * scale);
    }
}

// Returns the sums of products of values 0, 1, ... max_lag apart: the inverse transform of the power spectrum
// (Wiener-Khinchin). Zero padding prevents wrap-around.
static std::vector<float> sums_of_products(const std::vector<float>& values, std::int64_t max_lag) {
    const auto count = std::ssize(values);
    max_lag = std::min(max_lag, count);
    const auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count + max_lag)));
    Fft forward(FftKind::real_forward, size), inverse(FftKind::real_inverse, size);
    std::fill(std::ranges::copy(values, forward.real()).out, forward.real() + size, 0.0f);
    forward.execute();
    std::transform(forward.complex_out(), forward.complex_out() + size / 2 + 1, inverse.complex_in(),
                   [](const std::complex<float>& value) { return std::complex<float>(std::norm(value)); });
    inverse.execute();
    std::vector<float> sums(inverse.real(), inverse.real() + max_lag + 1);
    for (float& sum : sums) sum /= static_cast<float>(size);
    return sums;
}

// Appends the log power of differences of neighbours, then of neighbouring pairs, and so on (a Haar transform). These
// are octaves of depth, the deepest first.
static void add_octaves(std::vector<float> line, std::vector<float>& features) {
    constexpr std::size_t min = 8;
    for (std::size_t count = line.size() / 2; count >= min; count /= 2) {
        double power = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const float a = line[2 * i], b = line[2 * i + 1];
            power += static_cast<double>((a - b) * (a - b));
            line[i] = 0.5f * (a + b);
        }
        features.push_back(static_cast<float>(std::log(power / static_cast<double>(count) + 1e-12)));
    }
}

Autocorrelation::Autocorrelation(const std::vector<float>& samples, std::int64_t max_lag) : samples_(samples) {
    normalise(samples_);
    if (max_lag > 0) sums_ = sums_of_products(samples_, max_lag);
}

double Autocorrelation::at(std::int64_t lag) const {
    constexpr std::size_t few = 64;
    const auto distance = index(lag);
    if (samples_.size() < distance + few) return 0;
    const std::size_t pairs = samples_.size() - distance;
    const double sum =
        distance < sums_.size() ? double{sums_[distance]} : dot(samples_.data(), samples_.data() + distance, pairs);
    return sum / static_cast<double>(pairs);
}

std::vector<float> fine_structure_of(const std::vector<float>& samples) {
    std::vector<float> edges;
    for (std::size_t i = 2; i < samples.size(); ++i) {
        edges.push_back(samples[i - 1] - 0.5f * (samples[i] + samples[i - 2]));
    }
    return edges;
}

LineFeatures::LineFeatures(const std::vector<float>& samples, std::int64_t first, std::int64_t line)
    : lines_((std::ssize(samples) - first) / line) {
    const auto length = index(line);
    const auto line_at = [&](std::int64_t index) {
        return std::span(samples).subspan(static_cast<std::size_t>(first + index * line), length);
    };
    std::vector<double> sums(length);
    for (std::int64_t l = 0; l < lines_; ++l) {
        for (std::size_t i = 0; i < length; ++i) sums[i] += static_cast<double>(line_at(l)[i]);
    }
    std::vector<float> mean(length);
    for (std::size_t i = 0; i < length; ++i) mean[i] = static_cast<float>(sums[i] / static_cast<double>(lines_));
    std::vector<float> normal_mean = mean;
    normalise(normal_mean);
    for (std::int64_t l = 0; l < lines_; ++l) {
        std::vector<float> one(line_at(l).begin(), line_at(l).end());
        std::vector<float> normal = one;
        normalise(normal);
        to_mean_.push_back(dot(normal.data(), normal_mean.data(), length) / static_cast<double>(length));
        for (std::size_t i = 0; i < length; ++i) one[i] -= mean[i];
        add_octaves(std::move(one), values_);
    }
    features_ = lines_ > 0 ? std::ssize(values_) / lines_ : 0;
    for (std::int64_t f = 0; f < features_; ++f) {
        normalise(values_, index(f), index(features_));
    }
}

double LineFeatures::correlation(std::int64_t lag) const {
    const auto distance = index(lag * features_);
    if (lag >= lines_ || values_.empty()) return 0;
    const std::size_t pairs = values_.size() - distance;
    return dot(values_.data(), values_.data() + distance, pairs) / static_cast<double>(pairs);
}

double LineFeatures::likeness_to_mean(std::int64_t line) const {
    return to_mean_.at(index(line));
}

// ---- headers of B-scans ---------------------------------------------------------------------------------------------
// Few divisions of the file size give equal frames that consist of a short header and whole lines. In the correct one,
// the lines of all frames are aligned.

namespace {

// Layout of a file with headers before each B-scan.
struct RawFrames {
    std::int64_t offset_bytes = 0;  // before the first frame
    std::int64_t header_bytes = 0;  // per frame
    std::int64_t lines = 0;         // per frame
    std::int64_t frames = 0;
};

// Divisions of a file size into equal frames.
class FrameSizes {
  public:
    explicit FrameSizes(std::int64_t file_bytes);

    // Returns the divisions with whole lines of this size and a header of a typical length.
    std::vector<RawFrames> with_lines_of(std::int64_t line_bytes) const;

  private:
    struct Division {
        std::int64_t offset_bytes, frame_bytes, frames;
    };
    std::vector<Division> divisions_;
};

// Smaller B-scans and files are not searched for headers.
constexpr std::int64_t min_frame_lines = 8, min_frames = 2;
constexpr std::array<std::int64_t, 9> usual_offsets{0, 32, 64, 128, 256, 512, 1024, 2048, 4096};

// Headers of 8 to 4096 bytes: a power of two, or a multiple of 4 up to 512.
bool is_usual(std::int64_t header_bytes) {
    constexpr std::int64_t longest = 4096;
    const bool is_power = (header_bytes & (header_bytes - 1)) == 0;
    return header_bytes >= 8 && header_bytes <= longest && (is_power || (header_bytes <= 512 && header_bytes % 4 == 0));
}

// Returns the mean of four lines from sample `first`; empty if they exceed the samples.
std::vector<double> mean_lines(const std::vector<float>& samples, std::int64_t first, std::int64_t line) {
    constexpr std::int64_t lines = 4;
    if (first < 0 || first + lines * line > std::ssize(samples)) return {};
    std::vector<double> mean(index(line));
    for (std::int64_t i = 0; i < lines * line; ++i) {
        mean[index(i % line)] += static_cast<double>(samples[index(first + i)]);
    }
    return mean;
}

// Returns Pearson's correlation; 0 if one of the vectors is constant.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto n = static_cast<double>(a.size());
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ma += a[i] / n;
        mb += b[i] / n;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Headers are largely identical in all frames, parts of lines are not.
bool repeats_headers(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                     const RawFrames& frames) {
    const std::int64_t header = frames.header_bytes / sample_bytes, frame = header + frames.lines * line;
    const auto first = samples.begin() + frames.offset_bytes / sample_bytes;
    std::int64_t equal = 0, all = 0;
    for (std::int64_t f = 1; f < frames.frames && (samples.end() - first) >= f * frame + header; ++f) {
        for (std::int64_t i = 0; i < header; ++i) equal += first[i] == first[f * frame + i];
        all += header;
    }
    return 2 * equal > all;
}

// Returns the mean correlation of lines at several positions of many frames with the first line of the file.
double alignment(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                 const RawFrames& frames) {
    // Several positions: a header of half a line, twice, is a whole line and would be missed.
    constexpr std::int64_t max_frames = 48, places = 8;
    const std::int64_t frame = (frames.header_bytes / sample_bytes) + frames.lines * line;
    const std::int64_t start = (frames.offset_bytes + frames.header_bytes) / sample_bytes;
    const std::vector<double> reference = mean_lines(samples, start, line);
    if (reference.empty()) return 0;
    const std::int64_t whole = std::min(frames.frames, (std::ssize(samples) - start) / frame);
    double sum = 0, count = 0;
    // Odd, because every second frame would miss headers of half a line.
    const std::int64_t step = whole / max_frames | 1;
    for (std::int64_t f = 0; f < whole; f += step) {
        for (std::int64_t place = 0; place <= places; ++place) {
            const std::int64_t l = place * (frames.lines - 4) / places;
            const std::vector<double> there = mean_lines(samples, start + f * frame + l * line, line);
            if (there.empty()) continue;
            sum += correlation(reference, there);
            ++count;
        }
    }
    return count > places * min_frames ? sum / count : 0;
}

FrameSizes::FrameSizes(std::int64_t file_bytes) {
    constexpr std::int64_t max_frames = 100'000;
    for (const std::int64_t offset : usual_offsets) {
        const std::int64_t rest = file_bytes - offset;
        for (std::int64_t frames = min_frames; frames <= std::min(max_frames, rest / 1024); ++frames) {
            if (rest % frames == 0) divisions_.push_back({offset, rest / frames, frames});
        }
    }
}

std::vector<RawFrames> FrameSizes::with_lines_of(std::int64_t line_bytes) const {
    std::vector<RawFrames> found;
    for (const Division& division : divisions_) {
        const std::int64_t lines = division.frame_bytes / line_bytes, header = division.frame_bytes % line_bytes;
        if (lines >= min_frame_lines && is_usual(header)) {
            found.push_back({division.offset_bytes, header, lines, division.frames});
        }
    }
    return found;
}

// Finds the division with repeated headers that has the best alignment. `samples` are those at the beginning of the
// file, `sample_bytes` bytes each; `line` is the length of a line in samples. Returns std::nullopt if lines are aligned
// equally well without headers, starting at `plain_offset_bytes`.
std::optional<RawFrames> frames_in(const std::vector<float>& samples, std::int64_t sample_bytes, std::int64_t line,
                                   std::int64_t plain_offset_bytes, const FrameSizes& sizes) {
    constexpr double better = 0.01;
    std::optional<RawFrames> best;
    double best_alignment = 0;
    for (const RawFrames& frames : sizes.with_lines_of(line * sample_bytes)) {
        if (frames.header_bytes % sample_bytes != 0 || frames.offset_bytes % sample_bytes != 0) continue;
        if (!repeats_headers(samples, sample_bytes, line, frames)) continue;
        const double aligned = alignment(samples, sample_bytes, line, frames);
        if (best && aligned <= best_alignment) continue;
        best = frames;
        best_alignment = aligned;
    }
    if (!best) return std::nullopt;
    const RawFrames plain{plain_offset_bytes, 0, best->lines, best->frames};
    if (best_alignment < alignment(samples, sample_bytes, line, plain) + better) return std::nullopt;
    return best;
}

// ---- the layout -----------------------------------------------------------------------------------------------------

constexpr std::int64_t max_bytes = 16 << 20;  // read from the beginning of the file
constexpr std::int64_t min_bytes = 16 << 10;
constexpr std::int64_t min_samples = 128, max_samples = 16384;  // per line
constexpr double min_likeness = 0.2;                            // below this, lines are unrelated
constexpr std::int64_t longest_header = 1 << 16;                // bytes

struct Bytes {
    std::int64_t size = 0;  // of the file
    std::vector<std::byte> first{};
    RawName name{};
};

Bytes read_first(const std::filesystem::path& path) {
    std::error_code problem;
    const auto size = std::filesystem::file_size(path, problem);
    std::ifstream file = regular_stream(path);
    if (problem || !file)
        throw Error(ErrorCode::bad_file, "cannot be read", path.string(), "check name and permissions");
    Bytes bytes{static_cast<std::int64_t>(size)};
    bytes.first.resize(index(std::min(bytes.size, max_bytes)));
    file.read(reinterpret_cast<char*>(bytes.first.data()), static_cast<std::streamsize>(bytes.first.size()));
    bytes.first.resize(index(file.gcount()));
    bytes.name = parsed_raw_name(path.filename().string());
    return bytes;
}

// One interpretation of the bytes: the samples and their smoothness.
struct Reading {
    SampleFormat format;
    ByteOrder order = ByteOrder::little;
    std::vector<float> samples{};
    double smoothness = 0;  // correlation of neighbouring samples
    double spread = 0;      // standard deviation
};

// A candidate for the length of a line.
struct Width {
    std::int64_t samples = 0;
    std::int64_t header_bytes = 0;  // before the first line, modulo whole lines
    double likeness = 0;            // correlation of neighbouring lines
    double fine = 0;                // correlation of their high-frequency parts
    double penalty = 0;
    bool is_named = false;  // its line length is in the file name

    double score() const { return likeness + std::max(0.0, fine) - penalty; }
};

// Rejects unlikely formats. 32-bit integers read as floats have implausible magnitudes. Signed 16-bit samples with
// almost no negative value are unsigned; the few negative ones are headers.
bool is_plausible(const Reading& reading) {
    if (reading.format == SampleFormat::i16) {
        const auto negative = std::ranges::count_if(reading.samples, [](float value) { return value < 0; });
        return negative * 200 > std::ssize(reading.samples);
    }
    if (reading.format != SampleFormat::f32) return true;
    const auto odd = std::ranges::count_if(reading.samples, [](float value) {
        const float size = std::abs(value);
        return size != 0 && !(size > 1e-7f && size < 1e9f);
    });
    return odd * 100 < std::ssize(reading.samples);
}

double spread_of(const std::vector<float>& samples) {
    double sum = 0, squares = 0;
    for (const float sample : samples) {
        sum += static_cast<double>(sample);
        squares += static_cast<double>(sample) * static_cast<double>(sample);
    }
    const double count = static_cast<double>(samples.size()), mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean));
}

Reading reading_of(const Bytes& bytes, SampleFormat format, ByteOrder order) {
    const std::int64_t bits = sample_bits(format);
    const auto count = std::ssize(bytes.first) * 8 / bits / 2 * 2;
    RawFormat raw;
    raw.sample_format = format;
    raw.byte_order = order;
    Reading reading{format, order, raw_samples(raw, bytes.first, count)};
    const bool may_be_right = is_plausible(reading);
    silence_the_impossible(reading.samples);
    reading.smoothness = may_be_right ? Autocorrelation(reading.samples).at(1) : -1;
    reading.spread = spread_of(reading.samples);
    return reading;
}

bool are_all_high_bytes(const Reading& reading) {
    return std::ranges::all_of(reading.samples, [](float sample) { return std::fmod(sample, 256.0f) == 0; });
}

// Sort key of a reading, best first: not smooth, not named, bits, no tie, unusual, -smoothness.
using Rank = std::array<double, 6>;

constexpr double tie = 0.05;  // maximum difference in smoothness between readings that tie

Rank rank_of(const Reading& reading, const std::vector<Reading>& all, const Bytes& bytes) {
    const double best = std::ranges::max(all, {}, &Reading::smoothness).smoothness;
    const bool is_smooth = reading.smoothness > 0.7 * best;
    if (!is_smooth) return {1, -reading.smoothness};
    const auto bits = sample_bits(reading.format);
    double best_of_bits = -1;
    for (const Reading& other : all) {
        if (sample_bits(other.format) == bits) best_of_bits = std::max(best_of_bits, other.smoothness);
    }
    const bool ties = reading.smoothness > best_of_bits - tie;
    double smallest_spread = reading.spread;
    for (const Reading& other : all) {
        const bool other_ties = sample_bits(other.format) == bits && other.smoothness > best_of_bits - tie;
        if (other_ties) smallest_spread = std::min(smallest_spread, other.spread);
    }
    // Swapped bytes and a wrong sign spread similar values over the whole range.
    const bool is_wide = bits == 16 && reading.spread > 2 * smallest_spread && !are_all_high_bytes(reading);
    const bool is_signed = reading.format == SampleFormat::i16;
    const bool is_named = bytes.name.allows(reading.format, reading.order) && (bytes.name.format || bytes.name.order);
    const double unusual = ties ? 4 * is_wide + 2 * (reading.order == ByteOrder::big) + is_signed : 0;
    return {0, is_named ? 0.0 : 1.0, static_cast<double>(bits), ties ? 0.0 : 1.0, unusual, -reading.smoothness};
}

// Sorts the interpretations and returns the best two. With too many bytes per sample, only every second sample is read,
// which is just as smooth; with too few, low and high bytes alternate. The smooth format with the fewest bytes is
// therefore correct.
std::vector<Reading> readings_of(const Bytes& bytes) {
    std::vector<Reading> readings;
    for (const SampleFormat format : {SampleFormat::u8, SampleFormat::packed12, SampleFormat::u16, SampleFormat::i16,
                                      SampleFormat::f32, SampleFormat::u32}) {
        readings.push_back(reading_of(bytes, format, ByteOrder::little));
        const bool has_order = sample_bits(format) >= 16;
        if (has_order) readings.push_back(reading_of(bytes, format, ByteOrder::big));
    }
    const bool may_be_real = std::ranges::any_of(
        readings, [](const Reading& reading) { return reading.format == SampleFormat::f32 && reading.smoothness > 0; });
    if (may_be_real) {  // floats read as integers are just as smooth
        std::erase_if(readings, [](const Reading& reading) { return reading.format == SampleFormat::u32; });
    }
    std::vector<std::pair<Rank, std::size_t>> order;
    for (std::size_t i = 0; i < readings.size(); ++i) order.emplace_back(rank_of(readings[i], readings, bytes), i);
    std::ranges::sort(order);
    std::vector<Reading> best;
    for (std::size_t i = 0; i < 2; ++i) best.push_back(std::move(readings[order[i].second]));
    return best;
}

// Returns up to 2^20 samples from the middle, beyond a possible header.
std::vector<float> middle_of(const std::vector<float>& samples) {
    constexpr std::size_t enough = 1 << 20;
    const std::size_t first = std::min<std::size_t>(longest_header / 2, samples.size() / 8);
    const std::size_t count = std::min(enough, samples.size() - first);
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>((first + samples.size() - count) / 2);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// Headers are usually powers of two long. `left_over` is the part of the header beyond whole lines.
bool is_usual_header(std::int64_t left_over, std::int64_t line_bytes) {
    for (std::int64_t header = 32; header <= longest_header; header *= 2) {
        if (header % line_bytes == left_over) return true;
    }
    return false;
}

// Returns the penalty for an unknown header of `left_over` bytes plus whole lines. Returns std::nullopt if such a
// header is implausible, unless each B-scan has one.
std::optional<double> header_penalty(std::int64_t samples, std::int64_t left_over, std::int64_t line_bytes) {
    if (left_over == 0) return 0;
    if (is_usual_header(left_over, line_bytes)) return 0.005;
    if (samples % 64 == 0) return 0.02;
    return {};
}

// Measures how similar each line is to the next.
class Likeness {
  public:
    Likeness(const std::vector<float>& samples, std::int64_t max_line)
        : plain_(samples, max_line), fine_(fine_structure_of(samples), max_line) {}

    Width of(std::int64_t line, std::int64_t header, double penalty) const {
        return {line, header, plain_.at(line), fine_.at(line), penalty};
    }

  private:
    Autocorrelation plain_, fine_;
};

// Multiples of the width correlate almost as well, sometimes better by chance. Prefers the shortest divisor that is
// about as good.
Width shortest_like(const std::vector<Width>& widths, const Width& best) {
    if (best.is_named) return best;
    const auto is_as_good = [&](const Width& width) {
        return best.samples % width.samples == 0 && 1 - width.likeness <= 1.3 * (1 - best.likeness) + 1e-3 &&
               width.fine >= 0.8 * best.fine;
    };
    const auto found = std::ranges::find_if(widths, is_as_good);
    return found == widths.end() ? best : *found;
}

// Returns up to three widths, none a multiple of another.
std::vector<Width> best_widths(std::vector<Width> widths) {
    std::vector<Width> best;
    while (!widths.empty() && best.size() < 3) {
        best.push_back(shortest_like(widths, std::ranges::max(widths, {}, &Width::score)));
        const std::int64_t known = best.back().samples;
        std::erase_if(widths, [&](const Width& width) { return width.samples % known == 0; });
    }
    return best;
}

// Returns true if the name contains the line length and a number that divides the number of lines.
bool is_named_line(const RawName& name, std::int64_t samples, std::int64_t lines) {
    const auto divides = [&](std::int64_t number) { return number <= lines && lines % number == 0; };
    return std::ranges::count(name.numbers, samples) > 0 &&
           std::ranges::count_if(name.numbers, divides) > (divides(samples) ? 1 : 0);
}

// Candidates for plain lines and for lines in B-scans with headers. The latter fit many widths, which are therefore
// first ranked on a part of the samples.
struct Candidates {
    std::vector<Width> alone, framed;
};

// Evaluates all line lengths. Lengths that fit the file size are candidates for plain lines, all others for frames with
// headers.
Candidates candidates_of(const Bytes& bytes, const Reading& reading) {
    constexpr std::size_t part = 1 << 16;
    constexpr std::int64_t longest_framed = 8192;
    const auto max = std::min(max_samples, std::ssize(reading.samples) / 8);
    std::vector<float> samples = middle_of(reading.samples);
    const Likeness whole(samples, max);
    samples.resize(std::min(samples.size(), part));
    const Likeness rough(samples, std::min(max, longest_framed));
    std::vector<Width> alone, framed;
    const std::int64_t bits = sample_bits(reading.format);
    for (std::int64_t line = min_samples; line <= max; ++line) {
        if (line * bits % 8 != 0) continue;
        const std::int64_t line_bytes = line * bits / 8;
        const std::int64_t header = bytes.size % line_bytes;
        const auto penalty = header_penalty(line, header, line_bytes);
        const bool is_named = is_named_line(bytes.name, line, bytes.size / line_bytes);
        constexpr double named_bonus = 0.1;  // if the file name contains the length of the line
        if (penalty && header <= longest_header) {
            alone.push_back(whole.of(line, header, *penalty - (is_named ? named_bonus : 0)));
            alone.back().is_named = is_named;
        }
        if (!(penalty && header <= longest_header) && line <= longest_framed)
            framed.push_back(rough.of(line, header, 0));
    }
    Candidates best{best_widths(std::move(alone)), best_widths(std::move(framed))};
    for (Width& width : best.framed) width = whole.of(width.samples, width.header_bytes, 0);
    return best;
}

// Counts lines at the beginning that differ from all others; they belong to the header.
std::int64_t whole_header_lines(const LineFeatures& features) {
    const std::int64_t max = std::min<std::int64_t>(features.lines() / 4, 32);
    std::int64_t lines = 0;
    const double usual = features.likeness_to_mean(features.lines() / 2);
    while (lines < max && features.likeness_to_mean(lines) < 0.5 * usual) ++lines;
    return lines;
}

// A candidate for the lines per B-scan.
struct Shape {
    std::int64_t a_scans;
    double score;
};

// Lines one B-scan apart are similar. Without such a pattern, square B-scans are preferred.
std::vector<Shape> shapes_of(const LineFeatures& features, std::int64_t samples, std::int64_t lines,
                             const RawName& name) {
    constexpr std::int64_t min_lines = 8;
    constexpr double named_bonus = 0.3;  // if the file name contains the size of the B-scan
    std::vector<Shape> shapes;
    for (std::int64_t a_scans = min_lines; a_scans <= std::min(lines, features.lines()); ++a_scans) {
        if (lines % a_scans != 0) continue;
        const double apart = std::log(static_cast<double>(a_scans) / static_cast<double>(lines / a_scans));
        const double squareness = 0.1 * std::exp(-std::abs(apart));
        const bool is_named =
            lines == a_scans ? name.has(a_scans) : name.has_b_scans_of(samples, a_scans, lines / a_scans);
        shapes.push_back({a_scans, features.correlation(a_scans) + squareness + (is_named ? named_bonus : 0)});
    }
    if (shapes.empty()) return {{lines, 0}};
    std::ranges::stable_sort(shapes, std::greater{}, &Shape::score);
    const Shape best = shapes.front();  // lines two B-scans apart are almost as similar
    const auto is_as_good = [&](const Shape& shape) {
        return best.a_scans % shape.a_scans == 0 && shape.score >= best.score - 0.1 * std::abs(best.score);
    };
    std::vector<Shape> as_good;
    std::ranges::copy_if(shapes, std::back_inserter(as_good), is_as_good);
    const std::int64_t shortest = std::ranges::min(as_good, {}, &Shape::a_scans).a_scans;
    std::ranges::stable_partition(shapes, [&](const Shape& shape) { return shape.a_scans == shortest; });
    return shapes;
}

// Returns a guess with headers before each B-scan, if there are such headers.
std::optional<RawGuess> framed_guess(const Reading& reading, const Width& width, const FrameSizes& sizes) {
    const std::int64_t bits = sample_bits(reading.format);
    if (bits % 8 != 0) return {};
    const auto frames = frames_in(reading.samples, bits / 8, width.samples, width.header_bytes, sizes);
    if (!frames) return {};
    return RawGuess{reading.format,
                    reading.order,
                    frames->offset_bytes,
                    frames->header_bytes,
                    width.samples,
                    frames->lines,
                    frames->frames,
                    std::clamp(width.likeness, 0.0, 1.0),
                    reading.smoothness,
                    width.score(),
                    0};
}

void add_guesses(const Bytes& bytes, const Reading& reading, const Width& width, const FrameSizes& sizes,
                 std::vector<RawGuess>& guesses) {
    constexpr std::size_t max_shapes = 3;
    const std::int64_t bits = sample_bits(reading.format);
    const double likeness = std::clamp(width.likeness, 0.0, 1.0);
    if (const auto framed = framed_guess(reading, width, sizes)) return guesses.push_back(*framed);
    const std::int64_t line_bytes = width.samples * bits / 8;
    const std::int64_t header_samples = width.header_bytes * 8 / bits;
    const std::int64_t header_lines = whole_header_lines(LineFeatures(reading.samples, header_samples, width.samples));
    const LineFeatures features(reading.samples, header_samples + header_lines * width.samples, width.samples);
    const std::int64_t lines = bytes.size / line_bytes - header_lines;
    std::vector<Shape> shapes = shapes_of(features, width.samples, lines, bytes.name);
    if (shapes.size() > max_shapes) shapes.resize(max_shapes);
    for (const Shape& shape : shapes) {
        guesses.push_back({reading.format, reading.order, width.header_bytes + header_lines * line_bytes, 0,
                           width.samples, shape.a_scans, lines / shape.a_scans, likeness, reading.smoothness,
                           width.score(), shape.score});
    }
}

}  // namespace

std::vector<float> raw_samples(const RawFormat& format, std::span<const std::byte> bytes, std::int64_t count) {
    ScanGeometry geometry;
    geometry.samples = count;
    std::vector<float> samples(index(count));
    LineFormat(format, geometry).with_reader([&](const auto& read) {
        for (std::int64_t i = 0; i < count; ++i) {
            samples[index(i)] = static_cast<float>(read(bytes.data(), i));
        }
    });
    return samples;
}

void silence_the_impossible(std::vector<float>& values) {
    std::ranges::replace_if(
        values, [](float value) { return !(std::abs(value) <= 1e15f); }, 0.0f);
}

// Tries the two best sample formats. Layouts with frame headers must be clearly better than plain ones.
std::vector<RawGuess> guess_raw(const std::filesystem::path& path, std::size_t max) {
    const Bytes bytes = read_first(path);
    std::vector<RawGuess> guesses;
    if (std::ssize(bytes.first) < min_bytes) return guesses;
    const FrameSizes sizes(bytes.size);
    std::vector<std::size_t> firsts;  // of each reading
    for (const Reading& reading : readings_of(bytes)) {
        const std::size_t before = guesses.size();
        const Candidates best = candidates_of(bytes, reading);
        for (const Width& width : best.framed) {
            constexpr double clearly = 0.05;
            const bool is_better = best.alone.empty() || width.score() > best.alone.front().score() + clearly;
            if (width.likeness <= min_likeness || !is_better) continue;
            if (const auto framed = framed_guess(reading, width, sizes)) guesses.push_back(*framed);
        }
        for (const Width& width : best.alone) {
            if (width.likeness > min_likeness) add_guesses(bytes, reading, width, sizes, guesses);
        }
        if (guesses.size() > before) firsts.push_back(before);
    }
    // The best of the second reading is always among the first.
    if (firsts.size() > 1) std::swap(guesses.at(1), guesses.at(firsts[1]));
    if (guesses.size() > max) guesses.resize(max);
    if (!guesses.empty())
        std::ranges::stable_sort(guesses.begin() + 1, guesses.end(), std::greater{}, &RawGuess::likeness);
    return guesses;
}

std::vector<std::size_t> rivals_of_first(const std::vector<RawGuess>& guesses) {
    constexpr double near_fit = 0.05, near_resemblance = 0.05;
    std::vector<std::size_t> rivals;
    for (std::size_t i = 1; i < guesses.size(); ++i) {
        const RawGuess &best = guesses.front(), &other = guesses[i];
        const auto divide = [](std::int64_t a, std::int64_t b) { return a % b == 0 || b % a == 0; };
        const bool same_samples = best.sample_format == other.sample_format && best.byte_order == other.byte_order;
        const bool same_line = same_samples && best.samples == other.samples;
        const bool is_rival = !same_samples
                                  ? sample_bits(best.sample_format) == sample_bits(other.sample_format) &&
                                        best.samples == other.samples && other.smoothness > best.smoothness - tie
                              : !same_line ? !divide(best.samples, other.samples) && other.fit > best.fit - near_fit
                                           : best.frame_offset_bytes == 0 && other.frame_offset_bytes == 0 &&
                                                 !divide(best.a_scans, other.a_scans) &&
                                                 other.resemblance > best.resemblance - near_resemblance;
        if (is_rival) rivals.push_back(i);
    }
    return rivals;
}

}  // namespace echolux
