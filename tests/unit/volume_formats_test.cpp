// Series in every format: bit-exact round trips, the same content in other programs, and their files read by us
// (format_peers.py). Voxels are a formula of time, B-scan, depth and A-scan; sizes are odd.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "compute/indexing.h"
#include "engine/io/volume_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::pair<const char*, VoxelType> types[] = {{"u8", VoxelType::u8},
                                                       {"u16", VoxelType::u16},
                                                       {"i16", VoxelType::i16},
                                                       {"f32", VoxelType::f32},
                                                       {"complex64", VoxelType::complex64}};

SeriesHeader small_series(VoxelType type) {
    return SeriesHeader{.grid = {.depth = 11,
                                 .a_scans = 7,
                                 .b_scans = 5,
                                 .type = type,
                                 .spacing_um = {3, 12, 25},
                                 .first_depth_um = 120,
                                 .scale = 0.25,
                                 .offset = -5,
                                 .quantity = "db",
                                 .unit = "dB above noise floor"},
                        .time_points = 3,
                        .step_s = 0.25,
                        .provenance = {{"recipe", "[recipe]\nwindow = \"hann\" # \\ <&> \\n\n"}, {"version", "0.1.0"}}};
}

template <class Voxel>
void put(std::byte* place, Voxel voxel) {
    std::memcpy(place, &voxel, sizeof(voxel));
}

std::vector<std::byte> voxels_of(const SeriesHeader& header, std::int64_t t) {
    const VolumeGrid& grid = header.grid;
    std::vector<std::byte> voxels(index(grid.bytes()));
    std::byte* place = voxels.data();
    for (std::int64_t b = 0; b < grid.b_scans; ++b) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z, place += bytes_of(grid.type)) {
                const std::int64_t number = a + 3 * z + 17 * b + 101 * t + 7;
                const float real = static_cast<float>(number) * 0.375f - 11;
                switch (grid.type) {
                    case VoxelType::u8: put(place, static_cast<std::uint8_t>(number % 251)); break;
                    case VoxelType::u16: put(place, static_cast<std::uint16_t>(number * 211 % 65521)); break;
                    case VoxelType::i16: put(place, static_cast<std::int16_t>(number * 211 % 65521 - 32760)); break;
                    case VoxelType::complex64: put(place, std::array{real, real * -0.5f}); break;
                    default: put(place, real); break;
                }
            }
        }
    }
    return voxels;
}

void write_series(const std::filesystem::path& path, const SeriesHeader& header, const ImageStorage& storage = {}) {
    SeriesWriter writer(path, header, storage);
    for (std::int64_t t = 0; t < header.time_points; ++t) {
        const std::vector<std::byte> voxels = voxels_of(header, t);
        const std::size_t b_scan = voxels.size() / index(header.grid.b_scans);
        writer.write(std::span(voxels).first(2 * b_scan));  // in parts that do not match chunks
        writer.write(std::span(voxels).subspan(2 * b_scan));
    }
    writer.finish();
}

void expect_same_voxels(SeriesFile& file, const SeriesHeader& header) {
    ASSERT_EQ(file.time_points(), header.time_points);
    ASSERT_EQ(file.header().grid.type, header.grid.type);
    for (const std::int64_t t : {header.time_points - 1, std::int64_t{0}, header.time_points / 2}) {  // out of order
        EXPECT_TRUE(file.read(t).voxels == voxels_of(header, t)) << "time point " << t;
    }
}

// A format variant: ending, storage, and a tag that distinguishes files with the same ending.
struct Form {
    std::string ending;
    ImageStorage storage;
    std::string remark;
};

