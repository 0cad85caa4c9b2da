// Recordings on several disks: stripes hold the bytes of a plain recording, however it ends. Disks that are too slow
// are reported before a recording begins. Direct writes of any size give the bytes of a plain file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "engine/io/durable_file.h"
#include "engine/live/recording_files.h"
#include "engine/live/recording_writer.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"
#include "recorder_fixture.h"
#include "recording_disks.h"

namespace echolux {
namespace {

using Caching = DirectFile::Caching;
using testing::HasSubstr;

constexpr std::int64_t stripe = 4096;

// A file as left by a killed program: as long as the bytes written.
class NeverEndedFile final : public ForwardingFile {
  public:
    using ForwardingFile::ForwardingFile;
    void end_at(std::int64_t) override {}
};

class RecorderStripesTest : public RecorderTest {
  protected:
    RecorderStripesTest() {
        for (const char* disk : {"b", "c"}) std::filesystem::create_directory(folder_ / disk);
    }

    RecordingRequest striped(bool replaces = false) const {
        RecordingRequest with = wanted();
        with.stripe_folders = {folder_ / "b", folder_ / "c"};
        with.stripe_bytes = stripe;
        with.replace = replaces;
        with.max_blocks_held = 1000;
        return with;
    }

    static Bytes together(const std::vector<std::filesystem::path>& paths) {
        std::vector<Bytes> parts;
        for (const std::filesystem::path& path : paths) parts.push_back(bytes_of(path));
        Bytes whole;
        for (std::size_t turn = 0;; ++turn) {
            const Bytes& part = parts[turn % parts.size()];
            const std::size_t begin = turn / parts.size() * stripe;
            if (begin >= part.size()) return whole;
            const std::size_t end = std::min<std::size_t>(begin + stripe, part.size());
            whole.insert(whole.end(), part.begin() + static_cast<std::ptrdiff_t>(begin),
                         part.begin() + static_cast<std::ptrdiff_t>(end));
        }
    }

    // Returns tools that watch the raw files of one folder.
    static RecordingTools watching(const std::string& folder, const WatchedFile::Watch& watch) {
        RecordingTools tools = RecordingTools::real();
        tools.open_raw = [=, open = tools.open_raw](const std::filesystem::path& path) -> std::unique_ptr<DurableFile> {
            if (path.parent_path().filename() != folder) return open(path);
            return std::make_unique<WatchedFile>(open(path), watch, [] {});
        };
        return tools;
    }

    std::vector<std::filesystem::path> parts_{raw_, folder_ / "b" / "scan.stripe-2.raw",
                                              folder_ / "c" / "scan.stripe-3.raw"};
};

TEST_F(RecorderStripesTest, ContainSameBytesAsPlainRecording) {
    for (const std::int64_t blocks : {9, 8, 1}) {
        RecordingRequest again = striped(blocks < 9);
        {
            Recorder recorder(again);
            offer_slowly(recorder, 0, blocks);
            recorder.finish();
            EXPECT_EQ(line_of_problem(recorder), "");
        }
        const Scan scan = open_scan(toml_);
        ASSERT_EQ(scan.stripes.size(), 2U);
        const std::vector<std::filesystem::path> parts{scan.spectra, scan.stripes[0], scan.stripes[1]};
        EXPECT_EQ(together(parts), source_.file(blocks));
        EXPECT_TRUE(scan.recording.complete);
        expect_opens_with(toml_, source_, blocks);
        std::uintmax_t smallest = source_.file(blocks).size();
        for (const auto& part : parts) smallest = std::min(smallest, std::filesystem::file_size(part));
        EXPECT_GE(smallest + stripe, source_.file(blocks).size() / 3) << "all disks have their share";
    }
}

TEST_F(RecorderStripesTest, NamesMissingOrTruncatedPart) {
    record(striped(), 6);
    std::filesystem::resize_file(parts_[1], std::filesystem::file_size(parts_[1]) - 1);
    EXPECT_THAT(error_of([&] { open_scan(toml_); }).line,
                HasSubstr("scan.stripe-2.raw, part 2 of 3 of the spectra: ends in volume 1"));
    std::filesystem::remove(parts_[2]);
    EXPECT_THAT(error_of([&] { open_scan(toml_); }).line,
                HasSubstr("scan.stripe-3.raw does not exist, which holds part 3 of 3 of the spectra"));
}

TEST_F(RecorderStripesTest, RejectsMissingFolderWithoutLeavingFiles) {
    RecordingRequest wanted = striped();
    wanted.stripe_folders[1] = folder_ / "not-mounted";
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted); }).line, HasSubstr("there is no folder"));
    put(parts_[1], source_.file(1));
    EXPECT_THAT(error_of([&] { Recorder recorder(striped()); }).line, HasSubstr("scan.stripe-2.raw: already exists"));
    EXPECT_EQ(bytes_of(parts_[1]), source_.file(1));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

