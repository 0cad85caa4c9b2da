#include "engine/scan/raw_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "compute/error.h"
#include "engine/io/file_hash.h"

namespace echolux {
namespace {

std::int64_t size_of(int descriptor, const std::string& path) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        throw Error(ErrorCode::bad_file, "is not a file", path);
    }
    return status.st_size;
}

}  // namespace

std::vector<std::filesystem::path> raw_files(const Scan& scan) {
    std::vector<std::filesystem::path> files{scan.spectra};
    files.insert(files.end(), scan.stripes.begin(), scan.stripes.end());
    return files;
}

std::string raw_hash(const Scan& scan) try {
    const RawBytes raw(scan);
    const std::int64_t size = raw.size();
    Fingerprint print;
    std::vector<std::byte> piece(std::size_t{1} << 20);
    for (std::int64_t place = 0; place < size; place += std::ssize(piece)) {
        const std::int64_t count = std::min<std::int64_t>(std::ssize(piece), size - place);
        const auto some = std::span(piece).first(static_cast<std::size_t>(count));
        raw.read(place, some);
        print.add(some);
    }
    return print.text();
} catch (const Error&) {
    return "missing";
}

RawBytes::RawBytes(const Scan& scan) : striping_(1 + scan.stripes.size(), scan.file.stripe_bytes) {
    try {
        open_all(raw_files(scan));
    } catch (...) {
        close_all();
        throw;
    }
}

RawBytes::~RawBytes() {
    close_all();
}

void RawBytes::open_all(const std::vector<std::filesystem::path>& paths) {
    files_.reserve(paths.size());
    for (const std::filesystem::path& path : paths) {
        File& file = files_.emplace_back(File{path.string()});
        file.descriptor = open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not block
        if (file.descriptor < 0) {
            throw Error(ErrorCode::bad_file, fmt::format("cannot be opened: {}", std::strerror(errno)), file.path);
        }
        size_of(file.descriptor, file.path);
    }
}

void RawBytes::close_all() {
    for (const File& file : files_) {
        if (file.descriptor >= 0) close(file.descriptor);
    }
}

std::int64_t RawBytes::end_with(std::size_t part) const {
    return striping_.end_with(part, size_of(files_[part].descriptor, files_[part].path));
}

std::int64_t RawBytes::size() const {
    std::int64_t size = std::numeric_limits<std::int64_t>::max();
    for (std::size_t part = 0; part < files_.size(); ++part) size = std::min(size, end_with(part));
    return size;
}

std::string RawBytes::file_that_ends() const {
    std::size_t first = 0;
    for (std::size_t part = 1; part < files_.size(); ++part) {
        if (end_with(part) < end_with(first)) first = part;
    }
    if (files_.size() == 1) return files_[first].path;
    return fmt::format("{}, part {} of {} of the spectra", files_[first].path, first + 1, files_.size());
}

void check_size(const Scan& scan, const SpectraLayout& layout, const RawBytes& raw) {
    const std::int64_t size = raw.size();
    const bool ends_early = size < layout.file_bytes();
    check_file_size(layout, scan.geometry, size, ends_early ? raw.file_that_ends() : scan.spectra.string());
}

void RawBytes::read(std::int64_t place, std::span<std::byte> out) const {
    const std::int64_t end = place + static_cast<std::int64_t>(out.size());
    while (place < end) {
        const Striping::Piece piece = striping_.piece_at(place, end);
        read_from(files_[piece.part], piece.place, out.first(static_cast<std::size_t>(piece.bytes)));
        out = out.subspan(static_cast<std::size_t>(piece.bytes));
        place += piece.bytes;
    }
}

void RawBytes::read_from(const File& file, std::int64_t place, std::span<std::byte> out) {
    while (!out.empty()) {
        const ssize_t got = pread(file.descriptor, out.data(), out.size(), place);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            throw Error(ErrorCode::bad_file, fmt::format("cannot be read: {}", std::strerror(errno)), file.path);
        }
        if (got == 0) {
            throw Error(ErrorCode::bad_file, fmt::format("ends at byte {} while it was read", place), file.path);
        }
        out = out.subspan(static_cast<std::size_t>(got));
        place += got;
    }
}

}  // namespace echolux
