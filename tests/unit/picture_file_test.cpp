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

}  // namespace
}  // namespace echolux
