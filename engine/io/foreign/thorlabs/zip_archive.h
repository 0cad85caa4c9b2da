// Files in a ZIP archive, read piece by piece; none is ever written under the name it has inside. Names are compared
// with slashes, whichever way the archive writes them. The only door to libzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace echolux {

class ZipArchive {
  public:
    // Throws Error{bad_file}: no archive, damaged, or with names that lead out of a folder, or twice the same.
    explicit ZipArchive(const std::filesystem::path& path);
    ~ZipArchive();
    ZipArchive(const ZipArchive&) = delete;
    ZipArchive& operator=(const ZipArchive&) = delete;

    bool holds(const std::string& name) const;

    // Unpacked, as the archive says. Throws Error{bad_file}: not there, or a size that the packed bytes cannot hold.
    std::int64_t size_of(const std::string& name) const;

    // All of a small file. Throws Error{bad_file}: damaged (its check sum is compared), or larger than `max` bytes.
    std::vector<std::byte> read(const std::string& name, std::int64_t max) const;

  private:
    friend class ZipMember;
    struct Parts;
    std::shared_ptr<const Parts> parts_;
};

// One file in an archive, by places: read soonest in their order, whatever lies before is unpacked too.
class ZipMember {
  public:
    ZipMember(const ZipArchive& archive, std::string name);
    ~ZipMember();
    ZipMember(const ZipMember&) = delete;
    ZipMember& operator=(const ZipMember&) = delete;

    std::int64_t size() const { return size_; }

    // Throws Error{bad_file}: damaged, or ends too early. The check sum is compared when the last byte is read.
    void read(std::int64_t place, std::span<std::byte> out);

  private:
    void restart();
    void read_next(std::span<std::byte> out);

    struct Stream;
    std::shared_ptr<const ZipArchive::Parts> archive_;
    std::string name_;
    std::int64_t size_ = 0;
    std::int64_t place_ = 0;  // of the next byte
    std::unique_ptr<Stream> stream_;
};

}  // namespace echolux