std::vector<Form> all_forms() {
    std::vector<Form> all;
    const auto add = [&](const char* ending, Compression compression, const char* remark, const char* version = "") {
        Form& form = all.emplace_back();
        form.ending = ending;
        form.storage.compression = compression;
        form.storage.ome_version = version;
        form.remark = remark;
    };
    for (const char* ending : {".nrrd", ".nii", ".nii.gz", ".ome.tif", ".mha", ".h5", ".npy", ".ome.zarr"}) {
        add(ending, Compression::automatic, "");
    }
    add(".nrrd", Compression::gzip, "gzip");
    add(".tif", Compression::gzip, "gzip");
    add(".h5", Compression::none, "none");
    add(".ome.zarr", Compression::blosc, "blosc");
    add(".ome.zarr", Compression::gzip, "gzip");
    add(".ome.zarr", Compression::none, "none");
    add(".ome.zarr", Compression::automatic, "05", "0.5");
    add(".ome.zarr", Compression::blosc, "05blosc", "0.5");
    add(".ome.zarr", Compression::gzip, "05gzip", "0.5");
    add(".ome.zarr", Compression::none, "05none", "0.5");
    return all;
}

const std::vector<Form>& forms() {
    static const std::vector<Form> all = all_forms();
    return all;
}

std::string file_name(const std::string& type, const Form& form) {
    return type + (form.remark.empty() ? "" : "-" + form.remark) + form.ending;
}

// Calls use(name, type, form) for every combination that a format supports.
void for_each_file(const std::function<void(const std::string&, VoxelType, const Form&)>& use) {
    for (const auto& [name, type] : types) {
        for (const Form& form : forms()) {
            if (type == VoxelType::complex64 && form.ending.ends_with(".tif")) continue;
            use(file_name(name, form), type, form);
        }
    }
}

int run_peers(const std::string& what, const std::filesystem::path& folder) {
    const std::filesystem::path python = ECHOLUX_SOURCE_DIR "/build/python/bin/python";
    if (!std::filesystem::exists(ECHOLUX_SOURCE_DIR "/build/python/made")) return 77 << 8;
    const std::string command =
        python.string() + " -B '" ECHOLUX_TEST_DIR "/format_peers.py' " + what + " '" + folder.string() + "'";
    return std::system(command.c_str());
}

constexpr int peers_missing = 77 << 8;
constexpr const char* missing = "build/python with zarr, ome-zarr, pynrrd, ... is not there: ./dev test makes it";

class VolumeFormatsTest : public testing::Test {
  protected:
    TemporaryFolder folder_;
};

TEST_F(VolumeFormatsTest, RoundTripsSeries) {
    for_each_file([&](const std::string& name, VoxelType type, const Form& form) {
        SCOPED_TRACE(name);
        const SeriesHeader header = small_series(type);
        write_series(folder_ / name, header, form.storage);
        SeriesFile file(folder_ / name);
        expect_same_voxels(file, header);
        if (form.ending == ".npy") return;  // cannot store more
        SeriesHeader back = file.header();
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(back.grid.spacing_um[i], header.grid.spacing_um[i], 1e-5);
        }
        EXPECT_NEAR(back.grid.first_depth_um, 120, 1e-5);
        EXPECT_EQ(back.step_s, 0.25);
        EXPECT_TRUE(back.times_s.empty());
        back.grid.spacing_um = header.grid.spacing_um;
        back.grid.first_depth_um = header.grid.first_depth_um;
        EXPECT_TRUE(back.grid == header.grid);
        EXPECT_EQ(back.provenance, header.provenance);
    });
}

TEST_F(VolumeFormatsTest, UnevenTimesAndUnknownSpacingsAreKept) {
    SeriesHeader header = small_series(VoxelType::u8);
    header.grid.spacing_um = {3, 0, 0};
    header.step_s = 0;
    header.times_s = {0.5, 0.75, 1.625};
    for (const Form& form : forms()) {
        if (form.ending == ".npy") continue;
        const std::string name = file_name("v", form);
        SCOPED_TRACE(name);
        write_series(folder_ / name, header, form.storage);
        SeriesFile file(folder_ / name);
        EXPECT_THAT(file.header().times_s, ElementsAre(0.5, 0.75, 1.625));
        EXPECT_EQ(file.step_s(), 0);
        EXPECT_NEAR(file.header().grid.spacing_um[0], 3, 1e-5);
        EXPECT_EQ(file.header().grid.spacing_um[1], 0);
        EXPECT_EQ(file.header().grid.spacing_um[2], 0);
    }
}

