// Blocks from shared memory: each in its place, and never an overwritten one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "compute/plan/params.h"
#include "engine/acquire/shared_source.h"
#include "engine/live/session.h"
#include "noting_sink.h"
#include "push_support.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SharedMemory, SendsBlocksInOrderWithPositions) {
    Producer producer(name_);
    const auto source = opened();
    EXPECT_EQ(source->scan().geometry.samples, 8);
    EXPECT_EQ(source->scan().geometry.b_scans, 6);
    EXPECT_EQ(source->scan().format.sample_format, SampleFormat::u16);
    EXPECT_DOUBLE_EQ(source->scan().geometry.line_rate_hz, 1000);
    EXPECT_EQ(source->block_b_scans(), 2);
    for (int i = 0; i < 3; ++i) producer.push();  // before the start: ignored
    source->start();
    EXPECT_EQ(source->next(1ms).kind, Arrival::Kind::nothing_yet);
    for (std::int64_t i = 0; i < 7; ++i) {
        SCOPED_TRACE(i);
        producer.push();
        const Block block = next_block(*source);
        EXPECT_TRUE(is_right(block));
        EXPECT_EQ(pattern_sequence(stamp_of(block)), static_cast<std::uint64_t>(i + 3));
        EXPECT_EQ(block.sequence, static_cast<std::uint64_t>(i));
        EXPECT_EQ(block.volume, i / 3);
        EXPECT_EQ(block.first_b_scan, i % 3 * 2);
        EXPECT_EQ(block.b_scans, 2);
        EXPECT_EQ(block.bytes, 2 * 4 * 8 * 2);
        EXPECT_EQ(block.lost_before, 0);
        EXPECT_GE(block.time_s, 0);
    }
}

// Otherwise a recording of three volumes would contain two.
TEST_F(SharedMemory, StartsAtBeginningOfVolume) {
    Producer producer(name_);
    const auto source = opened();
    producer.push();
    source->start();
    for (int i = 0; i < 3; ++i) producer.push();
    const Block block = next_block(*source);
    EXPECT_EQ(pattern_sequence(stamp_of(block)), 3U);
    EXPECT_EQ(block.volume, 0);
    EXPECT_EQ(block.first_b_scan, 0);
    EXPECT_EQ(block.lost_before, 0);
    source->start();
    producer.push();
    echolux_push_block place{};  // the start of the next volume is missing, which counts as a loss
    place.volume = 2;
    place.first_b_scan = 2;
    producer.push(&place);
    EXPECT_EQ(next_block(*source).first_b_scan, 2);
}

TEST_F(SharedMemory, RejectsSizesBeyondLimits) {
    struct Case {
        const char* what;
        echolux_push_stream stream;
    };
    std::vector<Case> cases;
    const auto add = [&](const char* what, const auto& change) {
        echolux_push_stream stream = small_stream();
        change(stream);
        cases.push_back({what, stream});
    };
    add("headers", [](auto& s) { s.frame_offset_bytes = 16; });
    add("flyback", [](auto& s) { s.flyback_lines = 3, s.flyback_frames = 2; });
    add("repeats", [](auto& s) { s.a_repeats = 2, s.b_repeats = 3; });
    add("gaps", [](auto& s) { s.line_bytes = 24; });
    add("packed", [](auto& s) { s.sample_format = ECHOLUX_PUSH_PACKED12; });
    add("planar", [](auto& s) { s.channels = 2, s.channel_layout = ECHOLUX_PUSH_PLANAR; });
    add("floats", [](auto& s) { s.sample_format = ECHOLUX_PUSH_F32; });
    for (const Case& one : cases) {
        SCOPED_TRACE(one.what);
        Producer producer(name_, one.stream);
        const auto source = opened();
        source->start();
        producer.push();
        const Block block = next_block(*source);
        EXPECT_EQ(block.bytes, static_cast<std::int64_t>(producer.push_of().block_bytes));
        EXPECT_EQ(line_bytes(source->scan().format, source->scan().geometry),
                  echolux_push_line_bytes(&producer.push_of().stream));
    }
}

