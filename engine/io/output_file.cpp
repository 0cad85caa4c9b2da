#include "engine/io/atomic_file.h"

#include "compute/error.h"

namespace echolux {

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), atomic_(path), stream_(atomic_.temporary(), std::ios::binary | std::ios::trunc) {
    if (!stream_) fail();
}

void OutputFile::fail() const {
    throw Error(ErrorCode::output, "cannot be written", path_.string(),
                "check that the folder may be written and the disk is not full");
}

void OutputFile::write(std::span<const std::byte> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_) fail();
}

void OutputFile::close() {
    if (!stream_.is_open()) return;
    stream_.close();
    if (!stream_) fail();
}

void OutputFile::commit() {
    close();
    atomic_.commit();
}

}  // namespace echolux
