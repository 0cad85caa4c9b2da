// Direct writes: pieces of any size at any offset, aligned or not, give the bytes of a plain file.
#include "engine/io/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "recording_disks.h"

namespace echolux {
namespace {

using Caching = DirectFile::Caching;

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
