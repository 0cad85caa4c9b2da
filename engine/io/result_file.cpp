#include "engine/io/atomic_file.h"

#include <utility>

#include "compute/error.h"

namespace echolux {

ResultFile::ResultFile(const std::filesystem::path& path, std::string where)
    : stream_(path, std::ios::binary), where_(std::move(where)) {
    if (!stream_) fail();
}

void ResultFile::write(std::span<const std::byte> bytes) {
    if (!stream_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes))) fail();
    place_ += std::ssize(bytes);
}

void ResultFile::write_at(std::int64_t place, std::span<const std::byte> bytes) {
    stream_.seekp(place);
    if (!stream_.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes))) fail();
    if (!stream_.seekp(place_)) fail();
}

void ResultFile::finish() {
    stream_.close();
    if (!stream_) fail();
}

void ResultFile::fail() const {
    throw Error(ErrorCode::output, "could not be written completely", where_,
                "check folder, permissions and free space");
}

}  // namespace echolux