// Returns the voxel at a position of a box.
template <class Voxel>
Voxel voxel_at(const std::vector<std::byte>& voxels, std::int64_t place) {
    Voxel voxel;
    std::memcpy(&voxel, voxels.data() + place * static_cast<std::int64_t>(sizeof(Voxel)), sizeof(Voxel));
    return voxel;
}

TEST_F(VolumeFormatsTest, ReadsBoxesAndLevelsSeparately) {
    SeriesHeader header = small_series(VoxelType::u16);
    header.grid.a_scans = 70;
    header.grid.depth = 131;
    header.grid.b_scans = 66;
    header.time_points = 2;
    for (const std::string name : {"v.ome.zarr", "v.h5"}) {
        SCOPED_TRACE(name);
        write_series(folder_ / name, header);
        SeriesFile file(folder_ / name);
        ASSERT_TRUE(file.reads_boxes());
        const VolumeBox box{{60, 70}, {3, 67}, {63, 66}};  // across chunks
        const std::vector<std::byte> part = file.read_box(1, 0, box), whole = voxels_of(header, 1);
        ASSERT_EQ(part.size(), 10u * 64 * 3 * 2);
        std::int64_t place = 0;
        for (std::int64_t b = box.b_scans.begin; b < box.b_scans.end; ++b) {
            for (std::int64_t a = box.a_scans.begin; a < box.a_scans.end; ++a) {
                for (std::int64_t z = box.depth.begin; z < box.depth.end; ++z, ++place) {
                    ASSERT_EQ(voxel_at<std::uint16_t>(part, place),
                              voxel_at<std::uint16_t>(whole, (b * header.grid.a_scans + a) * header.grid.depth + z));
                }
            }
        }
        EXPECT_EQ(error_of([&] { file.read_box(0, 0, {{0, 132}, {0, 1}, {0, 1}}); }).code, ErrorCode::bad_setting);
        EXPECT_EQ(error_of([&] { file.read_box(2, 0, box); }).code, ErrorCode::bad_setting);
        EXPECT_EQ(error_of([&] { file.read_box(0, 3, box); }).code, ErrorCode::bad_setting);
    }
    SeriesFile file(folder_ / "v.ome.zarr");
    ASSERT_EQ(file.levels().size(), 3u);  // 131, 66, 33
    const VolumeGrid& coarse = file.levels()[1];
    EXPECT_EQ(coarse.depth, 66);
    EXPECT_EQ(coarse.a_scans, 35);
    EXPECT_EQ(coarse.b_scans, 33);
    EXPECT_NEAR(coarse.spacing_um[0], 6, 1e-9);
    EXPECT_NEAR(coarse.first_depth_um, 121.5, 1e-9);
    const std::vector<std::byte> voxel = file.read_box(1, 1, {{5, 6}, {2, 3}, {1, 2}}), whole = voxels_of(header, 1);
    double sum = 0;
    for (const std::int64_t b : {2, 3}) {
        for (const std::int64_t a : {4, 5}) {
            for (const std::int64_t z : {10, 11}) sum += voxel_at<std::uint16_t>(whole, (b * 70 + a) * 131 + z);
        }
    }
    EXPECT_EQ(voxel_at<std::uint16_t>(voxel, 0), std::floor(sum / 8 + 0.5));
}

