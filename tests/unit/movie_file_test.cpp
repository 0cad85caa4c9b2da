// Checks of movies before FFmpeg is used: frame rates, names, sizes; colours as defined by BT.709; palettes; PNG
// series. tests/cli checks FFmpeg's output with ffprobe.
#include "engine/io/movie_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <vector>

#include "compute/error.h"
#include "engine/io/movie/video_colours.h"
#include "engine/io/png_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

std::string refusal(const std::function<void()>& work) {
    return error_of(work).line;
}

using Pixels = std::vector<std::uint8_t>;

Pixels plain(std::int64_t count, const std::array<std::uint8_t, 4>& rgba) {
    Pixels pixels;
    for (std::int64_t i = 0; i < count; ++i) pixels.insert(pixels.end(), rgba.begin(), rgba.end());
    return pixels;
}

TEST(FrameRates, AreExactFractions) {
    EXPECT_EQ(parsed_frame_rate("30", ""), (FrameRate{30, 1}));
    EXPECT_EQ(parsed_frame_rate("29.97", ""), (FrameRate{2997, 100}));
    EXPECT_EQ(parsed_frame_rate("12.50", ""), (FrameRate{25, 2}));
    EXPECT_EQ(parsed_frame_rate("30000/1001", ""), (FrameRate{30000, 1001}));
    EXPECT_EQ(parsed_frame_rate("60/4", ""), (FrameRate{15, 1}));
    EXPECT_EQ(parsed_frame_rate("0.1", ""), (FrameRate{1, 10}));
}

TEST(FrameRates, RejectsInvalidRatesByName) {
    for (const char* text : {"", "0", "-30", "30/0", "0/1", "30/", "/1", "3o", "30 ", "1e3", "+30", "30.", ".5", "1/-2",
                             "12.3456789", "99999999999999999999", "2000000", "1/2/3", "nan"}) {
        EXPECT_THAT(refusal([&] { parsed_frame_rate(text, "--fps"); }), testing::StartsWith("--fps")) << text;
    }
}

TEST(MovieNames, SelectCodecAndContainer) {
    const auto codec = [](const char* name) { return movie_codec(name, MovieCodec::automatic); };
    EXPECT_EQ(codec("a.mp4"), MovieCodec::h264);
    EXPECT_EQ(codec("A.MKV"), MovieCodec::h264);
    EXPECT_EQ(codec("a.webm"), MovieCodec::vp9);
    EXPECT_EQ(codec("a.mov"), MovieCodec::prores);
    EXPECT_EQ(codec("a.gif"), MovieCodec::gif);
    EXPECT_EQ(codec("a.webp"), MovieCodec::webp);
    EXPECT_EQ(codec("a_%04d.png"), MovieCodec::png);
    EXPECT_EQ(codec("folder/"), MovieCodec::png);
    EXPECT_THAT(refusal([&] { codec("a.avi"); }), testing::HasSubstr(".mp4"));
    EXPECT_EQ(movie_codec("a.mov", MovieCodec::h265), MovieCodec::h265);
    EXPECT_THAT(refusal([] { movie_codec("a.webm", MovieCodec::h264); }), testing::HasSubstr("vp9, av1"));
}

MovieFormat format_of(std::int64_t width, std::int64_t height) {
    return MovieFormat{.width = width, .height = height, .max_pictures = 3};
}

