// Streaming raw spectra: correct bytes at any offset, and files that change or end early.
#include <algorithm>

#include "compute/indexing.h"
#include "engine/scan/scan.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using testing::HasSubstr;

class SpectraReaderTest : public testing::Test {
  protected:
    SpectraReaderTest() {
        set(scan_, "sample_format=u8 samples=4 a_scans=3 b_scans=2 b_repeats=2 volumes=2");
        scan_.path = folder_ / "scan.toml";
        scan_.spectra = folder_ / "s.raw";
    }

    // Writes bytes 0, 1, 2 ... of the described size.
    void write_counting_bytes() {
        const SpectraLayout layout = spectra_layout(scan_.file, scan_.format, scan_.geometry, "scan");
        std::string bytes(index(layout.file_bytes()), '\0');
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
        folder_.write("s.raw", bytes);
    }

    std::vector<int> read(std::int64_t volume, std::int64_t first, std::int64_t b_scans) {
        SpectraReader reader(scan_);
        std::vector<std::byte> bytes(index(b_scans * reader.bytes_per_b_scan()));
        reader.read(volume, first, b_scans, bytes);
        std::vector<int> counts;
        for (const std::byte byte : bytes) counts.push_back(std::to_integer<int>(byte));
        return counts;
    }

    static std::vector<int> counting(int first, int count) {
        std::vector<int> numbers;
        for (int i = 0; i < count; ++i) numbers.push_back((first + i) % 256);
        return numbers;
    }

    TemporaryFolder folder_;
    Scan scan_;
};

TEST_F(SpectraReaderTest, ReadsRepeatsOfBScans) {
    write_counting_bytes();
    EXPECT_EQ(read(0, 0, 1), counting(0, 24));
    EXPECT_EQ(read(1, 1, 1), counting(72, 24));
    EXPECT_EQ(read(1, 0, 2), counting(48, 48));
}

TEST_F(SpectraReaderTest, HeadersAreSkippedAndLineGapsKept) {
    scan_.file.offset_bytes = 7;
    scan_.file.frame_offset_bytes = 5;
    scan_.file.trailer_bytes = 3;
    scan_.format.line_bytes = 6;
    write_counting_bytes();
    std::vector<int> expected = counting(7 + 23 * 6 + 5, 18);  // frame 6 of 23 bytes is volume 1, B-scan 1
    const std::vector<int> repeat = counting(7 + 23 * 7 + 5, 18);
    expected.insert(expected.end(), repeat.begin(), repeat.end());
    EXPECT_EQ(read(1, 1, 1), expected);
}

TEST_F(SpectraReaderTest, FlybackIsSkipped) {
    set(scan_, "flyback_lines=2 flyback_frames=1");
    write_counting_bytes();
    std::vector<int> expected;  // frames of 20 bytes, 5 per volume: the last two of volume 1 that are not flyback
    for (const int frame : {7, 8}) {
        for (const int byte : counting(frame * 20, 12)) expected.push_back(byte);
    }
    EXPECT_EQ(read(1, 1, 1), expected);
}

TEST_F(SpectraReaderTest, RequestsOutsideOfScanAreRefused) {
    write_counting_bytes();
    SpectraReader reader(scan_);
    std::vector<std::byte> bytes(48);
    EXPECT_THROW(reader.read(2, 0, 2, bytes), Error);
    EXPECT_THROW(reader.read(-1, 0, 2, bytes), Error);
    EXPECT_THROW(reader.read(0, 1, 2, bytes), Error);
    EXPECT_THROW(reader.read(0, INT64_MAX, 2, bytes), Error);
    EXPECT_THROW(reader.read(0, 0, 1, bytes), Error);
    EXPECT_NO_THROW(reader.read(0, 0, 2, bytes));
}

TEST_F(SpectraReaderTest, ReportsFileThatChangesSizeWhileRead) {
    for (const std::uintmax_t size : {std::uintmax_t{96 + 48}, std::uintmax_t{95}}) {
        write_counting_bytes();
        SpectraReader reader(scan_);
        std::vector<std::byte> bytes(24);
        reader.read(0, 0, 1, bytes);
        std::filesystem::resize_file(scan_.spectra, size);
        const Caught caught = error_of([&] { reader.read(0, 1, 1, bytes); });
        EXPECT_EQ(caught.code, ErrorCode::bad_file);
        EXPECT_THAT(caught.line, HasSubstr("s.raw: changed from 96 to " + std::to_string(size) +
                                           " bytes while it was read (wait until the recording is complete)"));
    }
}

TEST_F(SpectraReaderTest, ReportsUnreadableFiles) {
    EXPECT_THAT(error_of([&] { SpectraReader reader(scan_); }).line, HasSubstr("s.raw: cannot be opened: No such"));
    folder_.zeros("s.raw", 95);
    EXPECT_THAT(error_of([&] { SpectraReader reader(scan_); }).line, HasSubstr("ends in volume 1, B-scan 1, A-scan 2"));
    scan_.spectra = folder_.path();
    EXPECT_THAT(error_of([&] { SpectraReader reader(scan_); }).line, HasSubstr("is not a file"));
}

// More than 2^31 samples and 2^32 bytes. The file is sparse, so only its last B-scan takes space and time.
TEST_F(SpectraReaderTest, OffsetsBeyond32BitsAreExact) {
    set(scan_, "sample_format=u16 samples=2048 a_scans=1024 b_scans=500 b_repeats=1 volumes=3");
    constexpr std::int64_t frame = 2048 * 1024 * 2;
    constexpr std::int64_t last = frame * (3 * 500 - 1);
    static_assert(last / 2 > std::int64_t{1} << 31);
    folder_.zeros("s.raw", static_cast<std::uintmax_t>(last + frame));
    std::fstream stream(scan_.spectra, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(last) << "first";
    stream.seekp(last + frame - 4) << "last";
    stream.close();

    SpectraReader reader(scan_);
    std::vector<std::byte> bytes(index(reader.bytes_per_b_scan()));
    reader.read(2, 499, 1, bytes);
    const auto text_at = [&](std::size_t place, std::size_t length) {
        std::string text(length, '\0');
        std::transform(bytes.begin() + static_cast<std::ptrdiff_t>(place),
                       bytes.begin() + static_cast<std::ptrdiff_t>(place + length), text.begin(),
                       [](std::byte byte) { return std::to_integer<char>(byte); });
        return text;
    };
    EXPECT_EQ(text_at(0, 5), "first");
    EXPECT_EQ(text_at(bytes.size() - 4, 4), "last");
    reader.read(2, 498, 1, bytes);
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; }));
}

}  // namespace
}  // namespace echolux
