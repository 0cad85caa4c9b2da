// Positions of bytes in stripes, compared with a file that is distributed byte by byte.
#include "compute/indexing.h"
#include "engine/scan/raw_spectra.h"

#include <gtest/gtest.h>

namespace echolux {
namespace {

constexpr std::int64_t stripe = 5, bytes = 64;

// Returns the part of each byte and its position in it.
std::vector<std::pair<std::size_t, std::int64_t>> dealt_out(std::size_t parts) {
    std::vector<std::pair<std::size_t, std::int64_t>> places;
    std::vector<std::int64_t> filled(parts);
    for (std::int64_t i = 0; i < bytes; ++i) {
        const std::size_t part = index(i / stripe) % parts;
        places.emplace_back(part, filled[part]++);
    }
    return places;
}

TEST(Striping, PlacesEveryByteByFormula) {
    for (std::size_t parts = 1; parts <= 4; ++parts) {
        const Striping striping(parts, stripe);
        const auto places = dealt_out(parts);
        for (std::int64_t begin = 0; begin < bytes; ++begin) {
            for (std::int64_t place = begin; place < bytes;) {
                const Striping::Piece piece = striping.piece_at(place, bytes);
                ASSERT_GT(piece.bytes, 0);
                for (std::int64_t i = 0; i < piece.bytes; ++i) {
                    const auto [part, there] = places.at(index(place + i));
                    ASSERT_EQ(piece.part, part);
                    ASSERT_EQ(piece.place + i, there);
                }
                place += piece.bytes;
            }
        }
    }
}

TEST(Striping, CountsBytesOfParts) {
    for (std::size_t parts = 1; parts <= 4; ++parts) {
        const Striping striping(parts, stripe);
        const auto places = dealt_out(parts);
        std::vector<std::int64_t> filled(parts);
        for (std::int64_t end = 0; end < bytes; ++end) {
            for (std::size_t part = 0; part < parts; ++part) EXPECT_EQ(striping.bytes_of(part, end), filled[part]);
            const std::size_t next = places[index(end)].first;
            EXPECT_EQ(striping.end_with(next, filled[next]), end) << "the first byte that is missing";
            ++filled[next];
        }
    }
}

TEST(Striping, SplitsAndJoinsNames) {
    const std::vector<std::string> names{"a.raw", "/b c/d.raw"};
    EXPECT_EQ(text_of_stripes({names.begin(), names.end()}), "a.raw;/b c/d.raw");
    EXPECT_EQ(stripe_names("a.raw;/b c/d.raw"), names);
    EXPECT_TRUE(stripe_names("").empty());
}

// Values of zlib's own function, for lengths near those that are split.
TEST(Checksum, ManyThreadsMatchOneThread) {
    std::vector<std::byte> many((std::size_t{1} << 22) + 3);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::byte>(i * i / 7);
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 18, std::size_t{1} << 19,
                                     (std::size_t{1} << 20) + 1, many.size()}) {
        const auto some = std::span(many).first(length);
        EXPECT_EQ(crc32_of_many(some), crc32_of(some)) << length;
    }
}

}  // namespace
}  // namespace echolux