TEST(Movies, RejectsInvalidFormatsBeforeWriting) {
    const TemporaryFolder folder;
    const auto refused = [&](const char* name, const std::function<void(MovieFormat&)>& change) {
        MovieFormat format = format_of(64, 48);
        change(format);
        return refusal([&] { create_movie(folder.path() / name, format); });
    };
    EXPECT_THAT(refused("a.mp4", [](auto& f) { f.width = 63; }), testing::HasSubstr("even"));
    EXPECT_THAT(refused("a.mp4", [](auto& f) { f.has_alpha = true; }), testing::HasSubstr(".mov"));
    EXPECT_THAT(refused("a.gif", [](auto& f) { f.rate = {60, 1}; }), testing::HasSubstr("50"));
    EXPECT_THAT(refused("a.gif", [](auto& f) { f.crf = 20; }), testing::HasSubstr("CRF"));
    EXPECT_THAT(refused("a.mp4", [](auto& f) { f.crf = 52; }), testing::HasSubstr("CRF"));
    EXPECT_THAT(refused("a.mp4", [](auto& f) { f.max_pictures = 0; }), testing::HasSubstr("one frame"));
    EXPECT_THAT(refused("a.mov", [](auto& f) { f.height = 20000; }), testing::HasSubstr("16384"));
    EXPECT_THAT(refused("a.png", [](auto&) {}), testing::HasSubstr("%04d"));
    EXPECT_THAT(refused("a_%d_%d.png", [](auto&) {}), testing::HasSubstr("one frame number"));
    EXPECT_THAT(refused("a_%s.png", [](auto&) {}), testing::HasSubstr("%04d"));
    EXPECT_THAT(refused("a_%99999999999d.png", [](auto&) {}), testing::HasSubstr("9 digits"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Formulas of ITU-R BT.709-6, sections 3.2 to 3.4, for full-range colours.
TEST(Yuv, ColoursMatchBt709) {
    struct Case {
        std::array<std::uint8_t, 4> rgba;
        double y, cb, cr;
    };
    const std::array cases{Case{{0, 0, 0, 255}, 0, 0, 0},
                           Case{{255, 255, 255, 255}, 1, 0, 0},
                           Case{{255, 0, 0, 255}, 0.2126, -0.2126 / 1.8556, 0.5},
                           Case{{0, 255, 0, 255}, 0.7152, -0.7152 / 1.8556, -0.7152 / 1.5748},
                           Case{{0, 0, 255, 255}, 0.0722, 0.5, -0.0722 / 1.5748},
                           Case{{102, 102, 102, 0}, 0.4, 0, 0}};
    for (const Case& c : cases) {
        std::array<std::uint8_t, 8> y{};
        std::array<std::uint8_t, 2> u{}, v{};
        to_yuv420(plain(8, c.rgba), 4, 2, {y.data(), u.data(), v.data(), 4, 2});
        EXPECT_THAT(y, testing::Each(std::lround(16 + 219 * c.y)));
        EXPECT_THAT(u, testing::Each(std::lround(128 + 224 * c.cb)));
        EXPECT_THAT(v, testing::Each(std::lround(128 + 224 * c.cr)));

        std::array<std::array<std::uint16_t, 2>, 4> planes{};
        const auto at = [&](std::size_t i) { return reinterpret_cast<std::byte*>(planes[i].data()); };
        to_yuva444(plain(2, c.rgba), 2, 1, {at(0), at(1), at(2), at(3), 4});
        EXPECT_THAT(planes[0], testing::Each(std::lround(64 + 876 * c.y)));
        EXPECT_THAT(planes[1], testing::Each(std::lround(512 + 896 * c.cb)));
        EXPECT_THAT(planes[2], testing::Each(std::lround(512 + 896 * c.cr)));
        EXPECT_THAT(planes[3], testing::Each(std::lround(c.rgba[3] * 1023 / 255.0)));
    }
}

// A chroma sample weights its column by 1/2 and both neighbouring columns by 1/4, over two rows. Only column 2 is red.
TEST(Yuv, PlacesChromaOnEverySecondColumn) {
    Pixels rgba = plain(8, {0, 0, 0, 255});
    for (const std::size_t row : {std::size_t{0}, std::size_t{1}}) rgba[16 * row + 8] = 255;  // column 2
    std::array<std::uint8_t, 8> y{};
    std::array<std::uint8_t, 4> uv{};
    to_yuv420(rgba, 4, 2, {y.data(), uv.data(), uv.data() + 1, 4, 4, 2});
    EXPECT_EQ(uv[1], 128);
    EXPECT_EQ(uv[3], 128 + 56);
    EXPECT_EQ(y[2], 63);
    EXPECT_EQ(y[1], 16);
}

TEST(Palette, KeepsFewColoursUnchanged) {
    Pixels rgba;
    const std::array<std::array<std::uint8_t, 4>, 4> colours{
        {{0, 0, 0, 255}, {255, 255, 255, 255}, {200, 40, 40, 255}, {20, 20, 220, 255}}};
    for (int i = 0; i < 64; ++i) rgba.insert(rgba.end(), colours[i % 4].begin(), colours[i % 4].end());
    std::vector<std::uint8_t> codes(64);
    const Palette palette = Palettes().quantise(rgba, 8, false, codes.data(), 8);
    for (std::size_t i = 0; i < 64; ++i) {
        const auto& wanted = colours[i % 4];
        EXPECT_EQ(palette.colours[codes[i]], 0xff000000U | wanted[0] << 16U | wanted[1] << 8U | wanted[2]) << i;
    }
}

TEST(Palette, ManyColoursAreApproximated) {
    constexpr std::int64_t side = 128;
    Pixels rgba;
    for (std::int64_t y = 0; y < side; ++y) {
        for (std::int64_t x = 0; x < side; ++x) {
            const auto level = static_cast<std::uint8_t>(x + y);
            rgba.insert(rgba.end(), {level, level, static_cast<std::uint8_t>(255 - x), 255});
        }
    }
    std::vector<std::uint8_t> codes(side * side);
    const Palette palette = Palettes().quantise(rgba, side, false, codes.data(), side);
    double squares = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        for (std::size_t channel = 0; channel < 3; ++channel) {
            const auto shown = static_cast<int>(palette.colours[codes[i]] >> (16 - 8 * channel) & 255);
            squares += std::pow(shown - rgba[4 * i + channel], 2);
        }
    }
    EXPECT_LT(std::sqrt(squares / static_cast<double>(3 * codes.size())), 6);  // 256 of 16384 colours
}

TEST(Palette, TransparentPixelsUseLastColour) {
    Pixels rgba = plain(3, {10, 20, 30, 255});
    rgba[7] = 0;
    std::array<std::uint8_t, 3> codes{};
    const Palette palette = Palettes().quantise(rgba, 3, true, codes.data(), 3);
    EXPECT_EQ(codes[1], 255);
    EXPECT_EQ(palette.colours[255], 0U);
    EXPECT_EQ(palette.colours[codes[0]], 0xff0a141eU);
    EXPECT_EQ(codes[0], codes[2]);
}

TEST(PngSeriesOf, PicturesAreExactAndNumbered) {
    const TemporaryFolder folder;
    const MovieFormat format = format_of(3, 2);
    for (const char* name : {"f/p%03d-x.png", "f/new-folder/"}) {
        const auto movie = create_movie(folder.path() / name, format);
        EXPECT_EQ(movie->encoder(), "PNG");
        movie->add(plain(6, {1, 2, 3, 4}));
        movie->add(plain(6, {5, 6, 7, 8}));
        movie->finish();
        EXPECT_EQ(movie->pictures(), 2);
    }
    EXPECT_EQ(read_png(folder.path() / "f/p000-x.png").pixels, plain(6, {1, 2, 3, 4}));
    EXPECT_EQ(read_png(folder.path() / "f/p001-x.png").pixels, plain(6, {5, 6, 7, 8}));
    EXPECT_EQ(read_png(folder.path() / "f/new-folder/frame_0001.png").pixels, plain(6, {5, 6, 7, 8}));
}

TEST(PngSeriesOf, RejectsFolderWithLongerSeries) {
    const TemporaryFolder folder;
    write_png(folder.path() / "frame_0003.png", {1, 1, 4, {1, 2, 3, 4}, {}});
    EXPECT_THAT(refusal([&] { create_movie(folder.path(), format_of(4, 4)); }), testing::HasSubstr("frame_0003.png"));
}

}  // namespace
}  // namespace echolux
