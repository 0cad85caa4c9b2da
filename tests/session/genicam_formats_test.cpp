// Camera pixel formats compared with their definitions bit by bit, and the division of blocks into images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/steps/sample.h"
#include "engine/acquire/genicam_images.h"

namespace echolux {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
    std::vector<std::byte> result;
    for (const int value : values) result.push_back(static_cast<std::byte>(value));
    return result;
}

// Returns the samples that the reconstructor reads from one line of `image`.
std::vector<int> samples(const std::string& name, std::vector<std::byte> image, std::int64_t count) {
    const PixelFormat* format = find_pixel_format(name);
    if (format == nullptr) return {};
    if (!format->is_stored_as_sent()) {
        std::vector<std::byte> unpacked(index(count) * 2);
        format->unpack(image.data(), unpacked);
        image = unpacked;
    }
    RawFormat raw;
    format->describe_to(raw);
    ScanGeometry geometry;
    geometry.samples = count;
    std::vector<int> result;
    LineFormat(raw, geometry).with_reader([&](const auto& read) {
        for (std::int64_t p = 0; p < count; ++p) result.push_back(static_cast<int>(read(image.data(), p)));
    });
    return result;
}

// Packs pixels into a bit stream, each starting with its lowest bit, as in the "...p" formats.
std::vector<std::byte> bit_stream(const std::vector<int>& pixels, int bits) {
    std::vector<bool> stream;
    for (const int pixel : pixels) {
        for (int bit = 0; bit < bits; ++bit) stream.push_back((pixel >> bit & 1) != 0);
    }
    std::vector<std::byte> result(stream.size() / 8);
    for (std::size_t i = 0; i < result.size() * 8; ++i) {
        if (stream[i]) result[i / 8] |= static_cast<std::byte>(1 << i % 8);
    }
    return result;
}

std::vector<int> ramp(int bits, int count) {
    std::vector<int> pixels;
    for (int i = 0; i < count; ++i) pixels.push_back((i * 1237 + 411) % (1 << bits));
    return pixels;
}

TEST(PixelFormats, UnpacksPlainFormats) {
    EXPECT_EQ(samples("Mono8", bytes({0x00, 0x7f, 0xff}), 3), (std::vector{0x00, 0x7f, 0xff}));
    EXPECT_EQ(samples("Mono16", bytes({0x34, 0x12, 0xff, 0xff}), 2), (std::vector{0x1234, 0xffff}));
    EXPECT_EQ(samples("Mono12", bytes({0xbc, 0x0a, 0x23, 0x01}), 2), (std::vector{0xabc, 0x123}));
    EXPECT_EQ(samples("Mono10", bytes({0xbc, 0x02, 0x23, 0x01}), 2), (std::vector{0x2bc, 0x123}));
}

TEST(PixelFormats, UnpacksKnownBytes) {
    EXPECT_EQ(samples("Mono12p", bytes({0xbc, 0x3a, 0x12}), 2), (std::vector{0xabc, 0x123}));
    EXPECT_EQ(samples("Mono12Packed", bytes({0xab, 0x3c, 0x12}), 2), (std::vector{0xabc, 0x123}));
    EXPECT_EQ(samples("Mono10Packed", bytes({0xab, 0x21, 0xff}), 2), (std::vector{0x2ad, 0x3fe}));
    // 0x2bc, 0x123, 0x3ff, 0x001 in 40 bits, lowest first.
    EXPECT_EQ(samples("Mono10p", bytes({0xbc, 0x8e, 0xf4, 0x7f, 0x00}), 4), (std::vector{0x2bc, 0x123, 0x3ff, 0x001}));
}

TEST(PixelFormats, UnpacksManyPixels) {
    EXPECT_EQ(samples("Mono12p", bit_stream(ramp(12, 256), 12), 256), ramp(12, 256));
    EXPECT_EQ(samples("Mono10p", bit_stream(ramp(10, 256), 10), 256), ramp(10, 256));
}

TEST(PixelFormats, ExcludeColour) {
    EXPECT_EQ(find_pixel_format("RGB8"), nullptr);
    EXPECT_EQ(find_pixel_format("BayerRG8"), nullptr);
    EXPECT_THAT(pixel_format_names(), HasSubstr("Mono12Packed, "));
}

ScanGeometry geometry(std::int64_t a_scans, std::int64_t b_scans) {
    ScanGeometry geometry{.samples = 64, .a_scans = a_scans, .b_scans = b_scans};
    return geometry;
}