TEST_F(RecorderStripesTest, RejectsPartsOfDifferentRecordings) {
    record(striped(), 6);
    const Bytes second = bytes_of(parts_[1]), third = bytes_of(parts_[2]);
    const auto opened_with = [&](const std::filesystem::path& one, const std::filesystem::path& other) {
        return error_of([&] { open_scan(toml_, std::vector{"scan.stripes=" + one.string() + ";" + other.string()}); })
            .line;
    };
    EXPECT_THAT(opened_with(parts_[1], parts_[1]), HasSubstr("scan.stripe-2.raw twice"));
    EXPECT_THAT(opened_with(parts_[1], raw_), HasSubstr("scan.raw twice"));
    std::string many = "a";
    for (std::size_t file = 2; file <= max_parts; ++file) many += ";a";
    EXPECT_THAT(error_of([&] { open_scan(toml_, std::vector{"scan.stripes=" + many}); }).line, HasSubstr("at most 63"));
    EXPECT_THAT(error_of([&] { open_scan(toml_, std::vector<std::string>{"scan.stripe_bytes=2147483648"}); }).line,
                HasSubstr("scan.stripe_bytes"));
    put(parts_[1], third);
    put(parts_[2], second);
    EXPECT_THAT(error_of([&] { open_scan(toml_); }).line, HasSubstr("do not contain block 0 as described in"));
    put(parts_[1], second);
    put(parts_[2], third);
    EXPECT_NO_THROW(open_scan(toml_));
}

TEST_F(RecorderStripesTest, RejectsSameFolderTwice) {
    RecordingRequest wanted = striped();
    wanted.stripe_folders = {folder_ / "b", folder_ / "c" / ".." / "b"};
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted); }).line, HasSubstr("is named twice"));
    wanted.stripe_folders.assign(max_parts, folder_ / "b");
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted); }).line, HasSubstr("name at most 63"));
    wanted = striped();
    wanted.scan_toml = folder_ / "rec" / "a;b.toml";
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted); }).line, HasSubstr("semicolon"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

// All three folders are on one disk.
TEST_F(RecorderStripesTest, SumsRoomPerDisk) {
    RecordingRequest wanted = striped();
    const auto bytes = static_cast<std::int64_t>(std::filesystem::space(folder_ / "rec").available);
    wanted.expected_bytes = bytes + bytes / 2;
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted); }).line, HasSubstr("GB are free"));
}

// Missing blocks leave a hole, and the recording opens behind it however few of its bytes a disk has. The last block of
// a volume is so small that one disk has none of it.
TEST_F(RecorderStripesTest, HolesAreZerosAfterPowerCut) {
    RecordingTools killed = RecordingTools::real();
    killed.open_raw = [open = killed.open_index](const std::filesystem::path& path) {  // cached: exact length
        return std::make_unique<NeverEndedFile>(open(path));
    };
    for (std::int64_t last = 2; last < 9; ++last) {
        SCOPED_TRACE(last);
        Bytes unfinished;
        {
            Recorder recorder(striped(last > 2), killed);
            unfinished = bytes_of(toml_);
            offer_slowly(recorder, 0, 1);
            Block late = source_.block(last);
            late.lost_before = last - 1;
            ASSERT_TRUE(recorder.offer(late));
            recorder.finish();
        }
        put(toml_, unfinished);
        std::vector<std::int64_t> missing;
        for (std::int64_t number = 1; number < last; ++number) missing.push_back(number);
        const Scan scan = open_scan(toml_);
        EXPECT_EQ(scan.recording.last_volume_b_scans, (last + 1) % 3 * 3);
        const Bytes whole = source_.file(last + 1, missing);
        Bytes found(whole.size());
        RawBytes(scan).read(0, found);
        EXPECT_EQ(found, whole);
    }
}

