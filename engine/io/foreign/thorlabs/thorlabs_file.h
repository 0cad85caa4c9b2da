// Thorlabs .oct archives (ThorImage): ZIP files with a description (Header.xml), spectra and the picture that the
// instrument made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace echolux {

// Reads files of a ZIP archive in pieces. Files are never extracted to disk under their own names. Names use slashes,
// even if the archive has backslashes. No other code uses libzip. Use an archive and its members from one thread at a
// time.
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

// A file in the archive, as described in Header.xml.
struct ThorlabsFile {
    std::string name;          // path in the archive, with slashes
    std::int64_t depth = 1;    // SizeZ: A-scan length, or samples per spectrum
    std::int64_t lines = 1;    // SizeX: A-scans, or all spectra of a B-scan
    std::int64_t b_scans = 1;  // SizeY
    std::int64_t bytes_per_value = 0;
    double range_depth_mm = 0, range_a_mm = 0, range_b_mm = 0;  // 0 if unknown
    std::int64_t reference_begin = 0, reference_end = 0;        // ApoRegion: lines without a sample
    std::int64_t scan_begin = 0, scan_end = 0;                  // ScanRegion: lines of the scan; end 0: all

    double pitch_mm(double range_mm, std::int64_t count) const {
        return range_mm > 0 && count > 0 ? range_mm / static_cast<double>(count) : 0;
    }
};

// Header.xml: the files of the archive (data/Intensity.data, data/Spectral0.data, ...), their sizes and the recording
// parameters.
struct ThorlabsHeader {
    std::map<std::string, ThorlabsFile> files;                  // by name
    std::map<std::string, std::string> texts;                   // instrument, study, comment, ..., one line each
    std::int64_t a_scans = 0, b_scans = 0;                      // of the picture; 0: unknown
    double range_depth_mm = 0, range_a_mm = 0, range_b_mm = 0;  // of the picture; 0: unknown
    bool raw_is_signed = false;
    double electrons_per_count = 1;  // of the camera
    double refractive_index = 1;
    double centre_wavelength_nm = 0;  // 0 if unknown

    // Returns null if the archive lists no such file.
    const ThorlabsFile* file(const std::string& name) const;
};

// Parses the header with pugixml, which does not expand external entities. Throws Error{bad_file}.
ThorlabsHeader read_thorlabs_header(const ZipArchive& archive, const std::string& where);

}  // namespace echolux