TEST_F(SharedMemory, CountsBlocksMissedByViewer) {
    Producer producer(name_);
    const auto source = opened();
    source->start();
    producer.push();
    next_block(*source);
    for (int i = 0; i < 30; ++i) producer.push();  // more than the ring of 8
    std::int64_t blocks = 0, lost = 0;
    for (Arrival arrival = source->next(1ms); arrival.kind == Arrival::Kind::block; arrival = source->next(1ms)) {
        EXPECT_TRUE(is_right(arrival.block));
        ++blocks;
        lost += arrival.block.lost_before;
        EXPECT_EQ(pattern_sequence(stamp_of(arrival.block)), static_cast<std::uint64_t>(blocks + lost));
    }
    EXPECT_EQ(blocks + lost, 30);
    EXPECT_GE(blocks, 5);
}

TEST_F(SharedMemory, CountsLossesOfDeviceAndKeepsTheirPositions) {
    Producer producer(name_);
    const auto source = opened();
    source->start();
    producer.push();
    next_block(*source);
    echolux_push_block place{};
    place.volume = place.first_b_scan = -1;
    place.time_s = -1;
    place.lost = 4;
    producer.push(&place);
    Block block = next_block(*source);
    EXPECT_EQ(block.lost_before, 4);
    EXPECT_EQ(block.volume, 1);
    EXPECT_EQ(block.first_b_scan, 4);  // blocks 0 and 5, with three per volume
    place.markers = ECHOLUX_PUSH_VOLUME_STARTS;
    place.time_s = 7.5;
    producer.push();
    producer.push(&place);
    next_block(*source);
    block = next_block(*source);
    EXPECT_EQ(block.lost_before, 0);
    EXPECT_EQ(block.volume, 3);
    EXPECT_EQ(block.first_b_scan, 0);
}

TEST_F(SharedMemory, BlocksOutliveTheirProducer) {
    std::unique_ptr<Source> source;
    Block block;
    {
        Producer producer(name_);
        source = opened();
        source->start();
        producer.push();
        producer.push();
        block = next_block(*source);
    }
    EXPECT_TRUE(is_right(next_block(*source)));  // it was published
    EXPECT_THAT(error_of([&] { source->next(100ms); }).line, HasSubstr("has exited"));
    EXPECT_TRUE(is_right(block));
    source.reset();
    EXPECT_TRUE(is_right(block));
}

TEST_F(SharedMemory, EndsAfterLastBlock) {
    Producer producer(name_);
    const auto source = opened();
    source->start();
    producer.push();
    producer.push();
    producer.end();
    next_block(*source);
    next_block(*source);
    EXPECT_EQ(source->next(100ms).kind, Arrival::Kind::ended);
}

TEST_F(SharedMemory, KeepsBlocksInRingWithoutMemory) {
    Producer producer(name_);
    SourceRequest wanted = pushed_to("shm:" + name_);
    wanted.settings.pool_blocks = 2;
    const auto source = open_shared_memory(wanted, 0ms);
    source->start();
    for (int i = 0; i < 4; ++i) producer.push();
    Block first = next_block(*source), second = next_block(*source);
    EXPECT_EQ(source->next(1ms).kind, Arrival::Kind::nothing_yet);
    first = {};
    const Block third = next_block(*source);
    EXPECT_EQ(pattern_sequence(stamp_of(third)), 2U);
    EXPECT_EQ(third.lost_before, 0);
}

// Producer and viewer run at full speed with a ring so small that the viewer is overtaken constantly.
TEST_F(SharedMemory, NeverReadsTornBlocks) {
    echolux_push_stream stream = small_stream();
    stream.samples = 4096;  // 64 KiB per block
    stream.slots = 2;
    Producer producer(name_, stream);
    const SharedRing ring(name_);
    std::atomic<bool> stops = false;
    std::jthread writing([&] {
        while (!stops) producer.push();
    });
    std::vector<std::byte> room(producer.push_of().block_bytes);
    std::int64_t taken = 0, overtaken = 0, wrong = 0;
    for (TestTimeout timeout; (taken < 1000 || overtaken == 0) && timeout.lasts();) {
        const std::uint64_t published = ring.view().published();
        if (published == 0) continue;
        echolux_push_block block;
        const int result = ring.view().take(published - 1, block, room);
        overtaken += result == ECHOLUX_PUSH_OVERTAKEN;
        if (result != ECHOLUX_PUSH_TAKEN) continue;
        ++taken;
        const auto* words = reinterpret_cast<const std::uint64_t*>(room.data());
        wrong += pattern_is_right(words, room.size() / 8) == 0 || pattern_sequence(words[0]) != published - 1;
    }
    stops = true;
    EXPECT_EQ(wrong, 0);
}