TEST_F(RecorderStripesTest, EachPartHasItsLengthAfterEachWrite) {
    std::vector<std::unique_ptr<DurableFile>> files;
    const RecordingTools tools = RecordingTools::real();
    for (const auto& path : parts_) files.push_back(tools.open_index(path));  // cached: exact length
    StripedFile file(std::move(files), stripe);
    const Striping striping(parts_.size(), stripe);
    const Bytes some(100, std::byte{7});
    for (const std::int64_t place : {std::int64_t{0}, stripe - 50, 5 * stripe + 1, 11 * stripe, 29 * stripe}) {
        file.write(place, some);
        for (std::size_t part = 0; part < parts_.size(); ++part) {
            const auto size = static_cast<std::int64_t>(std::filesystem::file_size(parts_[part]));
            EXPECT_EQ(size, striping.bytes_of(part, place + 100)) << "part " << part << ", place " << place;
        }
    }
}

TEST_F(RecorderStripesTest, FullDiskCostsOnlyItsBlocks) {
    std::atomic<bool> is_full = false;
    Recorder recorder(striped(), watching("c", [&](std::int64_t, std::span<const std::byte>) {
                          if (is_full) throw Error(ErrorCode::output, "cannot be written: no space", "c");
                      }));
    offer_slowly(recorder, 0, 3);
    is_full = true;
    recorder.offer(source_.block(3));
    ASSERT_TRUE(becomes_true([&] { return recorder.stats().failed_blocks == 1; }));
    is_full = false;
    for (std::int64_t number = 4; number < 9; ++number) {
        recorder.offer(source_.block(number));
        ASSERT_TRUE(becomes_true([&] { return recorder.stats().blocks_held == 0; }));
    }
    recorder.finish();
    EXPECT_EQ(recorder.stats().missing_blocks, 1);
    EXPECT_THAT(line_of_problem(recorder), HasSubstr("no space"));
    const Bytes expected = source_.file(9, {3}), found = together(parts_);
    ASSERT_EQ(found.size(), expected.size());
    const std::int64_t hole = source_.volume_bytes(), behind = hole + source_.block(3).bytes;
    EXPECT_TRUE(std::equal(found.begin(), found.begin() + hole, expected.begin()));
    EXPECT_TRUE(std::equal(found.begin() + behind, found.end(), expected.begin() + behind));
}

TEST_F(RecorderStripesTest, KeepsReplacedStripesUntilFirstBlockIsOnDisks) {
    record(striped(), 6);
    {
        const Recorder recorder(striped(true));  // no block comes
        expect_opens_with(folder_ / "rec" / "scan.before" / "scan.toml", source_, 6);
    }
    expect_opens_with(toml_, source_, 6);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "c" / "scan.stripe-3-2.raw"));
    record(striped(true), 3);
    expect_opens_with(toml_, source_, 3);
    EXPECT_FALSE(std::filesystem::exists(parts_[2])) << "of the one before";
    EXPECT_TRUE(std::filesystem::exists(folder_ / "c" / "scan.stripe-3-2.raw"));
}

