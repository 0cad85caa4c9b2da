// The GenICam source with Aravis' fake GigE Vision camera over the network of this machine: setup, streaming,
// starvation, lost packets, disconnection, and packed pixels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/steps/sample.h"
#include "engine/acquire/source.h"
#include "fake_gige_camera.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

SourceRequest wanted(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans, std::int64_t block,
                     double images_per_s) {
    SourceRequest result;
    result.name = std::string("genicam:") + camera_id;
    result.assignments = {"scan.samples=" + std::to_string(samples), "scan.a_scans=" + std::to_string(a_scans),
                          "scan.b_scans=" + std::to_string(b_scans)};
    result.settings.block_b_scans = block;
    result.settings.line_rate_hz = images_per_s * static_cast<double>(a_scans * block);
    return result;
}

Block next_block(Source& source) {
    for (int i = 0; i < 500; ++i) {
        Arrival arrival = source.next(20ms);
        if (arrival.kind == Arrival::Kind::block) return arrival.block;
    }
    throw std::runtime_error("no block came");
}

std::vector<int> samples(const Source& source, const Block& block) {
    const std::int64_t count = block.bytes * 8 / sample_bits(source.scan().format.sample_format);
    ScanGeometry flat;
    flat.samples = count;
    std::vector<int> result;
    LineFormat(source.scan().format, flat).with_reader([&](const auto& read) {
        for (std::int64_t p = 0; p < count; ++p) result.push_back(static_cast<int>(read(block.data, p)));
    });
    return result;
}

// Returns the number of the block's first image if the whole block, in images of `image_pixels`, is as sent, otherwise
// -1. Numbers count modulo 4096, and pixel values repeat after 4096 / 29 images, which is enough for these tests.
std::int64_t image_in(const Source& source, const Block& block, std::int64_t image_pixels, int mask = 4095) {
    const std::vector<int> found = samples(source, block);
    for (std::uint64_t image = 0; image < 4096; ++image) {
        bool is_it = true;
        for (std::size_t i = 0; i < found.size() && is_it; ++i) {
            const auto index = static_cast<std::int64_t>(i);
            const auto number = image + static_cast<std::uint64_t>(index / image_pixels);
            is_it = found[i] == (pixel(number, index % image_pixels) & mask);
        }
        if (is_it) return static_cast<std::int64_t>(image);
    }
    return -1;
}

std::string refusal(const SourceRequest& wanted) {
    try {
        open_genicam(wanted);
    } catch (const Error& error) {
        return error.line();
    }
    return "accepted";
}

class GenicamCameraTest : public testing::Test {
  protected:
    void SetUp() override {
        connect(nullptr);
        if (!camera_->is_running()) GTEST_SKIP() << "no GigE Vision camera can be imitated here: is port 3956 taken?";
    }

    void connect(const char* genicam) {
        camera_.reset();
        camera_ = std::make_unique<FakeCamera>(genicam);
    }

    OneAtATime turn_;
    std::unique_ptr<FakeCamera> camera_;
};

TEST_F(GenicamCameraTest, IsListed) {
    EXPECT_THAT(genicam_cameras(), Contains(HasSubstr(std::string("genicam:") + camera_id)));
}

TEST_F(GenicamCameraTest, AppliesRequestedSettings) {
    SourceRequest want = wanted(320, 20, 8, 4, 50);
    want.settings.exposure_us = 1234;
    const auto source = open_genicam(want);
    EXPECT_EQ(source->name(), "GenICam Fake");
    EXPECT_EQ(camera_->at(ARV_FAKE_CAMERA_REGISTER_WIDTH), 320U);
    EXPECT_EQ(camera_->at(ARV_FAKE_CAMERA_REGISTER_HEIGHT), 80U);
    EXPECT_EQ(camera_->at(ARV_FAKE_CAMERA_REGISTER_ACQUISITION_FRAME_PERIOD_US), 20000U);
    EXPECT_EQ(camera_->at(ARV_FAKE_CAMERA_REGISTER_EXPOSURE_TIME_US), 1234U);
    EXPECT_NEAR(source->scan().geometry.line_rate_hz, 4000, 1e-6);
    EXPECT_EQ(source->scan().format.sample_format, SampleFormat::u8);
    EXPECT_EQ(source->block_b_scans(), 4);
    EXPECT_TRUE(source->capabilities().sets_line_rate);
    EXPECT_TRUE(source->capabilities().sets_exposure);
    EXPECT_TRUE(source->capabilities().sets_samples);
    EXPECT_FALSE(source->capabilities().plays_patterns);
}

