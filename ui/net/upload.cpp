#include "ui/net/upload.h"

#include <fmt/format.h>

#include <mutex>
#include <set>

#include "compute/error.h"

namespace echolux {
namespace {

// Names of uploads in progress. Two uploads of the same name may run at once.
struct Taken {
    std::mutex mutex;
    std::set<std::filesystem::path> paths;
};
Taken& taken() {
    static Taken all;
    return all;
}

// Reserves a name that no file or other upload uses. Symbolic links count as files.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& name) {
    std::error_code problem;
    const std::lock_guard lock(taken().mutex);
    std::filesystem::path path = folder / name;
    const auto is_used = [&] {
        return taken().paths.contains(path) || std::filesystem::exists(std::filesystem::symlink_status(path, problem));
    };
    for (int number = 2; is_used(); ++number) {
        const std::filesystem::path given(name);
        path = folder / fmt::format("{}-{}{}", given.stem().string(), number, given.extension().string());
    }
    taken().paths.insert(path);
    return path;
}

}  // namespace

Upload::Upload(const std::filesystem::path& folder, const std::string& name)
    : path_(free_name(folder, name)), file_(std::make_unique<AtomicFile>(path_)),
      stream_(file_->temporary(), std::ios::binary) {}

Upload::~Upload() {
    const std::lock_guard lock(taken().mutex);
    taken().paths.erase(path_);
}

void Upload::write(std::span<const char> bytes) {
    stream_.write(bytes.data(), std::ssize(bytes));
    if (!stream_)
        throw Error(ErrorCode::output, "cannot be written", path_.filename().string(), "check folder and free space");
}

void Upload::finish() {
    stream_.close();
    write({});  // reports a failure of close()
    file_->commit();
}

}  // namespace echolux
