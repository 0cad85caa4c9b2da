// The choice of lines that are read by whole words, tested on the host without a GPU.
#include "compute/cuda/line_pairs.h"

#include <gtest/gtest.h>

namespace echolux::cuda {
namespace {

class LineWordsOf : public testing::Test {
  protected:
    RawFormat format;
    ScanGeometry geometry{.samples = 2048};

    LineWords at(std::uintptr_t place = 0) const {
        return line_words(LineFormat(format, geometry), reinterpret_cast<const std::byte*>(place));
    }
};

TEST_F(LineWordsOf, FollowSampleFormat) {
    EXPECT_EQ(at(), LineWords::u16);
    format.sample_format = SampleFormat::packed12;
    EXPECT_EQ(at(), LineWords::packed12);
    for (const SampleFormat other : {SampleFormat::u8, SampleFormat::i16, SampleFormat::u32, SampleFormat::f32}) {
        format.sample_format = other;
        EXPECT_EQ(at(), LineWords::none);
    }
}

TEST_F(LineWordsOf, ConvertedSamplesHaveNone) {
    const auto without = [this](const auto& change) {
        const RawFormat plain = format;
        change(format);
        const LineWords words = at();
        format = plain;
        return words;
    };
    for (const SampleFormat sample : {SampleFormat::u16, SampleFormat::packed12}) {
        format.sample_format = sample;
        ASSERT_NE(at(), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.byte_order = ByteOrder::big; }), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.shift = 4; }), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.bits = 10; }), LineWords::none);
        EXPECT_EQ(without([](RawFormat& f) { f.channels = 2; }), LineWords::none);
    }
}

TEST_F(LineWordsOf, NeedAlignedLinesOfWholeWords) {
    EXPECT_EQ(at(4), LineWords::u16);
    EXPECT_EQ(at(2), LineWords::none);
    format.line_bytes = 4098;
    EXPECT_EQ(at(), LineWords::none);
    format.line_bytes = 4100;
    EXPECT_EQ(at(), LineWords::u16);
    geometry.samples = 2047;
    EXPECT_EQ(at(), LineWords::none);
    format.sample_format = SampleFormat::packed12;
    geometry.samples = 2044;
    EXPECT_EQ(at(), LineWords::none);
    geometry.samples = 2040;
    EXPECT_EQ(at(), LineWords::packed12);
}

TEST_F(LineWordsOf, NeedAlignedLines) {
    const LineFormat lines(format, geometry);
    EXPECT_TRUE(lie_at(lines, reinterpret_cast<const std::byte*>(std::uintptr_t{6}), 2));
    EXPECT_FALSE(lie_at(lines, reinterpret_cast<const std::byte*>(std::uintptr_t{6}), 4));
    EXPECT_FALSE(lie_at(lines, reinterpret_cast<const std::byte*>(std::uintptr_t{7}), 2));
}

}  // namespace
}  // namespace echolux::cuda