TEST_F(GenicamCameraTest, KeepsCameraWidthByDefault) {
    SourceRequest want = wanted(1, 20, 8, 4, 50);
    want.assignments.erase(want.assignments.begin());
    const auto source = open_genicam(want);
    EXPECT_EQ(source->scan().geometry.samples, camera_->at(ARV_FAKE_CAMERA_REGISTER_WIDTH));
}

TEST_F(GenicamCameraTest, FeaturesAreSetByName) {
    SourceRequest want = wanted(64, 20, 8, 4, 50);
    want.name += ",GainRaw=7 TriggerMode=Off";
    open_genicam(want);
    EXPECT_EQ(camera_->at(ARV_FAKE_CAMERA_REGISTER_GAIN_RAW), 7U);
    want.name += " NoSuchFeature=1";
    EXPECT_THAT(refusal(want), HasSubstr("NoSuchFeature"));
}

// A busy machine may lose images. The pattern encodes the image number, so it shows whether the loss is reported
// correctly.
TEST_F(GenicamCameraTest, ImagesAreBlocksInOrder) {
    SourceRequest want = wanted(64, 10, 6, 2, 200);
    want.settings.pool_blocks = 200;
    const auto source = open_genicam(want);
    for (int start = 0; start < 2; ++start) {
        source->start();
        std::int64_t first = 0;
        std::int64_t lost = 0;
        double time_s = -1;
        for (std::int64_t i = 0; i < 100; ++i) {
            const Block block = next_block(*source);
            const std::int64_t image = image_in(*source, block, 64 * 20, 255);
            ASSERT_GE(image, 0);
            if (i == 0) first = image;
            lost += block.lost_before;
            EXPECT_EQ((image - first + 256) % 256, (i + lost) % 256);  // the pattern has eight bits
            EXPECT_EQ(block.volume, (i + lost) / 3);
            EXPECT_EQ(block.first_b_scan, (i + lost) % 3 * 2);
            EXPECT_EQ(block.b_scans, 2);
            EXPECT_EQ(block.bytes, 64 * 20);
            EXPECT_EQ(block.sequence, static_cast<std::uint64_t>(i));
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 4096, 0U);
            EXPECT_GT(block.time_s, time_s);
            time_s = block.time_s;
        }
        EXPECT_LT(lost, 100);
        source->stop();
    }
}

TEST_F(GenicamCameraTest, KeepsHeldBlocksAndReportsLoss) {
    SourceRequest want = wanted(64, 10, 6, 2, 500);
    want.settings.pool_blocks = 3;
    const auto source = open_genicam(want);
    source->start();
    std::vector<Block> held;
    std::vector<std::vector<int>> before;
    for (int i = 0; i < 3; ++i) {
        held.push_back(next_block(*source));
        before.push_back(samples(*source, held.back()));
    }
    EXPECT_EQ(source->next(100ms).kind, Arrival::Kind::nothing_yet);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(samples(*source, held[i]), before[i]);
    Block last = std::move(held[2]);
    held.clear();
    Block block = next_block(*source);
    // On a busy machine the camera may have sent no image until then, so all blocks are held again.
    for (int attempt = 0; attempt < 50 && block.lost_before == 0; ++attempt) {
        std::vector<Block> full = {std::move(last), std::move(block)};
        full.push_back(next_block(*source));
        EXPECT_EQ(source->next(100ms).kind, Arrival::Kind::nothing_yet);
        last = std::move(full[2]);
        full.clear();
        block = next_block(*source);
    }
    const auto image = [](const Block& of) { return of.volume * 3 + of.first_b_scan / 2; };
    EXPECT_GT(block.lost_before, 0);
    EXPECT_EQ(image(block), image(last) + 1 + block.lost_before);
    EXPECT_EQ(block.sequence, last.sequence + 1);
}

TEST_F(GenicamCameraTest, BlocksOutliveTheirSource) {
    std::vector<int> before;
    Block block;
    {
        const auto source = open_genicam(wanted(64, 10, 6, 2, 200));
        source->start();
        block = next_block(*source);
        before = samples(*source, block);
        source->stop();
        EXPECT_EQ(samples(*source, block), before);
    }
    EXPECT_EQ(static_cast<int>(block.data[0]), before[0]);
}

