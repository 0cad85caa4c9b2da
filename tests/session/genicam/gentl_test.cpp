// The source of frame grabbers with the GenTL producer of fake_producer.c, which loses, truncates, falls silent and is
// unplugged: every image is in its place, every loss is counted, and each fault is one clear line.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "await.h"
#include "compute/error.h"
#include "engine/acquire/source.h"
#include "fake_producer.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::int64_t samples = 64, a_scans = 10, b_scans = 6, block_b_scans = 2;

std::string producer(const char* name = "fake") {
    return (std::filesystem::path(ECHOLUX_FAKE_GENTL) / (std::string(name) + ".cti")).string();
}

class Gentl : public testing::Test {
  protected:
    Gentl() : library_(dlopen(producer().c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        script_ = reinterpret_cast<fake_gentl_function*>(dlsym(library_, "fake_gentl"))();
        *script_ = {};
        script_->devices = 1;
        script_->images_per_s = 500;
    }
    ~Gentl() override { dlclose(library_); }

    static SourceRequest wanted(const std::string& options = "") {
        SourceRequest result;
        result.name = "gentl:" + producer() + (options.empty() ? "" : "," + options);
        result.assignments = {"scan.samples=64", "scan.a_scans=10", "scan.b_scans=6"};
        result.settings.block_b_scans = block_b_scans;
        result.settings.line_rate_hz = 10000;
        result.settings.pool_blocks = 12;
        result.memory = MemoryKind::host;
        return result;
    }
    static std::string refusal(const SourceRequest& wanted) {
        return error_of([&] { open_source(wanted); }).line;
    }

    static std::optional<Block> next_block(Source& source) {
        for (TestTimeout timeout; timeout.lasts();) {
            Arrival arrival = source.next(20ms);
            if (arrival.kind == Arrival::Kind::block) return arrival.block;
        }
        return std::nullopt;
    }

    // Returns the number of the image that fills the block, or -1 if a pixel is wrong.
    static std::int64_t image_in(const Block& block, std::int64_t max = 4096) {
        std::vector<std::uint16_t> pixels(static_cast<std::size_t>(block.bytes) / 2);
        std::memcpy(pixels.data(), block.data, pixels.size() * 2);
        for (std::int64_t image = 0; image < max; ++image) {
            bool is_it = true;
            for (std::size_t i = 0; i < pixels.size() && is_it; ++i)
                is_it = pixels[i] == fake_pixel(static_cast<std::uint64_t>(image), i);
            if (is_it) return image;
        }
        return -1;
    }

    // Receives blocks. Each must hold the image of its position; counts those that were lost.
    std::int64_t lost_of(Source& source, int blocks) {
        std::int64_t lost = 0, position = 0;
        for (int i = 0; i < blocks; ++i) {
            const std::optional<Block> block = next_block(source);
            if (!block) {
                ADD_FAILURE() << "no block came";
                return -1;
            }
            lost += block->lost_before;
            position = block->volume * 3 + block->first_b_scan / block_b_scans;
            EXPECT_EQ(image_in(*block), position);
            EXPECT_EQ(position, i + lost) << "each missing block is counted";
        }
        return lost;
    }

    void* library_;
    fake_gentl_script* script_ = nullptr;
};

TEST_F(Gentl, AppliesScanAndFeatures) {
    SourceRequest want = wanted("id=line-camera-0 GainRaw=7 Stream.BufferHeight=20");
    want.settings.exposure_us = 12;
    const auto source = open_source(want);
    EXPECT_EQ(source->name(), "GenTL Line");
    EXPECT_EQ(source->scan().geometry.samples, samples);
    EXPECT_EQ(source->scan().format.sample_format, SampleFormat::u16);
    EXPECT_NEAR(source->scan().geometry.line_rate_hz, 10000, 1e-9);
    EXPECT_EQ(source->block_b_scans(), block_b_scans);
    EXPECT_TRUE(source->capabilities().sets_line_rate);
    EXPECT_TRUE(source->capabilities().sets_exposure);
    EXPECT_TRUE(source->capabilities().sets_samples);
}

TEST_F(Gentl, RefusesUnknownFeatures) {
    EXPECT_THAT(refusal(wanted("NoFeature=1")), HasSubstr("setting \"NoFeature=1\" failed"));
    EXPECT_THAT(refusal(wanted("Stream.NoFeature=1")), HasSubstr("GenTL Line, Stream: setting \"NoFeature=1\" failed"));
}

TEST_F(Gentl, SendsEveryImageInItsPlaceAndRestarts) {
    const auto source = open_source(wanted());
    for (int run = 0; run < 2; ++run) {
        source->start();
        EXPECT_TRUE(script_->is_locked) << "the size must not change";
        double last = -1;
        for (int i = 0; i < 30; ++i) {
            const std::optional<Block> block = next_block(*source);
            ASSERT_TRUE(block);
            EXPECT_EQ(image_in(*block), i);
            EXPECT_EQ(block->sequence, static_cast<std::uint64_t>(i));
            EXPECT_EQ(block->bytes, 2 * samples * a_scans * block_b_scans);
            EXPECT_EQ(block->lost_before, 0);
            EXPECT_GT(block->time_s, last);
            last = block->time_s;
        }
        source->stop();
        EXPECT_FALSE(script_->is_locked);
        EXPECT_FALSE(script_->is_started);
    }
}

TEST_F(Gentl, CountsLostAndIncompleteImages) {
    script_->lose_every = 7;
    script_->truncate_every = 11;
    const auto source = open_source(wanted());
    source->start();
    // Of images 0 to 75, 6, 13, 20 ... 69 are lost and 10, 21, 32 ... 65 incomplete.
    EXPECT_EQ(lost_of(*source, 60), 10 + 6);
}

TEST_F(Gentl, CountsLossesWithoutFrameIds) {
    script_->has_no_frame_ids = 1;
    script_->lose_every = 5;
    const auto source = open_source(wanted());
    source->start();
    EXPECT_EQ(lost_of(*source, 30), 7);
}

TEST_F(Gentl, EncoderRevealsMissedTriggers) {
    script_->miss_every = 9;
    const auto source = open_source(wanted("ChunkModeActive=1 encoder=3"));
    source->start();
    std::int64_t lost = 0;
    for (int i = 0; i < 40; ++i) {
        const std::optional<Block> block = next_block(*source);
        ASSERT_TRUE(block);
        lost += block->lost_before;
        EXPECT_EQ(image_in(*block), i) << "the camera does not know of them";
        EXPECT_EQ(block->volume * 3 + block->first_b_scan / block_b_scans, i + lost);
    }
    EXPECT_EQ(lost, 4);
    EXPECT_THAT(refusal(wanted("encoder=-1")), HasSubstr("expected a positive number"));
}

TEST_F(Gentl, EncoderWrapsAndImagesWithoutPositionAreDropped) {
    script_->has_32_bit_encoder = 1;
    script_->encoder_start = 0xffffffffU - 500;
    script_->first_with_chunks = 3;
    const auto source = open_source(wanted("ChunkModeActive=1 encoder=3"));
    source->start();
    const std::optional<Block> first = next_block(*source);
    ASSERT_TRUE(first);
    const std::int64_t first_image = image_in(*first);
    EXPECT_GE(first_image, 3);
    EXPECT_EQ(first->lost_before, 0);
    for (int i = 1; i < 40; ++i) {
        const std::optional<Block> block = next_block(*source);
        ASSERT_TRUE(block);
        EXPECT_EQ(image_in(*block), first_image + i);
        EXPECT_EQ(block->volume * 3 + block->first_b_scan / block_b_scans, i);
        EXPECT_EQ(block->lost_before, 0);
    }
}

TEST_F(Gentl, HeldBlocksStayWholeAndMissingBuffersAreLosses) {
    SourceRequest want = wanted();
    want.settings.pool_blocks = 4;
    const auto source = open_source(want);
    source->start();
    std::vector<Block> held;
    for (int i = 0; i < 4; ++i) held.push_back(*next_block(*source));
    AWAIT(script_->lost > 5);
    EXPECT_EQ(source->next(0ms).kind, Arrival::Kind::nothing_yet);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(image_in(held[static_cast<std::size_t>(i)]), i);
    held.erase(held.begin(), held.begin() + 2);
    const std::optional<Block> after = next_block(*source);
    ASSERT_TRUE(after);
    EXPECT_GT(after->lost_before, 5);
    EXPECT_EQ(image_in(*after), 4 + after->lost_before);
    source->stop();
    EXPECT_EQ(image_in(held[0]), 2) << "after the stop too";
    source->start();
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(next_block(*source));
    EXPECT_EQ(image_in(held[1]), 3) << "a held buffer is not queued again";
}

TEST_F(Gentl, UnpluggedCameraIsReportedAndContinuesWhenItIsBack) {
    const auto source = open_source(wanted());
    source->start();
    ASSERT_TRUE(next_block(*source));
    script_->is_unplugged = 1;
    const auto problem = error_of([&] {
        for (TestTimeout timeout; timeout.lasts();) source->next(20ms);
    });
    EXPECT_THAT(problem.line, HasSubstr("the camera no longer answers"));
    EXPECT_THAT(problem.line, HasSubstr("the link is down"));
    EXPECT_THAT(error_of([&] { source->start(); }).line, HasSubstr("no device was found"));
    script_->is_unplugged = 0;
    source->start();
    EXPECT_EQ(image_in(*next_block(*source)), 0);
}

TEST_F(Gentl, SilenceIsNoError) {
    script_->is_silent = 1;
    const auto source = open_source(wanted());
    source->start();
    EXPECT_EQ(source->next(500ms).kind, Arrival::Kind::nothing_yet);
    const auto before = std::chrono::steady_clock::now();
    source->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

TEST_F(Gentl, WrongImagesStopWithOneLine) {
    const auto stopped = [&](const char* words) {
        const auto source = open_source(wanted());
        source->start();
        EXPECT_THAT(error_of([&] {
                        for (TestTimeout timeout; timeout.lasts();) source->next(20ms);
                    }).line,
                    HasSubstr(words));
    };
    script_->enlarge_every = 3;
    stopped("an image is larger than its buffer of 2560 bytes");
    script_->enlarge_every = 0;
    script_->reports_height = 19;
    stopped("differs in size or format");
    script_->reports_height = 0;
    script_->truncate_every = 1;
    stopped("100 images in a row are incomplete");
}

TEST_F(Gentl, RefusesWithOneLine) {
    const TemporaryFolder folder;
    SourceRequest want = wanted();
    const auto refused = [&](const std::string& file) {
        want.name = "gentl:" + file;
        return refusal(want);
    };
    EXPECT_THAT(refused((folder / "none.cti").string()), HasSubstr("none.cti: does not exist"));
    EXPECT_THAT(refused(ECHOLUX_SAMPLE_PLUGIN), HasSubstr("is not a GenTL producer: it lacks the function GCInitLib"));
    EXPECT_THAT(refused(producer("other_version")), HasSubstr("implements GenTL 2.0, expected 1.x"));
    EXPECT_THAT(refused(producer("licence_missing")), HasSubstr("no licence for this board"));
    EXPECT_THAT(refusal(wanted("id=other")), HasSubstr("no device \"other\" was found, only line-camera-0"));
    script_->devices = 0;
    EXPECT_THAT(refusal(wanted()), HasSubstr("no device was found"));
    script_->devices = 1;
    script_->opens = 1;
    EXPECT_THAT(refusal(wanted()), HasSubstr("already open elsewhere"));
}

TEST_F(Gentl, ProducersAreListedWithoutLoadingThem) {
    setenv("GENICAM_GENTL64_PATH", (std::string("/no/such/folder:") + ECHOLUX_FAKE_GENTL).c_str(), 1);
    EXPECT_THAT(gentl_producers(), testing::Contains(std::filesystem::path(producer())));
    unsetenv("GENICAM_GENTL64_PATH");
}

// Whether all pixels are those of an image, whose number is known modulo 4096.
bool is_whole(const Block& block, std::uint64_t image) {
    const auto* pixels = reinterpret_cast<const std::uint16_t*>(block.data);
    const auto first = static_cast<std::uint16_t>(fake_pixel(image, 0));
    std::uint16_t wrong = 0;
    for (std::int64_t i = 0; i < block.bytes / 2; ++i)
        wrong |= static_cast<std::uint16_t>(pixels[i] ^ ((first + static_cast<std::uint16_t>(5 * i)) & 4095));
    return wrong == 0;
}

// Ten minutes, or ECHOLUX_GENTL_SECONDS, at 1 GB/s with random faults.
TEST_F(Gentl, SlowGigabytePerSecondWithRandomFaults) {
    const char* wanted_s = std::getenv("ECHOLUX_GENTL_SECONDS");
    const double seconds = wanted_s == nullptr ? 600 : std::atof(wanted_s);
    script_->images_per_s = 477;  // of 2 MiB
    script_->has_random_faults = 1;
    SourceRequest want = wanted();
    want.assignments = {"scan.samples=2048", "scan.a_scans=256", "scan.b_scans=64"};
    want.settings.pool_blocks = 32;
    const auto source = open_source(want);
    source->start();
    std::int64_t position = -1, blocks = 0, lost = 0;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
        const std::optional<Block> block = next_block(*source);
        ASSERT_TRUE(block);
        position += 1 + block->lost_before;
        lost += block->lost_before;
        ++blocks;
        ASSERT_EQ(block->volume * 32 + block->first_b_scan / block_b_scans, position);
        ASSERT_TRUE(is_whole(*block, static_cast<std::uint64_t>(position))) << position;
    }
    const auto before = std::chrono::steady_clock::now();
    source->stop();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
    std::printf("%lld blocks of 2 MiB, %lld lost, %.0f MB/s\n", static_cast<long long>(blocks),
                static_cast<long long>(lost), 2.097152 * static_cast<double>(blocks) / seconds);
    EXPECT_GT(static_cast<double>(lost), 0.02 * static_cast<double>(blocks)) << "two of 64 images are lost";
}

}  // namespace
}  // namespace echolux
