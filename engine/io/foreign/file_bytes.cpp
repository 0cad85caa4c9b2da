#include "engine/io/file_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {

FileBytes::FileBytes(const std::filesystem::path& path) : where_(path.string()) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) fail("does not exist or is not a file", "check the name");
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(path, problem));
    stream_.open(path, std::ios::binary);
    if (problem || !stream_) fail("cannot be opened", "check its permissions");
}

void FileBytes::fail(const std::string& what, const std::string& remedy) const {
    throw Error(ErrorCode::bad_file, what, where_, remedy);
}

void FileBytes::check(std::int64_t place, std::int64_t count) const {
    if (place >= 0 && count >= 0 && place <= size_ && count <= size_ - place) return;
    fail(fmt::format("ends too early: it refers to byte {} of {}", place, counted(size_, "bytes")),
         "copy the file again");
}

void FileBytes::read_unbuffered(std::int64_t place, std::span<std::byte> out) {
    stream_.clear();
    stream_.seekg(place);
    stream_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!stream_) fail("cannot be read", "copy the file again");
}

// Reads a larger window for small requests, because parsers read many neighbouring numbers.
void FileBytes::read(std::int64_t place, std::span<std::byte> out) {
    constexpr std::int64_t window_bytes = 1 << 14;
    const auto count = static_cast<std::int64_t>(out.size());
    check(place, count);
    if (count > window_bytes / 4) {
        read_unbuffered(place, out);
        return;
    }
    const std::int64_t window_end = window_place_ + static_cast<std::int64_t>(window_.size());
    if (place < window_place_ || place + count > window_end) {
        window_.resize(static_cast<std::size_t>(std::min(window_bytes, size_ - place)));
        window_place_ = place;
        read_unbuffered(place, window_);
    }
    std::copy_n(window_.begin() + (place - window_place_), count, out.begin());
}

std::vector<std::byte> FileBytes::bytes(std::int64_t place, std::int64_t count) {
    check(place, count);
    std::vector<std::byte> result(static_cast<std::size_t>(count));
    read(place, result);
    return result;
}

std::string FileBytes::text(std::int64_t place, std::int64_t count) {
    check(place, count);
    std::string result(static_cast<std::size_t>(count), '\0');
    read(place, std::as_writable_bytes(std::span(result)));
    return result;
}

}  // namespace echolux