TEST_F(GenicamCameraTest, AcceptsBlocksFromAnyThread) {
    SourceRequest want = wanted(64, 10, 6, 2, 500);
    want.settings.pool_blocks = 4;
    const auto source = open_genicam(want);
    source->start();
    std::vector<std::jthread> holders;
    for (int i = 0; i < 50; ++i) {
        holders.emplace_back([block = next_block(*source)] { EXPECT_NE(block.data, nullptr); });
    }
}

// 3000 lines exceed the camera's 2048, so a B-scan is sent in two images.
TEST_F(GenicamCameraTest, JoinsImagesOfTallBScans) {
    const auto source = open_genicam(wanted(16, 3000, 2, 1, 50));
    EXPECT_EQ(camera_->at(ARV_FAKE_CAMERA_REGISTER_HEIGHT), 1500U);
    source->start();
    std::int64_t lost = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
        const Block block = next_block(*source);
        lost += block.lost_before;
        EXPECT_EQ(block.bytes, 16 * 3000);
        EXPECT_EQ(block.volume, (i + lost) / 2);
        EXPECT_EQ(block.first_b_scan, (i + lost) % 2);
        EXPECT_GE(image_in(*source, block, 16 * 1500, 255), 0);
    }
}

// The pattern encodes the image number: lost images must not shift later blocks.
TEST_F(GenicamCameraTest, LostPacketsLoseOnlyTheirBlock) {
    const auto source = open_genicam(wanted(64, 100, 6, 2, 100));  // about ten packets per image
    source->start();
    const std::int64_t first = image_in(*source, next_block(*source), 64 * 200, 255);
    camera_->lose_packets(0.02);
    std::int64_t lost = 0;
    for (std::int64_t i = 1; i < 60; ++i) {
        const Block block = next_block(*source);
        lost += block.lost_before;
        EXPECT_EQ(block.sequence, static_cast<std::uint64_t>(i));
        EXPECT_EQ(block.volume * 3 + block.first_b_scan / 2, i + lost);
        EXPECT_EQ((image_in(*source, block, 64 * 200, 255) - first + 4096) % 256, (i + lost) % 256);
    }
    EXPECT_GT(lost, 0);
}

// About ten packets per image, most of them lost: no image is complete.
TEST_F(GenicamCameraTest, ReportsNetworkThatLosesEveryImage) {
    const auto source = open_genicam(wanted(64, 100, 6, 2, 200));
    camera_->lose_packets(0.8);
    source->start();
    std::string problem;
    for (int i = 0; i < 1200 && problem.empty(); ++i) {
        try {
            source->next(50ms);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::device);
            problem = error.line();
        }
    }
    EXPECT_THAT(problem, HasSubstr("100 images in a row are incomplete"));
    EXPECT_THAT(problem, HasSubstr("MTU"));
}

// A B-scan consists of two images; either may be lost.
TEST_F(GenicamCameraTest, LostPacketsLoseTheirBlock) {
    const auto source = open_genicam(wanted(16, 3000, 2, 1, 50));
    source->start();
    const std::int64_t first = image_in(*source, next_block(*source), 16 * 1500, 255);
    camera_->lose_packets(0.01);
    std::int64_t lost = 0;
    for (std::int64_t i = 1; i < 30; ++i) {
        const Block block = next_block(*source);
        lost += block.lost_before;
        EXPECT_EQ(block.volume * 2 + block.first_b_scan, i + lost);
        EXPECT_EQ((image_in(*source, block, 16 * 1500, 255) - first + 4096) % 256, (i + lost) * 2 % 256);
    }
    EXPECT_GT(lost, 0);
}

TEST_F(GenicamCameraTest, ReconnectsAfterDisconnect) {
    const auto source = open_genicam(wanted(64, 10, 6, 2, 200));
    source->start();
    const Block kept = next_block(*source);
    const std::vector<int> before = samples(*source, kept);
    camera_.reset();
    std::string problem;
    for (int i = 0; i < 1200 && problem.empty(); ++i) {
        try {
            source->next(50ms);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::device);
            problem = error.line();
        }
    }
    EXPECT_THAT(problem, HasSubstr("no longer answers"));
    EXPECT_THROW(source->start(), Error);  // still disconnected
    EXPECT_EQ(samples(*source, kept), before);
    connect(nullptr);
    ASSERT_TRUE(camera_->is_running());
    source->start();
    const Block first = next_block(*source);
    EXPECT_EQ(first.sequence, 0U);
    EXPECT_EQ(first.volume, 0);
    EXPECT_GE(image_in(*source, first, 64 * 20, 255), 0);
}

