// Archives of arrays written byte by byte, and errors of boundaries counted by hand. Recordings of ECHOLUX_DATA are
// compared in tests/cli/test_validate.py.
#include "engine/validation/real_recordings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <span>

#include "compute/error.h"
#include "engine/io/npz_file.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

template <class T>
std::string bytes_of(T value) {
    std::string bytes(sizeof(value), '\0');
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
}

// Bytes of an .npy file.
template <class T>
std::string array_bytes(const std::string& type, const std::string& shape, const std::vector<T>& values) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
    std::string bytes =
        std::string("\x93NUMPY\x01\0", 8) + bytes_of(static_cast<std::uint16_t>(header.size())) + header;
    for (const T value : values) bytes += bytes_of(value);
    return bytes;
}

// A ZIP archive without compression.
class Archive {
  public:
    void add(const std::string& name, const std::string& data) {
        const std::string sizes = bytes_of(std::uint32_t{0}) + bytes_of(static_cast<std::uint32_t>(data.size())) +
                                  bytes_of(static_cast<std::uint32_t>(data.size())) +
                                  bytes_of(static_cast<std::uint16_t>(name.size() + 4)) + bytes_of(std::uint16_t{0});
        directory_ += "PK\x01\x02" + std::string(12, '\0') + sizes + std::string(10, '\0') +
                      bytes_of(static_cast<std::uint32_t>(files_.size())) + name + ".npy";
        files_ += "PK\x03\x04" + std::string(10, '\0') + sizes + name + ".npy" + data;
        ++count_;
    }

    std::string bytes() const {
        return files_ + directory_ + "PK\x05\x06" + std::string(4, '\0') + bytes_of(count_) + bytes_of(count_) +
               bytes_of(static_cast<std::uint32_t>(directory_.size())) +
               bytes_of(static_cast<std::uint32_t>(files_.size())) + std::string(2, '\0');
    }

  private:
    std::string files_, directory_;
    std::uint16_t count_ = 0;
};

class RealRecordings : public ::testing::Test {
  protected:
    std::filesystem::path written(const std::string& bytes) {
        const std::filesystem::path path = folder_.path() / "r.npz";
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

    TemporaryFolder folder_;
};

TEST_F(RealRecordings, ReadArraysOfArchive) {
    Archive archive;
    archive.add("a", array_bytes<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, NAN}));
    archive.add("name", array_bytes<std::uint32_t>("<U3", "(2,)", {'I', 'L', 'M', 'B', 'M', 0}));
    archive.add("half", array_bytes<std::uint16_t>("<f2", "()", {0x3800}));
    NpzFile file(written(archive.bytes()));
    const NpzArray a = file.array("a");
    EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(a.numbers[4], 5);
    EXPECT_TRUE(std::isnan(a.numbers[5]));
    EXPECT_EQ(file.array("name").texts, (std::vector<std::string>{"ILM", "BM"}));
    EXPECT_EQ(file.array("half").numbers, std::vector<double>{0.5});
    EXPECT_THROW(file.array("b"), Error);
}

TEST_F(RealRecordings, RefuseDamagedArchives) {
    Archive archive;
    archive.add("a", array_bytes<float>("<f4", "(2, 3)", {1, 2, 3}));
    archive.add("big", array_bytes<float>(">f4", "(1,)", {1}));
    archive.add("many", array_bytes<float>("<f4", "(99999999, 99999999)", {1}));
    const std::string bytes = archive.bytes();
    NpzFile file(written(bytes));
    for (const char* name : {"a", "big", "many"}) EXPECT_THROW(file.array(name), Error) << name;
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
        EXPECT_THROW(
            {
                NpzFile cut(written(bytes.substr(0, size)));
                cut.array("a");
            },
            Error)
            << size;
    }
}

TEST_F(RealRecordings, ReadEyesWithNamesOfPresets) {
    Archive archive;
    archive.add("image", array_bytes<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5}));
    archive.add("lines", array_bytes<float>("<f4", "(2, 3)", {0, 0, 0, 1, 1, NAN}));
    archive.add("line_names", array_bytes<std::uint32_t>("<U3", "(2,)", {'I', 'L', 'M', 'B', 'M', 0}));
    archive.add("scale_z_mm", array_bytes<double>("<f8", "()", {0.002}));
    const KnownRecording eye = read_known_recording(written(archive.bytes()));
    EXPECT_EQ(eye.volume.grid.depth, 2);
    EXPECT_EQ(eye.volume.grid.a_scans, 3);
    EXPECT_DOUBLE_EQ(eye.volume.grid.spacing_um[0], 2);
    EXPECT_EQ(reinterpret_cast<const float*>(eye.volume.voxels.data())[1], 3);
    ASSERT_EQ(eye.boundaries.size(), 2U);
    EXPECT_EQ(eye.boundaries[1].name, "RPE-bottom");
    EXPECT_EQ(eye.boundaries[1].rows[0], 1);
}

TEST_F(RealRecordings, CountErrorsOfBoundary) {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    const KnownBoundary known{"ILM", {10, 10, 10, 10, 10, 10, NAN}};
    const BoundaryErrors errors =
        errors_of({10, 13, 15, 30, none, 40, 10}, {true, true, false, true, false, false, true}, known);
    EXPECT_DOUBLE_EQ(errors.within_3, 2.0 / 6);
    EXPECT_DOUBLE_EQ(errors.within_5, 3.0 / 6);
    EXPECT_DOUBLE_EQ(errors.mean_rows, (0 + 3 + 5 + 20 + 30) / 5.0);
    EXPECT_DOUBLE_EQ(errors.ok, 3.0 / 6);
    EXPECT_DOUBLE_EQ(errors.false_ok, 1.0 / 3);
    EXPECT_TRUE(std::isnan(errors_of({none}, {false}, {"ILM", {3}}).mean_rows));
}

}  // namespace
}  // namespace echolux
