// ZIP archives through libzip. Claimed sizes are checked against the compressed size before decompression: deflate
// expands by at most 1032, which rules out decompression bombs.
#include "engine/io/foreign/thorlabs/thorlabs_file.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <map>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/memory.h"

namespace echolux {
namespace {

struct Close {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string with_slashes(std::string name) {
    std::ranges::replace(name, '\\', '/');
    return name;
}

// Returns whether a name could be outside the archive's folder.
bool leads_out(const std::string& name) {
    const std::filesystem::path path(name);
    return path.is_absolute() || name.find(':') != std::string::npos || std::ranges::count(path, "..") > 0;
}

struct Entry {
    std::uint64_t index = 0;
    std::uint64_t bytes = 0;  // decompressed
    std::uint64_t packed_bytes = 0;
};

}  // namespace

struct ZipArchive::Parts {
    [[noreturn]] void fail(const std::string& what, const std::string& remedy = {}) const {
        throw Error(ErrorCode::bad_file, what, where, remedy);
    }

    const Entry& entry(const std::string& name) const {
        const auto found = entries.find(name);
        if (found == entries.end()) fail(fmt::format("holds no {}", name), "copy or save the file again");
        constexpr std::uint64_t best_deflate = 1032, beginning = 64;
        if (found->second.packed_bytes > archive_bytes) fail("claims more bytes of " + name + " than it has");
        if (found->second.bytes / best_deflate > found->second.packed_bytes + beginning) {
            fail(fmt::format("claims that {} packed bytes of {} unpack to {}, which no file does",
                             found->second.packed_bytes, name, found->second.bytes));
        }
        return found->second;
    }

    std::string where;
    std::uint64_t archive_bytes = 0;
    std::unique_ptr<zip_t, Close> archive;
    std::map<std::string, Entry, std::less<>> entries;
};

ZipArchive::ZipArchive(const std::filesystem::path& path) {
    auto parts = std::make_shared<Parts>();
    parts_ = parts;
    parts->where = path.string();
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem))
        parts_->fail("does not exist or is not a file", "check the name");
    parts->archive_bytes = std::filesystem::file_size(path, problem);
    int reason = 0;
    parts->archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &reason));
    if (!parts_->archive) parts_->fail("is not a ZIP archive, or is damaged", "copy the file again");
    const zip_int64_t count = zip_get_num_entries(parts_->archive.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        zip_stat_t status;
        zip_stat_init(&status);
        constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
        const auto index = static_cast<zip_uint64_t>(i);
        if (zip_stat_index(parts_->archive.get(), index, 0, &status) != 0 || (status.valid & needed) != needed) {
            parts_->fail("has a damaged directory", "copy the file again");
        }
        const std::string name = with_slashes(status.name);
        if (leads_out(name)) parts_->fail("holds a file whose name leads out of the archive: " + name.substr(0, 80));
        if (!parts->entries.try_emplace(name, Entry{index, status.size, status.comp_size}).second) {
            parts_->fail("holds two files named " + name.substr(0, 80));
        }
    }
}

ZipArchive::~ZipArchive() = default;

bool ZipArchive::holds(const std::string& name) const {
    return parts_->entries.contains(name);
}

std::int64_t ZipArchive::size_of(const std::string& name) const {
    return static_cast<std::int64_t>(parts_->entry(name).bytes);
}

std::vector<std::byte> ZipArchive::read(const std::string& name, std::int64_t max) const {
    ZipMember member(*this, name);
    if (member.size() > max) {
        parts_->fail(
            fmt::format("holds {} of {}, at most {} are expected", counted(member.size(), "bytes"), name, max));
    }
    require_memory(member.size(), parts_->where, "copy or save the file again");
    std::vector<std::byte> all(static_cast<std::size_t>(member.size()));
    member.read(0, all);
    return all;
}

struct ZipMember::Stream {
    std::unique_ptr<zip_file_t, Close> file;
};

ZipMember::ZipMember(const ZipArchive& archive, std::string name)
    : archive_(archive.parts_), name_(std::move(name)), size_(archive.size_of(name_)) {
    restart();
}

ZipMember::~ZipMember() = default;

void ZipMember::restart() {
    stream_ = std::make_unique<Stream>();
    stream_->file.reset(zip_fopen_index(archive_->archive.get(), archive_->entry(name_).index, 0));
    if (!stream_->file) archive_->fail(name_ + " in it cannot be unpacked", "copy the file again");
    place_ = 0;
}

void ZipMember::read_next(std::span<std::byte> out) {
    while (!out.empty()) {
        const zip_int64_t got = zip_fread(stream_->file.get(), out.data(), out.size());
        if (got <= 0) archive_->fail(name_ + " in it is damaged or ends too early", "copy the file again");
        place_ += got;
        out = out.subspan(static_cast<std::size_t>(got));
    }
    if (place_ < size_) return;
    std::byte beyond{};  // reading beyond the end verifies the checksum
    if (zip_fread(stream_->file.get(), &beyond, 1) != 0)
        archive_->fail(name_ + " in it is damaged", "copy the file again");
}

// Skips bytes by decompressing them; going back restarts the stream.
void ZipMember::read(std::int64_t place, std::span<std::byte> out) {
    if (place < 0 || place > size_ || std::ssize(out) > size_ - place) {
        archive_->fail(fmt::format("{} in it ends after {}, more are described", name_, counted(size_, "bytes")),
                       "copy the file again");
    }
    if (place < place_) restart();
    constexpr std::int64_t piece_bytes = 1 << 16;
    std::vector<std::byte> skipped(static_cast<std::size_t>(std::min(piece_bytes, place - place_)));
    while (place_ < place) {
        read_next(std::span(skipped).first(static_cast<std::size_t>(std::min(std::ssize(skipped), place - place_))));
    }
    if (!out.empty()) read_next(out);
}

}  // namespace echolux