TEST_F(GenicamCameraTest, RefusesInvalidSettings) {
    SourceRequest unknown = wanted(64, 10, 6, 2, 50);
    unknown.name = "genicam:Nobody-42";
    EXPECT_THAT(refusal(unknown), HasSubstr("GenICam Nobody-42"));
    SourceRequest bare = wanted(64, 10, 6, 2, 50);
    bare.assignments = {"scan.samples=64"};
    EXPECT_THAT(refusal(bare), HasSubstr("scan.a_scans"));
    EXPECT_THAT(refusal(wanted(64, 2053, 6, 2, 50)), HasSubstr("2053 lines cannot be divided into images"));
    EXPECT_THAT(refusal(wanted(100'000, 10, 6, 2, 50)), HasSubstr("Width"));
}

// The fake camera's description, extended by a line rate and the pixel formats of line cameras.
class PackedPixels : public GenicamCameraTest {
  protected:
    void SetUp() override {
        ArvFakeCamera* plain = arv_fake_camera_new("none");
        std::size_t size = 0;
        const char* text = arv_fake_camera_get_genicam_xml(plain, &size);
        std::string xml(text, size);
        g_object_unref(plain);
        const std::string mark = "<EnumEntry Name=\"Mono8\"";
        std::string more;
        for (const auto& [name, code] : {std::pair<const char*, ArvPixelFormat>{"Mono12", ARV_PIXEL_FORMAT_MONO_12},
                                         {"Mono12p", mono_12p},
                                         {"Mono12Packed", ARV_PIXEL_FORMAT_MONO_12_PACKED}}) {
            more += "<EnumEntry Name=\"" + std::string(name) + "\" NameSpace=\"Standard\"><Value>" +
                    std::to_string(code) + "</Value></EnumEntry>\n";
        }
        ASSERT_NE(xml.find(mark), std::string::npos);
        xml.insert(xml.find(mark), more);
        connect(folder_.write("camera.xml", xml).c_str());
        if (!camera_->is_running()) GTEST_SKIP() << "no GigE Vision camera can be imitated here: is port 3956 taken?";
    }

    void expect_images(const std::string& format, SampleFormat stored) {
        SourceRequest want = wanted(64, 10, 6, 2, 100);
        want.name += ",PixelFormat=" + format;
        const auto source = open_genicam(want);
        EXPECT_EQ(source->scan().format.sample_format, stored);
        source->start();
        std::int64_t first = 0;
        std::int64_t lost = 0;
        for (std::int64_t i = 0; i < 5; ++i) {
            const Block block = next_block(*source);
            const std::int64_t image = image_in(*source, block, 64 * 20);
            ASSERT_GE(image, 0);
            if (i == 0) first = image;
            lost += block.lost_before;
            EXPECT_EQ((image - first + 4096) % 4096, i + lost);
        }
    }

    TemporaryFolder folder_;
};

TEST_F(PackedPixels, Mono12) {
    expect_images("Mono12", SampleFormat::u16);
}
TEST_F(PackedPixels, Mono12p) {
    expect_images("Mono12p", SampleFormat::packed12);
}
TEST_F(PackedPixels, Mono12Packed) {
    expect_images("Mono12Packed", SampleFormat::u16);
}
TEST_F(PackedPixels, Mono16) {
    expect_images("Mono16", SampleFormat::u16);
}

// A camera that was left in colour mode is set to its best supported format.
TEST_F(PackedPixels, LeavesColourMode) {
    arv_fake_camera_write_register(camera_->registers(), ARV_FAKE_CAMERA_REGISTER_PIXEL_FORMAT,
                                   ARV_PIXEL_FORMAT_RGB_8_PACKED);
    const auto source = open_genicam(wanted(64, 10, 6, 2, 100));
    EXPECT_EQ(source->scan().format.sample_format, SampleFormat::packed12);
}

}  // namespace
}  // namespace echolux