// A TOML by another author may name anything.
TEST_F(RecorderStripesTest, KeepsForeignFilesNamedByToml) {
    put(folder_ / "b" / "thesis.raw", source_.file(1));
    folder_.write("rec/scan.toml", "[scan]\nfile = \"scan.raw\"\nstripes = \"" +
                                       (folder_ / "b" / "thesis.raw").string() +
                                       "\"\n[recording]\nindex = \"scan.index.csv\"\n");
    record(striped(true), 3);
    expect_opens_with(toml_, source_, 3);
    EXPECT_EQ(bytes_of(folder_ / "b" / "thesis.raw"), source_.file(1));
}

// The copy names the stripes of its original.
TEST_F(RecorderStripesTest, ReplacedCopyKeepsStripesOfOriginal) {
    record(striped(), 6);
    std::filesystem::copy(folder_ / "rec", folder_ / "copy");
    RecordingRequest over_copy = striped(true);
    over_copy.scan_toml = folder_ / "copy" / "scan.toml";
    {
        Recorder recorder(over_copy);
        offer_slowly(recorder, 0, 3);
        recorder.finish();
        EXPECT_THAT(recorder.stats().stripes_left, HasSubstr("may belong to a recording in another folder"));
        EXPECT_THAT(recorder.stats().stripes_left, HasSubstr(parts_[1].string() + ";" + parts_[2].string()));
    }
    expect_opens_with(over_copy.scan_toml, source_, 3);
    expect_opens_with(toml_, source_, 6);
}

TEST_F(RecorderStripesTest, ReportsStripesThatCannotBeRemoved) {
    record(striped(), 6);
    std::filesystem::remove(parts_[2]);
    std::filesystem::create_directories(parts_[2] / "not empty");
    Recorder recorder(striped(true));
    offer_slowly(recorder, 0, 3);
    EXPECT_EQ(recorder.stats().stripes_left, "") << "before it has ended";
    recorder.finish();
    EXPECT_THAT(recorder.stats().stripes_left, HasSubstr("cannot be removed: " + parts_[2].string()));
    EXPECT_FALSE(std::filesystem::exists(parts_[1]));
    expect_opens_with(toml_, source_, 3);
}

TEST_F(RecorderStripesTest, OpensAfterKill9) {
    const std::int64_t written = blocks_written_until_kill_9(striped(), source_, 100);
    const std::int64_t blocks = std::ssize(rows());
    EXPECT_GE(blocks, written) << "every block that was said to be written";
    expect_opens_with(toml_, source_, blocks);
}

// Uses a clock that advances only while a disk works.
class DiskRateTest : public RecorderTest {
  protected:
    DiskRateTest() { std::filesystem::create_directory(folder_ / "b"); }

    using Seconds = std::function<double(double bytes)>;

    // `written` is the time of each write, `flushed` that of flushing the bytes since the last flush.
    RecordingTools disk(const Seconds& written, const Seconds& flushed) {
        const auto on_write = [=, this](std::int64_t, std::span<const std::byte> bytes) {
            EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec")) << "a killed trial would leave a file";
            unflushed_ = unflushed_ + static_cast<double>(bytes.size());
            written_ = written_ + static_cast<double>(bytes.size());
            clock_s_ = clock_s_ + written(static_cast<double>(bytes.size()));
        };
        RecordingTools tools =
            watched_raw(on_write, [=, this] { clock_s_ = clock_s_ + flushed(unflushed_.exchange(0)); });
        tools.seconds = [this] { return clock_s_.load(); };
        return tools;
    }
    static Seconds at(double bytes_per_s) {
        return [=](double bytes) { return bytes / bytes_per_s; };
    }
    static double in_no_time(double) { return 0; }

    // Writes 4 MiB per second.
    RecordingTools slow() { return disk(at(4 << 20), in_no_time); }

    std::optional<double> tried(const RecordingTools& tools, std::int64_t max_bytes = 1 << 30) const {
        return measured_disk_rate({raw_}, usual_stripe_bytes, max_bytes, tools);
    }

    // 250 MB/s for 0.4 s: a million lines of 192 bytes per second, with a header of 32 bytes per eleven lines.
    RecordingRequest fast() const {
        RecordingRequest with = wanted();
        with.line_rate_hz = 1e6 * 250 / (192 + 32.0 / 11);
        with.expected_bytes = 100'000'000;
        return with;
    }