TEST(ImagePlans, UseOneImagePerBlockIfPossible) {
    const ImagePlan plan = plan_images(geometry(100, 60), 7, {1, 4096, 1}, "camera");
    EXPECT_EQ(plan.block_b_scans, 6);  // largest even divisor of 60 up to 7
    EXPECT_EQ(plan.lines, 600);
    EXPECT_EQ(plan.images_per_block, 1);
    EXPECT_EQ(plan.blocks_per_volume, 10);
    EXPECT_EQ(plan.images_per_volume, 10);
}

TEST(ImagePlans, IncludeRepeatsAndFlyback) {
    ScanGeometry scan = geometry(100, 8);
    scan.a_repeats = 2;
    scan.b_repeats = 3;
    scan.flyback_lines = 24;
    scan.flyback_frames = 12;
    const ImagePlan plan = plan_images(scan, 4, {1, 10000, 1}, "camera");
    EXPECT_EQ(plan.block_b_scans, 4);
    EXPECT_EQ(plan.lines, 4 * 3 * 224);
    EXPECT_EQ(plan.images_per_volume, 2 + 1);
    EXPECT_EQ(place_of(1, plan).block, 1);
    EXPECT_EQ(place_of(2, plan).block, 2);  // flyback
    EXPECT_EQ(place_of(3, plan).volume, 1);
}

TEST(ImagePlans, FitBlocksToFlybackFrames) {
    ScanGeometry scan = geometry(100, 8);
    scan.flyback_frames = 2;
    EXPECT_EQ(plan_images(scan, 8, {1, 10000, 1}, "camera").block_b_scans, 2);
}

TEST(ImagePlans, SplitTallBScansIntoImages) {
    const ImagePlan plan = plan_images(geometry(3000, 4), 2, {1, 2048, 1}, "camera");
    EXPECT_EQ(plan.lines, 1500);
    EXPECT_EQ(plan.block_b_scans, 2);
    EXPECT_EQ(plan.images_per_block, 4);
    EXPECT_EQ(plan.images_per_volume, 8);
    const ImagePosition place = place_of(8 + 5, plan);
    EXPECT_EQ(place.volume, 1);
    EXPECT_EQ(place.block, 1);
    EXPECT_EQ(place.image, 1);
}

TEST(ImagePlans, FixedHeightsSetBlockSize) {
    EXPECT_EQ(plan_images(geometry(128, 16), 1, {512, 512, 1}, "camera").block_b_scans, 4);
    EXPECT_EQ(plan_images(geometry(1024, 16), 1, {512, 512, 1}, "camera").images_per_block, 2);
}

TEST(ImagePlans, FollowStepOfHeights) {
    const ImagePlan plan = plan_images(geometry(6, 8), 1, {4, 4096, 4}, "camera");
    EXPECT_EQ(plan.lines, 12);
    EXPECT_EQ(plan.block_b_scans, 2);
}

TEST(ImagePlans, ReportImpossibleImages) {
    try {
        plan_images(geometry(1009, 4), 1, {100, 512, 1}, "GenICam Spyder");  // a prime number of lines
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_setting);
        EXPECT_THAT(error.line(), HasSubstr("GenICam Spyder, scan.a_scans"));
        EXPECT_THAT(error.line(), HasSubstr("1009 lines"));
    }
}

TEST(FrameNumbers, ShortIdsSkipZero) {
    FrameNumbers numbers;
    EXPECT_EQ(numbers.number(65534), 0);
    EXPECT_EQ(numbers.number(65535), 1);
    EXPECT_EQ(numbers.number(1), 2);
    EXPECT_EQ(numbers.number(5), 6);      // three were lost
    EXPECT_EQ(numbers.number(5), 6);      // repeated
    EXPECT_EQ(numbers.number(65535), 1);  // late
    EXPECT_EQ(numbers.number(6), 7);
}

TEST(FrameNumbers, ShortIdsCountLossAcrossWrap) {
    FrameNumbers numbers;
    EXPECT_EQ(numbers.number(65530), 0);
    EXPECT_EQ(numbers.number(4), 9);
}

TEST(FrameNumbers, KeepLongIds) {
    FrameNumbers numbers;
    EXPECT_EQ(numbers.number(0), 0);
    EXPECT_EQ(numbers.number(65535), 65535);
    EXPECT_EQ(numbers.number(65536), 65536);
    EXPECT_EQ(numbers.number(65540), 65540);
}

}  // namespace
}  // namespace echolux
