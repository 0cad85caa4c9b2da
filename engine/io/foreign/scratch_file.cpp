// Each temporary file has its own folder with a random name, which only this user can read and which cannot exist
// before.
#include "engine/io/atomic_file.h"

#include <fmt/format.h>

#include <random>

#include "compute/error.h"

namespace echolux {

ScratchFile::ScratchFile(std::int64_t bytes, std::string where) : where_(std::move(where)) {
    std::error_code problem;
    const std::filesystem::path base = std::filesystem::temp_directory_path(problem);
    if (problem) fail("needs a folder for temporary files");
    const std::filesystem::space_info space = std::filesystem::space(base, problem);
    if (!problem && space.available < static_cast<std::uintmax_t>(bytes)) {
        fail(fmt::format("unpacks to {} MiB, {} MiB are free in {}", (bytes >> 20) + 1, space.available >> 20,
                         base.string()));
    }
    std::random_device random;
    const std::filesystem::path folder = base / fmt::format("echolux-{:08x}{:08x}", random(), random());
    if (!std::filesystem::create_directory(folder, problem)) fail("cannot make " + folder.string());
    unfinished_.emplace(folder);
    path_ = folder / "unpacked";
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, problem);
    if (!problem) stream_.open(path_, std::ios::binary);
    if (problem || !stream_) {
        std::filesystem::remove_all(folder, problem);
        fail("cannot make " + path_.string());
    }
}

ScratchFile::~ScratchFile() {
    stream_.close();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    std::filesystem::remove(path_.parent_path(), ignored);
}

void ScratchFile::append(std::span<const std::byte> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) fail("cannot be unpacked to " + path_.string());
}

void ScratchFile::close() {
    stream_.close();
    if (!stream_) fail("cannot be unpacked to " + path_.string());
}

void ScratchFile::fail(const std::string& what) const {
    throw Error(ErrorCode::output, what, where_, "set TMPDIR to a folder with more room");
}

}  // namespace echolux
