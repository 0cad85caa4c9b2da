// PNG pictures: a round trip, and files that cannot be read or written.
#include "engine/io/png_file.h"

#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

Picture gradient(int channels) {
    Picture picture{7, 5, channels, {}, {{"recipe", "[recipe]\nwindow = \"hann\"\n"}, {"unit", "\xc2\xb5m"}}};
    for (int i = 0; i < 7 * 5 * channels; ++i) picture.pixels.push_back(static_cast<std::uint8_t>(i * 11));
    return picture;
}

TEST(PngFile, KeepsPixelsAndTexts) {
    const TemporaryFolder folder;
    for (const int channels : {1, 3, 4}) {
        const Picture picture = gradient(channels);
        write_png(folder / "a.png", picture);
        const Picture again = read_png(folder / "a.png");
        EXPECT_EQ(again.width, 7);
        EXPECT_EQ(again.height, 5);
        EXPECT_EQ(again.channels, channels);
        EXPECT_EQ(again.pixels, picture.pixels);
        for (const auto& [key, text] : picture.text) EXPECT_EQ(again.text.at(key), text);
    }
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(PngFile, RefusesUnsupportedShapes) {
    const TemporaryFolder folder;
    Picture picture = gradient(3);
    picture.channels = 4;
    EXPECT_EQ(error_of([&] { write_png(folder / "a.png", picture); }).code, ErrorCode::bad_setting);
    EXPECT_EQ(error_of([&] { write_png(folder / "a.png", Picture{}); }).code, ErrorCode::bad_setting);
    EXPECT_EQ(folder.entries(), 0u);
}

TEST(PngFile, DamagedFilesAreRefused) {
    const TemporaryFolder folder;
    write_png(folder / "a.png", gradient(3));
    std::ifstream stream(folder / "a.png", std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(stream), {}};
    const auto refusal = [&](const std::string& bytes) {
        return error_of([&] { read_png(folder.write("b.png", bytes)); });
    };
    EXPECT_EQ(refusal(good).line, "");
    for (std::size_t length = 0; length < good.size(); length += 9) {
        EXPECT_EQ(refusal(good.substr(0, length)).code, ErrorCode::bad_file) << length;
    }
    EXPECT_THAT(refusal("no picture at all").line, HasSubstr("b.png: is not a PNG file"));
    std::string long_text = good;
    long_text.insert(33, std::string("\x43\xae\xd3\x37tEXtcut", 11));  // after IHDR: a text of 1.1 GB
    EXPECT_THAT(refusal(long_text).line, HasSubstr("b.png: ends before the image is complete"));
    std::string huge = good;
    huge.replace(16, 8, std::string("\0\x0f\0\0\0\x0f\0\0", 8));  // width and height; the checksum is now wrong
    EXPECT_EQ(refusal(huge).code, ErrorCode::bad_file);
    huge.replace(29, 4, "\x1f\x5d\x66\x98");  // and correct again
    EXPECT_THAT(refusal(huge).line, HasSubstr("claims 983040 x 983040 pixels, more than its bytes can hold"));
    EXPECT_THAT(error_of([&] { read_png(folder / "none.png"); }).line, HasSubstr("none.png: does not exist"));
}

}  // namespace
}  // namespace echolux
