// Recorded samples are converted to numbers without loss (docs/algorithms.md 2.1). If a line has one non-zero sample,
// every depth bin contains that sample divided by the number of samples; for 16 samples the division is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/indexing.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 16;

ReconstructionSpec spec_for(const RawFormat& format, std::int64_t lines) {
    ReconstructionSpec spec = plain_spec(n, lines);
    spec.format = format;
    spec.recipe.depth_end = 1;
    return spec;
}

// Returns the only non-zero sample of each line.
std::vector<float> read_samples(const RawFormat& format, std::span<const std::byte> stored, std::int64_t lines) {
    std::vector<float> values;
    for (const auto a : reconstructed<std::complex<float>>(spec_for(format, lines), stored)) {
        EXPECT_EQ(a.imag(), 0);
        values.push_back(a.real() * float{n});
    }
    return values;
}

// One line per code, with the code at sample code % n.
template <class Sample>
std::vector<Sample> line_for_each(const std::vector<Sample>& codes) {
    std::vector<Sample> lines(codes.size() * n, Sample{0});
    for (std::size_t l = 0; l < codes.size(); ++l) lines[l * n + l % n] = codes[l];
    return lines;
}

template <class Sample>
std::vector<Sample> all_codes() {
    std::vector<Sample> codes;
    for (std::int64_t code = std::numeric_limits<Sample>::min(); code <= std::numeric_limits<Sample>::max(); ++code) {
        codes.push_back(static_cast<Sample>(code));
    }
    return codes;
}

template <class Sample>
std::vector<Sample> byte_swapped(std::vector<Sample> values) {
    for (Sample& value : values) {
        auto* bytes = reinterpret_cast<unsigned char*>(&value);
        std::reverse(bytes, bytes + sizeof(Sample));
    }
    return values;
}

TEST(Convert, EveryU16CodeAndShift) {
    const auto codes = all_codes<std::uint16_t>();
    const auto lines = line_for_each(codes);
    for (std::int64_t shift = 0; shift <= 8; ++shift) {
        RawFormat format;
        format.shift = shift;
        const auto values = read_samples(format, bytes_of_lines(lines), std::ssize(codes));
        for (std::size_t i = 0; i < codes.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(codes[i] >> shift));
    }
}

TEST(Convert, EveryU16CodeMaskedAndSwapped) {
    const auto codes = all_codes<std::uint16_t>();
    const auto lines = byte_swapped(line_for_each(codes));
    RawFormat format;
    format.byte_order = ByteOrder::big;
    for (const std::int64_t bits : {0, 10, 12, 14}) {
        format.bits = bits;
        format.shift = bits == 10 ? 3 : 0;
        const unsigned mask = bits == 0 ? 0xffffu : (1u << bits) - 1;
        const auto values = read_samples(format, bytes_of_lines(lines), std::ssize(codes));
        for (std::size_t i = 0; i < codes.size(); ++i) {
            ASSERT_EQ(values[i], static_cast<float>((static_cast<unsigned>(codes[i]) >> format.shift) & mask));
        }
    }
}

TEST(Convert, EveryI16Code) {
    const auto codes = all_codes<std::int16_t>();
    RawFormat format;
    format.sample_format = SampleFormat::i16;
    const auto values = read_samples(format, bytes_of_lines(line_for_each(codes)), std::ssize(codes));
    for (std::size_t i = 0; i < codes.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(codes[i]));
}

TEST(Convert, EveryU8Code) {
    const auto codes = all_codes<std::uint8_t>();
    RawFormat format;
    format.sample_format = SampleFormat::u8;
    const auto values = read_samples(format, bytes_of_lines(line_for_each(codes)), std::ssize(codes));
    for (std::size_t i = 0; i < codes.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(codes[i]));
}

