#include "ui/net/upload.h"

#include <fmt/format.h>

#include "compute/error.h"

namespace echolux {
namespace {

std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& name) {
    std::error_code problem;
    std::filesystem::path path = folder / name;
    for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(path, problem)); ++number) {
        const std::filesystem::path given(name);
        path = folder / fmt::format("{}-{}{}", given.stem().string(), number, given.extension().string());
    }
    return path;
}

}  // namespace

Upload::Upload(const std::filesystem::path& folder, const std::string& name)
    : path_(free_name(folder, name)), file_(std::make_unique<AtomicFile>(path_)),
      stream_(file_->temporary(), std::ios::binary) {}

void Upload::write(std::span<const char> bytes) {
    stream_.write(bytes.data(), std::ssize(bytes));
    if (!stream_)
        throw Error(ErrorCode::output, "cannot be written", path_.filename().string(), "check folder and free space");
}

void Upload::finish() {
    stream_.close();
    write({});  // whether closing has failed
    file_->commit();
}

}  // namespace echolux
