// Pictures written row by row: texts are read back without decoding, and damage is not mistaken for a text.
#include "engine/io/picture_file.h"

#include <cstring>
#include <fstream>

#include "compute/indexing.h"
#include "engine/io/png_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

const std::string session = "# A session of Echolux: a test.\n\n[view]\nunit = \"\xc2\xb5m\"\n";

std::string write(const std::filesystem::path& path, const PictureShape& shape) {
    const auto writer = create_picture(path, shape, {{text_program, "9.9"}, {text_session, session}});
    std::vector<std::byte> row(index(shape.row_bytes()));
    for (std::int64_t y = 0; y < shape.height; ++y) {
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::byte>(i * 7 + index(y));
        writer->write(row);
    }
    return writer->finish();
}

TEST(PictureFile, RoundTripsTexts) {
    const TemporaryFolder folder;
    for (const char* name : {"a.png", "a.tif", "A.TIFF"}) {
        for (const int bits : {8, 16}) {
            const std::string fingerprint = write(folder / name, {33, 17, 4, bits});
            const PictureTexts texts = picture_texts(folder / name);
            EXPECT_EQ(texts.at(text_program), "9.9");
            EXPECT_EQ(texts.at(text_session), session);
            EXPECT_EQ(texts.at(text_pixels), fingerprint);
            EXPECT_TRUE(has_session(folder / name));
        }
    }
}

TEST(PictureFile, HasSameFingerprintInAnyFormat) {
    const TemporaryFolder folder;
    EXPECT_EQ(write(folder / "a.png", {9, 5, 3, 16}), write(folder / "a.tif", {9, 5, 3, 16}));
    EXPECT_NE(write(folder / "a.png", {9, 5, 3, 16}), write(folder / "b.png", {9, 6, 3, 16}));
}

TEST(PictureFile, RemovesUnfinishedFiles) {
    const TemporaryFolder folder;
    for (const char* name : {"a.png", "a.tif"}) {
        create_picture(folder / name, {4, 4, 4, 8}, {})->write(std::vector<std::byte>(16));
        EXPECT_EQ(folder.entries(), 0u);
    }
    EXPECT_THAT(error_of([&] { create_picture(folder / "a.bmp", {4, 4}, {}); }).line, HasSubstr("*.tif"));
    EXPECT_EQ(error_of([&] { create_picture(folder / "a.png", {4, 4, 2, 8}, {}); }).code, ErrorCode::bad_setting);
    EXPECT_EQ(error_of([&] { create_picture(folder / "a.tif", {0, 4, 4, 8}, {}); }).code, ErrorCode::bad_setting);
}

// Cut at any byte or with any byte changed: reading returns the same texts, other valid texts, or an error.
TEST(PictureFile, SurvivesDamagedFiles) {
    const TemporaryFolder folder;
    for (const char* name : {"a.png", "a.tif"}) {
        write(folder / name, {5, 3, 4, 8});
        std::ifstream stream(folder / name, std::ios::binary);
        const std::string good{std::istreambuf_iterator<char>(stream), {}};
        const auto refusal = [&](const std::string& bytes) {
            const auto path = folder.write(std::string("b") + (name + 1), bytes);
            return error_of([&] { picture_texts(path); });
        };
        int refused = 0;
        for (std::size_t length = 0; length < good.size(); length += 5) {
            refused += refusal(good.substr(0, length)).code == ErrorCode::bad_file ? 1 : 0;
        }
        EXPECT_GT(refused, 10) << name;
        for (std::size_t at = 0; at < good.size(); at += 3) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ 0xff);
            refusal(bad);
        }
    }
    EXPECT_FALSE(has_session(folder / "none.png"));
    EXPECT_FALSE(has_session(folder.write("text.tif", "no picture")));
}

// ---- PNG ------------------------------------------------------------------------------------------------------------

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
