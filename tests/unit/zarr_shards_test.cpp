// Zarr shards with invalid indexes. volume_formats_test.cpp reads files of zarr-python.
#include "engine/io/volume_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::HasSubstr;

// Two chunks of one voxel in a shard whose index has no checksum, so that each fault of the index is tested by itself.
TEST(ZarrShardsTest, RejectsInvalidIndex) {
    TemporaryFolder folder;
    const auto written = [&](const std::string& chunk, const std::string& index_codecs, const std::string& file) {
        std::filesystem::create_directories(folder / "s.zarr/c/0/0");
        folder.write("s.zarr/zarr.json",
                     R"({"zarr_format": 3, "node_type": "array", "shape": [1, 1, 2], "data_type": "uint8",
                          "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1, 2]}},
                          "chunk_key_encoding": {"name": "default"}, "fill_value": 9,
                          "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": )" +
                         chunk + R"(, "codecs": ["bytes"], "index_codecs": )" + index_codecs + "}}]}");
        folder.write("s.zarr/c/0/0/0", file);
    };
    const auto number = [](std::uint64_t value) {
        std::string bytes;
        for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
        return bytes;
    };
    constexpr std::uint64_t none = ~std::uint64_t{0};
    const auto with_index = [&](std::uint64_t offset, std::uint64_t length) {
        written("[1, 1, 1]", R"(["bytes"])", "ab" + number(0) + number(1) + number(offset) + number(length));
    };
    const auto reading = [&] { return error_of([&] { SeriesFile(folder / "s.zarr").read(0); }).line; };
    const auto voxels = [&] { return SeriesFile(folder / "s.zarr").read(0).voxels; };
    with_index(1, 1);
    EXPECT_EQ(voxels(), (std::vector<std::byte>{std::byte{'a'}, std::byte{'b'}}));
    with_index(none, none);
    EXPECT_EQ(voxels(), (std::vector<std::byte>{std::byte{'a'}, std::byte{9}}));
    for (const auto& [offset, length] :
         {std::pair{none, std::uint64_t{1}}, {std::uint64_t{1}, none}, {34, 1}, {2, 33}, {none - 1, 2}}) {
        SCOPED_TRACE(std::to_string(offset) + " " + std::to_string(length));
        with_index(offset, length);
        EXPECT_THAT(reading(), HasSubstr("points outside of its chunks"));
    }
    with_index(1, 0);
    EXPECT_THAT(reading(), HasSubstr("0/0/0: "));
    with_index(1, 2);
    EXPECT_THAT(reading(), HasSubstr("0/0/0: is damaged"));
    written("[1, 1, 1]", R"(["bytes"])", "short");
    EXPECT_THAT(reading(), HasSubstr("ends too early"));
    written("[1, 1, 1]", R"(["bytes", "crc32c"])", "ab" + std::string(36, '\0'));
    EXPECT_THAT(reading(), HasSubstr("is damaged"));
    for (const char* chunk : {"[1, 1, 0]", "[1, 1, -1]", "[1, 1, 3]", "[1, 1]", "[1, 1, 1e300]", "[1, 1, \"1\"]"}) {
        SCOPED_TRACE(chunk);
        written(chunk, R"(["bytes"])", "");
        EXPECT_THAT(reading(), HasSubstr("do not divide its shards"));
    }
    written("[1, 1, 1]", R"(["bytes", "gzip"])", "");
    EXPECT_THAT(reading(), HasSubstr("with a compressed index"));
}

}  // namespace
}  // namespace echolux
