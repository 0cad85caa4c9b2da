// Producers may write anything into shared memory: none of it is trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute/plan/params.h"
#include "engine/acquire/shared_source.h"
#include "push_support.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using namespace test;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class HostileRing : public SharedMemory {
  protected:
    HostileRing() : producer_(name_) { producer_.push(); }

    echolux_push_header& header() { return *producer_.push_of().ring; }

    std::span<const std::byte> memory() {
        return {reinterpret_cast<const std::byte*>(&header()), echolux_push_total_bytes(&producer_.push_of())};
    }
    std::string refusal() {
        return error_of([&] { RingView(memory(), "shm:test"); }).line;
    }

    Producer producer_;
};

TEST_F(HostileRing, EveryWrongSizeIsRefused) {
    EXPECT_EQ(refusal(), "");
    const echolux_push_header good = header();
    const auto refused = [&](const char* what, const auto& change, const char* words) {
        change(header());
        EXPECT_THAT(refusal(), HasSubstr(words)) << what;
        header() = good;
    };
    const auto slots = [](std::int64_t n) { return [n](auto& h) { h.stream.slots = n; }; };
    refused(
        "magic", [](auto& h) { h.magic[0] = 'X'; }, "is not a ring of blocks");
    refused(
        "version", [](auto& h) { h.version = 2; }, "version 2");
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{4097}, std::int64_t{1} << 62, INT64_MIN})
        refused("slots", slots(n), "sizes");
    refused("other slots", slots(7), "7 blocks would");
    refused(
        "struct", [](auto& h) { h.stream.struct_size = 200; }, "sizes");
    refused(
        "header", [](auto& h) { h.header_bytes = 0; }, "sizes");
    refused(
        "slots_at", [](auto& h) { h.slots_at = 1; }, "sizes");
    refused(
        "data_at", [](auto& h) { h.data_at = ~0ull; }, "sizes");
    for (const std::uint64_t n :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4097}, std::uint64_t{1} << 60, ~std::uint64_t{4095}})
        refused(
            "slot_bytes", [n](auto& h) { h.slot_bytes = n; }, "sizes");
    refused(
        "total", [](auto& h) { h.total_bytes += 4096; }, "bytes, 8 blocks");
    EXPECT_EQ(refusal(), "");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{4096}, memory().size() - 1})
        EXPECT_NE(error_of([&] { RingView(memory().first(bytes), "shm:test"); }).line, "") << bytes;
}

TEST_F(HostileRing, RefusesInvalidStream) {
    const echolux_push_header good = header();
    const auto refused = [&](const char* words, const auto& change) {
        change(header().stream);
        EXPECT_THAT(error_of([&] { opened(); }).line, HasSubstr(words));
        header() = good;
    };
    refused("samples", [](auto& s) { s.samples = -8; });
    refused("samples", [](auto& s) { s.samples = std::int64_t{1} << 40; });
    refused("sample_format", [](auto& s) { s.sample_format = 9; });
    refused("b_scans", [](auto& s) { s.b_scans = 0; });
    refused("channels", [](auto& s) { s.channels = -1; });
    refused("a_scans", [](auto& s) { s.a_scans = INT64_MAX; });
    refused("block_b_scans", [](auto& s) { s.block_b_scans = 7; });
    refused("line_rate_hz", [](auto& s) { s.line_rate_hz = NAN; });
    refused("room for", [](auto& s) { s.samples = 65536; });  // larger than a slot
}

TEST_F(HostileRing, InvalidBlockStopsSourceWithOneLine) {
    const auto source = opened();
    const auto refused = [&](const char* words, const auto& change) {
        source->start();
        producer_.push();
        change(producer_.slot(producer_.push_of().sequence - 1).block);
        EXPECT_THAT(error_of([&] { next_block(*source); }).line, HasSubstr(words));
    };
    refused("does not fit", [](auto& b) { b.bytes = ~0ull; });
    refused("does not fit", [](auto& b) { b.bytes = 0; });
    refused("does not fit", [](auto& b) { b.sequence += 8; });
    refused("bytes, expected", [](auto& b) { b.bytes -= 1; });
    refused("B-scans, expected 1 to 2", [](auto& b) { b.b_scans = INT64_MIN; });
    refused("not a valid position", [](auto& b) { b.first_b_scan = 5; });
    refused("not a valid position", [](auto& b) { b.first_b_scan = INT64_MAX; });
    refused("not a valid position", [](auto& b) { b.volume = -2; });
    refused("not a valid position", [](auto& b) { b.volume = INT64_MAX; });
    refused("not a finite number", [](auto& b) { b.time_s = NAN; });
    refused("reports an impossible loss", [](auto& b) { b.lost = ~0ull; });
    source->start();
    for (int i = 0; i < 3; ++i) producer_.push();
    EXPECT_TRUE(is_right(next_block(*source)));
}

TEST_F(HostileRing, IgnoresInvalidCounters) {
    const auto source = opened();
    source->start();
    for (const std::uint64_t published :
         {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1000}, std::uint64_t{0}}) {
        header().published = published;
        EXPECT_EQ(source->next(5ms).kind, Arrival::Kind::nothing_yet) << published;
    }
}

}  // namespace
}  // namespace echolux
