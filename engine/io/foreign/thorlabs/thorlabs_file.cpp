#include "engine/io/foreign/thorlabs/thorlabs_file.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <pugixml.hpp>
#include <string_view>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/formats.h"
#include "engine/io/volume_file.h"
#include "engine/memory.h"

namespace echolux {

// ---- the archive ----------------------------------------------------------------------------------------------------
// Claimed sizes are checked against the compressed size before decompression: deflate expands by at most 1032, which
// rules out decompression bombs.

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
        // Deflate compresses by at most 1032 (zlib.net/zlib_tech.html); `beginning` allows for headers of tiny files.
        constexpr std::uint64_t best_deflate = 1032, beginning = 64;
        if (found->second.packed_bytes > archive_bytes) fail("claims more bytes of " + name + " than it has");
        if (found->second.bytes / best_deflate > found->second.packed_bytes + beginning) {
            fail(fmt::format("claims that {} packed bytes of {} unpack to {}, which is impossible",
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
        if (leads_out(name)) parts_->fail("contains a file with a path outside the archive: " + name.substr(0, 80));
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
        parts_->fail(fmt::format("holds {} of {}, at most {} are expected", plural(member.size(), "bytes"), name, max));
    }
    require_memory(member.size(), parts_->where, "copy or save the file again");
    std::vector<std::byte> all(index(member.size()));
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
        out = out.subspan(index(got));
    }
    if (place_ < size_) return;
    std::byte beyond{};  // reading beyond the end verifies the checksum
    if (zip_fread(stream_->file.get(), &beyond, 1) != 0)
        archive_->fail(name_ + " in it is damaged", "copy the file again");
}

// Skips bytes by decompressing them; going back restarts the stream.
void ZipMember::read(std::int64_t place, std::span<std::byte> out) {
    if (place < 0 || place > size_ || std::ssize(out) > size_ - place) {
        archive_->fail(fmt::format("{} in it ends after {}, more are described", name_, plural(size_, "bytes")),
                       "copy the file again");
    }
    if (place < place_) restart();
    constexpr std::int64_t piece_bytes = 1 << 16;
    std::vector<std::byte> skipped(index(std::min(piece_bytes, place - place_)));
    while (place_ < place) {
        read_next(std::span(skipped).first(index(std::min(std::ssize(skipped), place - place_))));
    }
    if (!out.empty()) read_next(out);
}

// ---- Header.xml -----------------------------------------------------------------------------------------------------
// Sizes are checked by the code that uses them.

static std::int64_t whole(const char* text, std::int64_t otherwise) {
    const std::string_view digits(text);
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return problem == std::errc() ? value : otherwise;
}

static double real(const char* text) {  // 0 if it is not a number
    double value = 0;
    const std::string_view digits(text);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return problem == std::errc() && std::isfinite(value) ? value : 0;
}

static double positive(const char* text, double otherwise) {
    const double value = real(text);
    return value > 0 ? value : otherwise;
}

static std::string on_one_line(std::string text) {
    constexpr std::size_t longest = 1000;
    text.resize(std::min(text.size(), longest));
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return text;
}

static ThorlabsFile file_of(const pugi::xml_node& node) {
    const auto number = [&](const char* name, std::int64_t otherwise) {
        return whole(node.attribute(name).value(), otherwise);
    };
    const auto range = [&](const char* name) { return positive(node.attribute(name).value(), 0); };
    ThorlabsFile file;
    file.name = node.child_value();
    std::ranges::replace(file.name, '\\', '/');
    file.depth = number("SizeZ", 1);
    file.lines = number("SizeX", 1);
    file.b_scans = number("SizeY", 1);
    file.bytes_per_value = number("BytesPerPixel", 0);
    file.range_depth_mm = range("RangeZ");
    file.range_a_mm = range("RangeX");
    file.range_b_mm = range("RangeY");
    file.reference_begin = number("ApoRegionStart0", 0);
    file.reference_end = number("ApoRegionEnd0", 0);
    file.scan_begin = number("ScanRegionStart0", file.reference_end);
    file.scan_end = number("ScanRegionEnd0", 0);
    return file;
}

// Returns the first text with this name at any level, because its position depends on the software version.
static const char* text_named(const pugi::xml_document& document, std::string_view name) {
    return document.find_node([name](const pugi::xml_node& node) { return node.name() == name; }).child_value();
}

const ThorlabsFile* ThorlabsHeader::file(const std::string& name) const {
    const auto found = files.find(name);
    return found == files.end() ? nullptr : &found->second;
}

ThorlabsHeader read_thorlabs_header(const ZipArchive& archive, const std::string& where) {
    constexpr std::int64_t max_bytes = 16 << 20;
    const std::vector<std::byte> xml = archive.read("Header.xml", max_bytes);
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), pugi::parse_default);
    const pugi::xml_node root = document.child("Ocity");
    if (!parsed || !root) {
        throw Error(ErrorCode::bad_file, "its Header.xml is damaged or not from Thorlabs software", where,
                    "copy or save the file again");
    }
    ThorlabsHeader header;
    for (const pugi::xml_node& node : root.child("DataFiles").children("DataFile")) {
        ThorlabsFile file = file_of(node);
        header.files.try_emplace(file.name, file);
    }
    const pugi::xml_node image = root.child("Image");
    header.a_scans = whole(image.child("SizePixel").child_value("SizeX"), 0);
    header.b_scans = whole(image.child("SizePixel").child_value("SizeY"), 0);
    header.range_depth_mm = positive(image.child("SizeReal").child_value("SizeZ"), 0);
    header.range_a_mm = positive(image.child("SizeReal").child_value("SizeX"), 0);
    header.range_b_mm = positive(image.child("SizeReal").child_value("SizeY"), 0);
    header.raw_is_signed = std::string_view(text_named(document, "RawDataIsSigned")) == "True";
    header.electrons_per_count = positive(text_named(document, "BinaryToElectronCountScaling"), 1);
    header.centre_wavelength_nm = positive(text_named(document, "CentralWavelength"), 0);
    header.refractive_index = positive(text_named(document, "RefractiveIndex"), 1);
    for (const char* key : {"Model", "Serial", "Study", "Comment", "Timestamp", "AcquisitionMode"}) {
        header.texts[key] = on_one_line(text_named(document, key));
    }
    std::erase_if(header.texts, [](const auto& text) { return text.second.empty(); });
    return header;
}