TEST_F(VolumeFormatsTest, LeavesNoFileWithoutFinish) {
    const SeriesHeader header = small_series(VoxelType::u16);
    const std::vector<std::byte> voxels = voxels_of(header, 0);
    for (const Form& form : forms()) {
        SCOPED_TRACE(form.ending + form.remark);
        {
            SeriesWriter writer(folder_ / ("v" + form.ending), header, form.storage);
            writer.write(voxels);
            EXPECT_EQ(error_of([&] { writer.finish(); }).code, ErrorCode::output);  // two are missing
            writer.write(voxels);
            writer.write(voxels);
            EXPECT_EQ(error_of([&] { writer.write(voxels); }).code, ErrorCode::bad_setting);
        }
        EXPECT_EQ(folder_.entries(), 0u);
    }
}

TEST_F(VolumeFormatsTest, KeepsForeignFolders) {
    const SeriesHeader header = small_series(VoxelType::u8);
    std::filesystem::create_directories(folder_ / "v.zarr");
    write_series(folder_ / "v.zarr", header);  // an empty folder is replaced
    std::filesystem::create_directories(folder_ / "mine.zarr");
    folder_.write("mine.zarr/thesis.tex", "years of work");
    const Caught caught = error_of([&] { write_series(folder_ / "mine.zarr", header); });
    EXPECT_EQ(caught.code, ErrorCode::output);
    EXPECT_THAT(caught.line, HasSubstr("mine.zarr: already exists and contains other files"));
    EXPECT_TRUE(std::filesystem::exists(folder_ / "mine.zarr/thesis.tex"));
    SeriesHeader other = header;
    other.grid.b_scans = 3;
    write_series(folder_ / "v.zarr/", other);
    EXPECT_EQ(SeriesFile(folder_ / "v.zarr").header().grid.b_scans, 3);
    EXPECT_EQ(folder_.entries(), 2u);
}

TEST_F(VolumeFormatsTest, DamagedChunksAndStrangeMetadataAreRefused) {
    const SeriesHeader header = small_series(VoxelType::u16);
    const auto reading = [&](const std::string& name) { return error_of([&] { SeriesFile(folder_ / name).read(0); }); };
    for (const Form& form : forms()) {
        const bool has_sum = form.ending == ".ome.zarr" && form.remark != "none" && form.remark != "blosc";
        if (!has_sum) continue;
        SCOPED_TRACE(form.remark);
        write_series(folder_ / "v.ome.zarr", header, form.storage);
        const bool zarr3 = form.storage.ome_version == "0.5";
        const std::filesystem::path chunk = folder_ / (zarr3 ? "v.ome.zarr/0/c/0/0/0/0" : "v.ome.zarr/0/0/0/0/0");
        std::fstream stream(chunk, std::ios::binary | std::ios::in | std::ios::out);
        const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(chunk) / 2);
        const char before = static_cast<char>(stream.seekg(middle).get());
        stream.seekp(middle).put(static_cast<char>(before ^ 16));
        stream.close();
        const Caught caught = reading("v.ome.zarr");
        EXPECT_EQ(caught.code, ErrorCode::bad_file);
        EXPECT_THAT(caught.line, HasSubstr(zarr3 ? "0/c/0/0/0/0: is damaged" : "0/0/0/0/0: is damaged"));
        EXPECT_TRUE(SeriesFile(folder_ / "v.ome.zarr").read(1).voxels == voxels_of(header, 1)) << "others are fine";
    }
    const auto with_array = [&](const std::string& array) {
        std::filesystem::create_directories(folder_ / "w.zarr");
        folder_.write("w.zarr/.zarray", array);
        return reading("w.zarr").line;
    };
    EXPECT_THAT(with_array("{}"), HasSubstr("w.zarr: describes its array in an unsupported way"));
    EXPECT_THAT(with_array("[[[["), HasSubstr("is not JSON"));
    EXPECT_THAT(with_array(R"({"shape": [9000000000000000000, 9000000000000000000, 2], "chunks": [64, 64, 64],
                           "dtype": "<u2", "compressor": null, "fill_value": 0})"),
                HasSubstr("has impossible sizes of array or chunks"));
    EXPECT_THAT(
        with_array(R"({"shape": [1e300, -1e300, 2], "chunks": [1e19, 64, 64], "dtype": "<u2", "compressor": null})"),
        HasSubstr("has impossible sizes of array or chunks"));
    EXPECT_THAT(with_array(R"({"shape": [4.5, 4, 4], "chunks": [4, 4, 4], "dtype": "<u2", "compressor": null})"),
                HasSubstr("has impossible sizes of array or chunks"));
    EXPECT_THAT(with_array(R"({"shape": [100000, 100000, 100000], "chunks": [64, 64, 64], "dtype": "<u2",
                           "compressor": null, "fill_value": 0})"),
                HasSubstr("of memory"));
    EXPECT_THAT(with_array(R"({"shape": [1000, 1000, 1000], "chunks": [1, 1, 1], "dtype": "<u2", "compressor": null})"),
                HasSubstr("has millions of tiny chunks"));
    EXPECT_THAT(with_array(R"({"shape": [4, 4, 4], "chunks": [1000, 1000, 1000], "dtype": "<u2",
                           "compressor": {"id": "lzma"}, "fill_value": 0})"),
                HasSubstr("compressed with \"lzma\""));
    write_series(folder_ / "x.ome.zarr", header);
    folder_.write("x.ome.zarr/.zattrs",
                  R"({"multiscales": [{"axes": ["z", "y", "x"], "datasets": [{"path": "../w.zarr"}]}]})");
    EXPECT_THAT(reading("x.ome.zarr").line, HasSubstr("outside its folder"));
}

