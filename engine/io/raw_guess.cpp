#include "engine/io/raw_guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "compute/steps/sample.h"
#include "engine/io/raw_frames.h"
#include "engine/io/raw_likeness.h"
#include "engine/io/raw_name.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

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
    bytes.first.resize(static_cast<std::size_t>(std::min(bytes.size, max_bytes)));
    file.read(reinterpret_cast<char*>(bytes.first.data()), static_cast<std::streamsize>(bytes.first.size()));
    bytes.first.resize(static_cast<std::size_t>(file.gcount()));
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
        return negative * 200 > static_cast<std::int64_t>(reading.samples.size());
    }
    if (reading.format != SampleFormat::f32) return true;
    const auto odd = std::ranges::count_if(reading.samples, [](float value) {
        const float size = std::abs(value);
        return size != 0 && !(size > 1e-7f && size < 1e9f);
    });
    return odd * 100 < static_cast<std::int64_t>(reading.samples.size());
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
    const auto count = static_cast<std::int64_t>(bytes.first.size()) * 8 / bits / 2 * 2;
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
// which is just as smooth; with too few, low and high bytes alternate. So the smooth format with the fewest bytes is
// correct.
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
    explicit Likeness(const std::vector<float>& samples) : plain_(samples), fine_(fine_structure_of(samples)) {}

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
    std::vector<float> samples = middle_of(reading.samples);
    const Likeness whole(samples);
    samples.resize(std::min(samples.size(), part));
    const Likeness rough(samples);
    std::vector<Width> alone, framed;
    const std::int64_t bits = sample_bits(reading.format);
    const auto max = std::min(max_samples, static_cast<std::int64_t>(reading.samples.size()) / 8);
    for (std::int64_t line = min_samples; line <= max; ++line) {
        if (line * bits % 8 != 0) continue;
        const std::int64_t line_bytes = line * bits / 8;
        const std::int64_t header = bytes.size % line_bytes;
        const auto penalty = header_penalty(line, header, line_bytes);
        const bool is_named = is_named_line(bytes.name, line, bytes.size / line_bytes);
        constexpr double named_bonus = 0.1;
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
std::vector<Shape> shapes_of(const LineFeatures& features, std::int64_t lines, const RawName& name) {
    constexpr std::int64_t min_lines = 8;
    constexpr double named_bonus = 0.3;
    std::vector<Shape> shapes;
    for (std::int64_t a_scans = min_lines; a_scans <= std::min(lines, features.lines()); ++a_scans) {
        if (lines % a_scans != 0) continue;
        const double apart = std::log(static_cast<double>(a_scans) / static_cast<double>(lines / a_scans));
        const double squareness = 0.1 * std::exp(-std::abs(apart));
        const bool is_named = name.has(a_scans) && (lines == a_scans || name.has(lines / a_scans));
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
    std::vector<Shape> shapes = shapes_of(features, lines, bytes.name);
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
    std::vector<float> samples(static_cast<std::size_t>(count));
    LineFormat(format, geometry).with_reader([&](const auto& read) {
        for (std::int64_t i = 0; i < count; ++i) {
            samples[static_cast<std::size_t>(i)] = static_cast<float>(read(bytes.data(), i));
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
    if (static_cast<std::int64_t>(bytes.first.size()) < min_bytes) return guesses;
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