// ---- the picture ----------------------------------------------------------------------------------------------------
// Stored by the instrument (data/Intensity.data, f32 in dB) and read as one volume. The layout follows Thorlabs' MATLAB
// reader. Depth is fastest in the archive, so slices are transposed.

namespace {

const std::string intensity = "data/Intensity.data";

class ThorlabsPicture final : public ImageReader {
  public:
    explicit ThorlabsPicture(const std::filesystem::path& path) : archive_(path) {
        const ThorlabsHeader whole = read_thorlabs_header(archive_, path.string());
        const ThorlabsFile* file = whole.file(intensity);
        if (file == nullptr || !archive_.holds(intensity)) {
            throw Error(ErrorCode::bad_file, "contains spectra but no image", path.string(),
                        "open it as a scan to reconstruct one from them");
        }
        constexpr std::int64_t max_side = 1 << 24;
        if (file->bytes_per_value != 4 || std::min({file->depth, file->lines, file->b_scans}) < 1 ||
            std::max({file->depth, file->lines, file->b_scans}) > max_side) {
            throw Error(ErrorCode::bad_file, "its Header.xml does not describe a 32-bit float image", path.string());
        }
        header_.size = {file->lines, file->depth, file->b_scans};
        header_.spacing_mm = {file->pitch_mm(file->range_a_mm, file->lines),
                              file->pitch_mm(file->range_depth_mm, file->depth),
                              file->pitch_mm(file->range_b_mm, file->b_scans)};
        header_.type = VoxelType::f32;
        check_claim(header_, StoredType::f32, archive_.size_of(intensity), false, path);
        header_.texts = {{"echolux_quantity", "db"}, {"echolux_unit", "dB"}};
        for (const auto& [key, text] : whole.texts) add_provenance(header_, key, text);
        voxels_ = std::make_unique<ZipMember>(archive_, intensity);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        const std::int64_t slice_bytes = header_.slice_bytes();
        std::vector<std::byte> stored(index((slices.end - slices.begin) * slice_bytes));
        voxels_->read(slices.begin * slice_bytes, stored);
        std::vector<std::byte> voxels(stored.size());
        transpose(stored, voxels, header_.type, header_.size[0], header_.size[1]);
        return voxels;
    }

  private:
    ZipArchive archive_;
    ImageHeader header_;
    std::unique_ptr<ZipMember> voxels_;
};

}  // namespace

std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path) {
    return std::make_unique<ThorlabsPicture>(path);
}

}  // namespace echolux