    std::atomic<double> clock_s_ = 0, unflushed_ = 0, written_ = 0;
};

TEST_F(DiskRateTest, RejectsSlowDisksWithBothRates) {
    EXPECT_NEAR(bytes_per_s(fast().scan, fast().line_rate_hz), 250e6, 1);
    const std::string line = error_of([&] { Recorder recorder(fast(), slow()); }).line;
    EXPECT_THAT(line, HasSubstr("spectra arrive at 0.25 GB/s, the disk sustains 0.00419 GB/s"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
}

// A trigger may pause the recording, so it is not refused.
TEST_F(DiskRateTest, WarnsOfInsufficientDiskForUnlimitedRecording) {
    RecordingRequest endless = fast();
    endless.expected_bytes = 0;
    const Recorder recorder(endless, slow());
    EXPECT_THAT(recorder.notice(), HasSubstr("the disk sustains 0.00419 GB/s: blocks will be lost"));
}

TEST_F(DiskRateTest, AcceptsShortRecordingThatFitsHeldBlocks) {
    RecordingRequest wanted = fast();
    wanted.expected_bytes = 10'000'000;
    wanted.held_bytes = 9'800'000;
    EXPECT_THAT(error_of([&] { Recorder recorder(wanted, slow()); }).line, HasSubstr("spectra arrive at"));
    wanted.held_bytes = 9'900'000;
    Recorder recorder(wanted, slow());
    EXPECT_THAT(recorder.notice(), HasSubstr("the disk sustains 0.00419 GB/s"));
}

TEST_F(DiskRateTest, SlowSourceSkipsMeasurement) {
    RecordingRequest wanted = fast();
    wanted.line_rate_hz = 1e5;
    Recorder recorder(wanted, slow());
    EXPECT_EQ(recorder.notice(), "");
    EXPECT_EQ(clock_s_, 0);
}

TEST_F(DiskRateTest, IncludesTimeOfFlush) {
    EXPECT_NEAR(tried(disk(at(1e12), at(200e6))).value(), 200e6, 1e6);
    EXPECT_NEAR(tried(disk(at(200e6), in_no_time)).value(), 200e6, 1e6);
}

TEST_F(DiskRateTest, MeasuresInUnderHalfSecond) {
    for (const double bytes_per_s : {40e6, 100e6, 400e6}) {
        clock_s_ = 0;
        EXPECT_NEAR(tried(disk(at(bytes_per_s), in_no_time)).value(), bytes_per_s, 0.01 * bytes_per_s);
        EXPECT_GE(clock_s_, 0.2);
        EXPECT_LE(clock_s_, 0.5);
    }
}

TEST_F(DiskRateTest, KeepsRoomForRecording) {
    EXPECT_FALSE(tried(disk(in_no_time, in_no_time), 31 << 20));
    EXPECT_EQ(written_, 0);
    EXPECT_TRUE(tried(disk(in_no_time, in_no_time), 100 << 20));
    EXPECT_GT(written_, 50 << 20);
    EXPECT_LE(written_, 100 << 20);
    Scan recorded = source_.scan();
    recorded.spectra = raw_;
    const std::vector<DiskRoom> full{{raw_, 100'000'000, 150'000'000}}, roomy{{raw_, 100'000'000, 500'000'000}};
    EXPECT_EQ(check_disk_rate(fast(), recorded, full, slow()), "");
    EXPECT_THAT(error_of([&] { check_disk_rate(fast(), recorded, roomy, slow()); }).line, HasSubstr("GB/s"));
}

TEST_F(DiskRateTest, MeasuresStripesTogetherAndRemovesTestFiles) {
    const std::vector<std::filesystem::path> parts{raw_, folder_ / "b" / "scan.stripe-2.raw"};
    EXPECT_GT(measured_disk_rate(parts, usual_stripe_bytes, 1 << 28, RecordingTools::real()).value(), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "rec"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "b"));
    RecordingRequest striped = fast();
    striped.stripe_folders = {folder_ / "b"};
    EXPECT_THAT(error_of([&] { Recorder recorder(striped, slow()); }).line, HasSubstr("the disks together sustain"));
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "b"));
}