TEST_F(VolumeFormatsTest, OtherProgramsReadSameVoxels) {
    for_each_file([&](const std::string& name, VoxelType type, const Form& form) {
        write_series(folder_ / name, small_series(type), form.storage);
    });
    SeriesHeader large = small_series(VoxelType::u16);  // several chunks and levels
    large.grid.a_scans = 70;
    large.grid.depth = 67;
    large.grid.b_scans = 66;
    large.time_points = 2;
    write_series(folder_ / "u16-large.ome.zarr", large);
    write_series(folder_ / "u16-large05.ome.zarr", large, {Compression::automatic, "0.5"});
    large.grid.type = VoxelType::i16;  // means of negative codes
    write_series(folder_ / "i16-large.ome.zarr", large);
    const int status = run_peers("check", folder_.path());
    if (status == peers_missing) GTEST_SKIP() << missing;
    EXPECT_EQ(status, 0);
}

TEST_F(VolumeFormatsTest, ReadsFilesOfOtherPrograms) {
    const int status = run_peers("make", folder_.path());
    if (status == peers_missing) GTEST_SKIP() << missing;
    ASSERT_EQ(status, 0);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
        const std::string name = entry.path().filename().string();
        SCOPED_TRACE(name);
        if (name.ends_with(".raw") || name.ends_with(".bin")) continue;  // voxels in a file separate from their header
        ++files;
        const auto type =
            std::ranges::find(types, name.substr(0, name.find('-')), &std::pair<const char*, VoxelType>::first);
        ASSERT_NE(type, std::end(types));
        SeriesFile file(entry.path());
        SeriesHeader header = small_series(type->second);
        if (name.starts_with("u16-holes")) {  // the fill value
            const std::vector<std::byte> filled = file.read(1).voxels;
            std::uint16_t voxel = 0;
            std::memcpy(&voxel, filled.data() + filled.size() - 2, 2);
            EXPECT_EQ(voxel, 1234);
            EXPECT_TRUE(file.read(2).voxels == voxels_of(header, 2));
            continue;
        }
        expect_same_voxels(file, header);
        if (name.find("spaced") == std::string::npos && name != "u16-chunks.hdf5") continue;
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(file.header().grid.spacing_um[i], header.grid.spacing_um[i], 1e-4);
        }
        EXPECT_NEAR(file.step_s(), name == "u16-chunks.hdf5" ? 0 : 0.25, 1e-7);
    }
    EXPECT_GT(files, 30);
}

// ---- Zarr shards with invalid indexes -------------------------------------------------------------------------------

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
