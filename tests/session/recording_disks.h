// Shared by recording tests: a small source whose every byte is known, and disks that are full, slow or forgetful.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "await.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/durable_file.h"
#include "engine/live/recorder.h"
#include "temporary_folder.h"

namespace echolux {

using Bytes = std::vector<std::byte>;

// Volumes of 7 B-scans in blocks of 3, 3 and 1; no size is a multiple of a page.
struct SmallSource {
    static constexpr std::int64_t samples = 96, a_scans = 10, b_scans = 7, blocks_a_volume = 3;
    std::int64_t header = 32, b_repeats = 2, flyback_lines = 1, flyback_frames = 1;

    std::int64_t line_bytes() const { return samples * 2; }
    std::int64_t frame_bytes() const { return header + (a_scans + flyback_lines) * line_bytes(); }
    std::int64_t volume_bytes() const { return frame_bytes() * (b_scans * b_repeats + flyback_frames); }

    Scan scan() const {
        Scan scan;
        scan.geometry.samples = samples;
        scan.geometry.a_scans = a_scans;
        scan.geometry.b_scans = b_scans;
        scan.geometry.b_repeats = b_repeats;
        scan.geometry.flyback_lines = flyback_lines;
        scan.geometry.flyback_frames = flyback_frames;
        scan.file.frame_offset_bytes = header;
        return scan;
    }

    // Random non-zero bytes, the same for each call with the same number.
    Block block(std::int64_t number, std::atomic<int>* alive = nullptr) const {
        Block block{.volume = number / blocks_a_volume,
                    .first_b_scan = number % blocks_a_volume * 3,
                    .sequence = static_cast<std::uint64_t>(number)};
        block.b_scans = std::min<std::int64_t>(3, b_scans - block.first_b_scan);
        const bool is_last = block.first_b_scan + block.b_scans == b_scans;
        block.bytes = frame_bytes() * (block.b_scans * b_repeats + (is_last ? flyback_frames : 0));
        block.frames = {header, frame_bytes()};
        block.time_s = 0.25 * static_cast<double>(number) + 0.1;
        const auto memory = std::make_shared<Bytes>(index(block.bytes));
        std::mt19937 random(static_cast<unsigned>(number));
        for (std::byte& byte : *memory) byte = static_cast<std::byte>(1 + random() % 255);
        block.data = memory->data();
        if (alive != nullptr) ++*alive;
        block.keeper = std::shared_ptr<const void>(memory->data(), [memory, alive](const void*) {
            if (alive != nullptr) --*alive;
        });
        return block;
    }