// True if the file system supports direct writes.
bool can_be_direct(const std::filesystem::path& path) {
    const int descriptor = open(path.c_str(), O_CREAT | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

std::int64_t bytes_on_disk(const std::filesystem::path& path) {
    struct stat facts {};
    stat(path.c_str(), &facts);
    return facts.st_blocks * 512;
}

class DirectFileTest : public testing::TestWithParam<Caching> {
  protected:
    DirectFileTest() {
        memory_ = block_memory(1 << 20, MemoryKind::host);
        for (std::int64_t i = 0; i < memory_.bytes; ++i) memory_.data[i] = static_cast<std::byte>(random_() % 255 + 1);
    }

    // Writes from offset `memory` of the buffer to `place` of the file, and updates the expected content.
    void write(DirectFile& file, std::int64_t place, std::int64_t memory, std::int64_t bytes) {
        const std::span piece(memory_.data + memory, index(bytes));
        file.write(place, piece);
        expected_.resize(index(place));
        expected_.insert(expected_.end(), piece.begin(), piece.end());
    }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "file";
    BlockMemory memory_;
    Bytes expected_;
    std::mt19937 random_{7};
};

TEST_P(DirectFileTest, WritesPiecesOfAnySize) {
    DirectFile file(path_, GetParam());
    for (int i = 0; i < 120; ++i) {
        const auto any = [this](int most) { return static_cast<std::int64_t>(random_()) % most; };
        const auto end = std::ssize(expected_);
        const std::int64_t hole = i % 5 == 0 ? any(20000) : 0;
        const std::int64_t in_phase = (end + hole) % 4096;  // memory and file offset are equally aligned
        const std::int64_t memory = i % 3 == 0 ? in_phase : i % 3 == 1 ? 4096 * any(9) : any(9999);
        const std::int64_t bytes = i % 4 == 0 ? 1 + any(5000) : i % 4 == 1 ? 4096 * (1 + any(5)) : 1 + any(3 << 18);
        write(file, end + hole, memory, bytes);
    }
    file.sync();
    EXPECT_EQ(file.is_direct(), GetParam() == Caching::none && can_be_direct(folder_ / "trial"));
    file.end_at(std::ssize(expected_));
    EXPECT_TRUE(bytes_of(path_) == expected_);
}

TEST_P(DirectFileTest, ReservedSpaceKeepsLength) {
    DirectFile file(path_, GetParam());
    const bool is_reserved = file.reserve(1 << 20);
    EXPECT_EQ(std::filesystem::file_size(path_), 0U);
    if (is_reserved) {
        EXPECT_GE(bytes_on_disk(path_), 1 << 20);
    }
    write(file, 0, 0, 5000);
    file.end_at(5000);
    EXPECT_LT(bytes_on_disk(path_), 1 << 20) << "what is not used is given back";
    EXPECT_TRUE(bytes_of(path_) == expected_);
}

TEST_P(DirectFileTest, KeepsExistingFile) {
    put(path_, std::as_bytes(std::span("before")));
    EXPECT_THAT(error_of([&] { DirectFile(path_, GetParam()); }).line, testing::HasSubstr("already exists"));
    EXPECT_EQ(std::filesystem::file_size(path_), 7U);
}

TEST_P(DirectFileTest, WritesForwardOnly) {
    DirectFile file(path_, GetParam());
    write(file, 0, 0, 5000);
    EXPECT_THAT(error_of([&] { file.write(4999, std::span(memory_.data, 8)); }).line,
                testing::HasSubstr("byte 4999 is written after byte 5000"));
}

INSTANTIATE_TEST_SUITE_P(Both, DirectFileTest, testing::Values(Caching::none, Caching::system),
                         [](const auto& kind) { return kind.param == Caching::none ? "direct" : "cached"; });

}  // namespace
}  // namespace echolux
