// Reads files of a ZIP archive in pieces. Files are never extracted to disk under their own names. Names use slashes,
// even if the archive has backslashes. The only code that uses libzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace echolux {

// Use an archive and its members from one thread at a time.
class ZipArchive {
  public:
    // Opens the archive. Throws Error{bad_file} if it is damaged, is not an archive, has names outside its folder, or
    // duplicate names.
    explicit ZipArchive(const std::filesystem::path& path);
    ~ZipArchive();
    ZipArchive(const ZipArchive&) = delete;
    ZipArchive& operator=(const ZipArchive&) = delete;

    bool holds(const std::string& name) const;

    // Returns the decompressed size. Throws Error{bad_file} if the file is missing or its size is impossible for the
    // compressed data.
    std::int64_t size_of(const std::string& name) const;

    // Returns a whole file. Throws Error{bad_file} if it is damaged (the checksum is verified) or larger than `max`
    // bytes.
    std::vector<std::byte> read(const std::string& name, std::int64_t max) const;

  private:
    friend class ZipMember;
    struct Parts;
    std::shared_ptr<const Parts> parts_;
};

// One file in an archive. Ascending order is fastest, since going back decompresses from the start.
class ZipMember {
  public:
    ZipMember(const ZipArchive& archive, std::string name);
    ~ZipMember();
    ZipMember(const ZipMember&) = delete;
    ZipMember& operator=(const ZipMember&) = delete;

    std::int64_t size() const { return size_; }

    // Reads bytes from offset `place`. Throws Error{bad_file} if the file is damaged or too short. The checksum is
    // verified with the last byte.
    void read(std::int64_t place, std::span<std::byte> out);

  private:
    void restart();
    void read_next(std::span<std::byte> out);

    struct Stream;
    std::shared_ptr<const ZipArchive::Parts> archive_;
    std::string name_;
    std::int64_t size_ = 0;
    std::int64_t place_ = 0;  // offset of the next byte
    std::unique_ptr<Stream> stream_;
};

}  // namespace echolux