    // Returns the bytes of a file with the first `blocks` blocks; `missing` ones are zero.
    Bytes file(std::int64_t blocks, const std::vector<std::int64_t>& missing = {}) const {
        Bytes bytes;
        for (std::int64_t number = 0; number < blocks; ++number) {
            const Block one = block(number);
            if (std::ranges::count(missing, number) > 0)
                bytes.resize(bytes.size() + index(one.bytes));
            else
                bytes.insert(bytes.end(), one.data, one.data + one.bytes);
        }
        return bytes;
    }
};

inline Bytes bytes_of(const std::filesystem::path& path) {
    Bytes bytes(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

inline void put(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A real file, of which tests override what fails or is noted.
class ForwardingFile : public DurableFile {
  public:
    explicit ForwardingFile(std::unique_ptr<DurableFile> file) : file_(std::move(file)) {}
    void write(std::int64_t place, std::span<const std::byte> bytes) override { file_->write(place, bytes); }
    bool reserve(std::int64_t end) override { return file_->reserve(end); }
    void sync() override { file_->sync(); }
    void end_at(std::int64_t size) override { file_->end_at(size); }

  private:
    std::unique_ptr<DurableFile> file_;
};

// Calls back before each write and after each flush.
class WatchedFile final : public ForwardingFile {
  public:
    using Watch = std::function<void(std::int64_t place, std::span<const std::byte> bytes)>;
    WatchedFile(std::unique_ptr<DurableFile> file, Watch watch, std::function<void()> synced)
        : ForwardingFile(std::move(file)), watch_(std::move(watch)), synced_(std::move(synced)) {}

    void write(std::int64_t place, std::span<const std::byte> bytes) override {
        watch_(place, bytes);
        ForwardingFile::write(place, bytes);
    }
    void sync() override {
        ForwardingFile::sync();
        synced_();
    }

  private:
    Watch watch_;
    std::function<void()> synced_;
};

// Real tools, except for a watched raw file.
inline RecordingTools watched_raw(
    const WatchedFile::Watch& watch, const std::function<void()>& synced = [] {}) {
    RecordingTools tools = RecordingTools::real();
    tools.open_raw = [=, open = tools.open_raw](const std::filesystem::path& path) {
        return std::make_unique<WatchedFile>(open(path), watch, synced);
    };
    return tools;
}

// Blocks writes until it is opened.
class Gate {
  public:
    void pass() {
        std::unique_lock lock(mutex_);
        opened_.wait(lock, [this] { return is_open_; });
    }
    void open() {
        {
            const std::scoped_lock lock(mutex_);
            is_open_ = true;
        }
        opened_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_open_ = false;
};

// Checks how many blocks of a recording open, and that all their bytes are the source's.
inline void expect_opens_with(const std::filesystem::path& toml, const SmallSource& source, std::int64_t blocks) {
    SCOPED_TRACE(std::to_string(blocks) + " whole blocks");
    if (blocks == 0) {
        EXPECT_THAT(error_of([&] { open_scan(toml); }).line, ::testing::HasSubstr("before its first whole block"));
        return;
    }
    Scan scan;
    ASSERT_NO_THROW(scan = open_scan(toml));
    const std::int64_t whole = blocks / SmallSource::blocks_a_volume;
    const std::int64_t rest = std::min(blocks % SmallSource::blocks_a_volume * 3, SmallSource::b_scans);
    EXPECT_EQ(scan.recording.last_volume_b_scans, rest);
    ASSERT_EQ(scan.geometry.volumes, std::max<std::int64_t>(whole, 1));
    ASSERT_EQ(scan.geometry.b_scans, whole > 0 ? SmallSource::b_scans : rest);
    const Bytes file = source.file(blocks);
    SpectraReader reader(scan);
    Bytes lines(index(scan.geometry.b_scans * reader.bytes_per_b_scan()));
    for (std::int64_t volume = 0; volume < scan.geometry.volumes; ++volume) {
        reader.read(volume, 0, scan.geometry.b_scans, lines);
        auto line = lines.begin();
        for (std::int64_t frame = 0; frame < scan.geometry.frames_per_volume(); ++frame) {
            const std::int64_t place = volume * source.volume_bytes() + frame * source.frame_bytes() + source.header;
            const std::int64_t bytes = SmallSource::a_scans * source.line_bytes();
            ASSERT_TRUE(std::equal(line, line + bytes, file.begin() + place))
                << "volume " << volume << " frame " << frame;
            line += bytes;
        }
    }
}

// Records in a separate process and kills it once `enough` blocks are reported as written. Returns the last reported
// number.
inline std::int64_t blocks_written_until_kill_9(const RecordingRequest& wanted, const SmallSource& source,
                                                std::int64_t enough) {
    int report[2];
    if (pipe(report) != 0) ADD_FAILURE() << "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        Recorder recorder(wanted);
        for (std::int64_t number = 0;; ++number) {
            recorder.offer(source.block(number));
            while (recorder.stats().blocks_held > 0) std::this_thread::yield();
            const std::int64_t written = recorder.stats().blocks;
            if (write(report[1], &written, sizeof(written)) < 0) _exit(1);
        }
    }
    close(report[1]);
    std::int64_t written = 0;
    const auto next = [&] {
        return read(report[0], &written, sizeof(written)) == static_cast<ssize_t>(sizeof(written));
    };
    while (written < enough) {
        if (next()) continue;
        ADD_FAILURE() << "the recorder ended by itself";
        break;
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (next()) {
    }
    close(report[0]);
    return written;
}

}  // namespace echolux