TEST_F(SharedMemory, AllowsOneProducer) {
    Producer producer(name_);
    EXPECT_THAT(shared_rings(), Contains(name_));
    try {
        const Producer other(name_);
        FAIL() << "two producers of one name";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("another producer that is running"));
    }
    producer.push();
    EXPECT_EQ(producer.push_of().sequence, 1U);
}

TEST_F(SharedMemory, DistinguishesInvalidNamesAndMissingProducers) {
    EXPECT_THAT(error_of([&] { opened(); }).line, HasSubstr("no program pushes spectra under this name"));
    EXPECT_EQ(error_of([&] { opened(); }).code, ErrorCode::device);
    for (const std::string& name : std::vector<std::string>{"../etc/passwd", ".hidden", "a b", std::string(65, 'a')}) {
        const Caught caught = error_of([&] { open_shared_memory(pushed_to("shm:" + name), 0ms); });
        EXPECT_EQ(caught.code, ErrorCode::bad_setting) << name;
    }
    EXPECT_THAT(shared_rings(), Not(Contains(name_)));
}

TEST_F(SharedMemory, OpeningWaitsForItsProducer) {
    struct Opening : SilentProgress {  // the producer starts when the wait for it is reported
        explicit Opening(std::string name) : name(std::move(name)) {}
        void begin(const std::string&, std::int64_t, const std::string&) override {
            producer = std::make_unique<Producer>(name);
        }
        std::string name;
        std::unique_ptr<Producer> producer;
    } opening(name_);
    SourceRequest wanted = pushed_to("shm:" + name_);
    wanted.progress = &opening;
    const auto source = open_shared_memory(wanted, 60s);
    EXPECT_TRUE(opening.producer);
    EXPECT_EQ(source->scan().geometry.samples, 8);
}

TEST_F(SharedMemory, ContinuesWithNewProducerOfSameStream) {
    auto producer = std::make_unique<Producer>(name_);
    const auto source = opened();
    source->start();
    producer->push();
    next_block(*source);
    producer.reset();
    EXPECT_THAT(error_of([&] { source->next(100ms); }).line, HasSubstr("has exited"));
    EXPECT_THAT(error_of([&] { source->start(); }).line, HasSubstr("no program pushes"));
    echolux_push_stream other = small_stream();
    other.samples = 16;
    producer = std::make_unique<Producer>(name_, other);
    EXPECT_THAT(error_of([&] { source->start(); }).line, HasSubstr("changed: 16 samples"));
    producer.reset();
    other = small_stream();
    other.slots = 3;  // may differ
    producer = std::make_unique<Producer>(name_, other);
    source->start();
    producer->push();
    EXPECT_TRUE(is_right(next_block(*source)));
}

// A session reports the loss of its producer, waits, and continues counting.
TEST_F(SharedMemory, SessionSurvivesItsProducers) {
    auto producer = std::make_unique<Producer>(name_);
    const auto source = opened();
    NotingSink sink;
    Session session(*source, sink);
    session.start();
    for (int i = 0; i < 3; ++i) producer->push();
    AWAIT(session.stats().arrived.blocks == 3);
    producer.reset();
    producer = std::make_unique<Producer>(name_);
    AWAIT(session.stats().reconnections == 1);
    for (int i = 0; i < 3; ++i) producer->push();
    AWAIT(session.stats().arrived.blocks == 6);
    EXPECT_EQ(session.stats().arrived.repeated_blocks, 0);
    EXPECT_EQ(session.stats().arrived.volumes, 2);
    session.stop();
}

}  // namespace
}  // namespace echolux