TEST(Convert, U32UpToMaximum) {
    const std::vector<std::uint32_t> codes{0, 1, 65536, 1u << 24, 0x7fffffffu, 0x80000000u, 0xffffff00u, 0xffffffffu};
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        RawFormat format{.sample_format = SampleFormat::u32, .byte_order = order};
        for (const std::int64_t shift : {0, 8, 31}) {
            format.shift = shift;
            const auto lines = order == ByteOrder::big ? byte_swapped(line_for_each(codes)) : line_for_each(codes);
            const auto values = read_samples(format, bytes_of_lines(lines), std::ssize(codes));
            for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(values[i], static_cast<float>(codes[i] >> shift));
        }
    }
}

// tests/oracle/bad_samples_test.cpp has the others.
TEST(Convert, KeepsFloats) {
    const std::vector<float> codes{1.5f, -2.25e7f, 1e-20f};
    RawFormat format;
    format.sample_format = SampleFormat::f32;
    EXPECT_EQ(read_samples(format, bytes_of_lines(line_for_each(codes)), std::ssize(codes)), codes);
}

// Bit i of the line is bit i % 8 of byte i / 8, counted from the lowest (little) or highest bit (big).
void put_packed12(std::vector<std::byte>& line, std::int64_t sample, unsigned code, ByteOrder order) {
    for (unsigned bit = 0; bit < 12; ++bit) {
        const auto place = index(12 * sample + bit);
        const bool set = (order == ByteOrder::little ? code >> bit : code >> (11 - bit)) & 1u;
        const unsigned within = order == ByteOrder::little ? place % 8 : 7 - place % 8;
        if (set) line[place / 8] |= std::byte(1u << within);
    }
}

TEST(Convert, EveryPackedCodeInBothHalves) {
    constexpr std::size_t line_size = n * 12 / 8;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
        RawFormat format{.sample_format = SampleFormat::packed12, .byte_order = order};
        for (const std::int64_t sample : {6, 7}) {
            std::vector<std::byte> lines;
            for (unsigned code = 0; code < 4096; ++code) {
                std::vector<std::byte> line(line_size);
                put_packed12(line, sample, code, order);
                lines.insert(lines.end(), line.begin(), line.end());
            }
            const auto values = read_samples(format, lines, 4096);
            for (std::size_t code = 0; code < 4096; ++code) ASSERT_EQ(values[code], static_cast<float>(code));
        }
    }
}

TEST(Convert, ChannelsAreKeptApart) {
    constexpr std::int64_t channels = 3;
    for (const ChannelLayout layout : {ChannelLayout::interleaved, ChannelLayout::planar}) {
        std::vector<std::uint16_t> line(channels * n);
        for (std::size_t c = 0; c < channels; ++c) {
            for (std::size_t p = 0; p < n; ++p) {
                const std::size_t at = layout == ChannelLayout::planar ? c * n + p : p * channels + c;
                line[at] = static_cast<std::uint16_t>(1000 * (c + 1) + p);
            }
        }
        for (std::int64_t channel = 0; channel < channels; ++channel) {
            RawFormat format{.channels = channels, .channel = channel, .channel_layout = layout};
            const float sum = 16000.0f * static_cast<float>(channel + 1) + 120;
            EXPECT_EQ(read_samples(format, bytes_of_lines(line), 1), std::vector<float>{sum});
        }
    }
}

TEST(Convert, KeepsOrderOfSamples) {
    std::vector<std::uint16_t> line(n, 0);
    line[3] = 1600;
    ReconstructionSpec spec = spec_for({}, 1);
    spec.recipe.depth_end = 8;
    const auto field = reconstructed<std::complex<float>>(spec, line);
    for (std::size_t b = 0; b < 8; ++b) {
        const auto wanted = std::polar(100.0, -2 * std::acos(-1.0) * 3 * static_cast<double>(b) / n);
        EXPECT_NEAR(std::abs(std::complex<double>(field[b]) - wanted), 0, 1e-4);
    }
}

}  // namespace
}  // namespace echolux
