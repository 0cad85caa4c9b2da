#include "engine/io/picture_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/png_file.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

// ---- TIFF -----------------------------------------------------------------------------------------------------------
// One page, deflate-compressed strips with horizontal differences, texts in tags (TIFF revision 6.0; for deflate Adobe
// Photoshop TIFF Technical Notes 2002).

static_assert(std::endian::native == std::endian::little, "files store numbers as memory does");

constexpr std::uint16_t ascii = 2, short_number = 3, long_number = 4;  // field types
constexpr std::uint16_t tag_description = 270, tag_software = 305, tag_image_id = 32781;
constexpr std::int64_t strip_bytes = 1 << 20;  // before compression; at least one row
constexpr std::uint32_t max_text = 1 << 24;    // longest text that is read, in bytes
constexpr const char* program_name = "Echolux ";
constexpr const char* session_begins = "# A session of Echolux";

// A directory entry and its values.
struct Tag {
    std::uint16_t number;
    std::uint16_t type;
    std::uint32_t count;
    std::vector<std::byte> content;
};

template <class T>
Tag tag_of(std::uint16_t number, std::uint16_t type, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {number, type, static_cast<std::uint32_t>(values.size()), {bytes.begin(), bytes.end()}};
}

Tag shorts(std::uint16_t number, const std::vector<std::uint16_t>& values) {
    return tag_of(number, short_number, values);
}

Tag longs(std::uint16_t number, const std::vector<std::uint32_t>& values) {
    return tag_of(number, long_number, values);
}

Tag text(std::uint16_t number, const std::string& value) {
    return tag_of(number, ascii, std::vector<char>(value.c_str(), value.c_str() + value.size() + 1));
}

// Replaces each sample by its difference to the same channel of the left neighbour. Runs from right to left to work in
// place.
template <class T>
void take_differences(std::span<std::byte> row, std::size_t channels) {
    for (std::size_t i = row.size() / sizeof(T); i-- > channels;) {
        T here = 0, left = 0;
        std::memcpy(&here, row.data() + i * sizeof(T), sizeof(T));
        std::memcpy(&left, row.data() + (i - channels) * sizeof(T), sizeof(T));
        here = static_cast<T>(here - left);
        std::memcpy(row.data() + i * sizeof(T), &here, sizeof(T));
    }
}

class TiffPictureWriter : public PictureWriter {
  public:
    TiffPictureWriter(const std::filesystem::path& path, const PictureShape& shape, const PictureTexts& texts)
        : PictureWriter(shape), path_(path), texts_(texts), file_(path), stream_(file_.temporary(), std::ios::binary),
          rows_per_strip_(std::max<std::int64_t>(1, strip_bytes / shape.row_bytes())) {
        // The directory's offset is filled in by end().
        constexpr std::array<char, 8> header{'I', 'I', 42, 0, 0, 0, 0, 0};
        stream_.write(header.data(), header.size());
        check();
    }

  private:
    void put(std::span<const std::byte> rows) override {
        const auto whole = index(rows_per_strip_ * shape().row_bytes());
        while (!rows.empty()) {
            const auto part = rows.first(std::min(rows.size(), whole - strip_.size()));
            strip_.insert(strip_.end(), part.begin(), part.end());
            rows = rows.subspan(part.size());
            if (strip_.size() == whole) write_strip();
        }
    }

    void end(const std::string& fingerprint) override {
        if (!strip_.empty()) write_strip();
        const std::uint32_t directory = write_directory(tags(fingerprint));
        stream_.seekp(4);
        write_number(directory);
        stream_.close();
        check();
        file_.commit();
    }

    // Applies the predictor, compresses the strip and remembers its position.
    void write_strip() {
        const auto row_bytes = index(shape().row_bytes());
        const auto channels = index(shape().channels);
        for (std::size_t at = 0; at < strip_.size(); at += row_bytes) {
            const auto row = std::span(strip_).subspan(at, row_bytes);
            if (shape().bits == 16)
                take_differences<std::uint16_t>(row, channels);
            else
                take_differences<std::uint8_t>(row, channels);
        }
        uLongf bytes = compressBound(strip_.size());
        deflated_.resize(bytes);
        if (compress(deflated_.data(), &bytes, reinterpret_cast<const Bytef*>(strip_.data()), strip_.size()) != Z_OK) {
            throw Error(ErrorCode::out_of_memory, "zlib cannot compress", path_.string());
        }
        places_.push_back(place());
        sizes_.push_back(static_cast<std::uint32_t>(bytes));
        stream_.write(reinterpret_cast<const char*>(deflated_.data()), static_cast<std::streamsize>(bytes));
        check();
        strip_.clear();
    }

    // Returns the directory. Tag numbers are those of TIFF 6.0.
    std::vector<Tag> tags(const std::string& fingerprint) const {
        const auto channels = index(shape().channels);
        const auto number = [](std::int64_t value) { return std::vector{static_cast<std::uint32_t>(value)}; };
        const std::uint16_t photometric = shape().channels == 1 ? 1 : 2;  // gray with black as zero, or RGB
        const auto text_of = [&](const char* name) { return texts_.contains(name) ? texts_.at(name) : std::string(); };
        std::vector<Tag> tags;  // TIFF requires ascending order
        tags.push_back(longs(256, number(shape().width)));
        tags.push_back(longs(257, number(shape().height)));
        tags.push_back(shorts(258, std::vector(channels, static_cast<std::uint16_t>(shape().bits))));
        tags.push_back(shorts(259, {8}));  // deflate
        tags.push_back(shorts(262, {photometric}));
        if (texts_.contains(text_session)) tags.push_back(text(tag_description, text_of(text_session)));
        tags.push_back(longs(273, places_));
        tags.push_back(shorts(277, {static_cast<std::uint16_t>(channels)}));
        tags.push_back(longs(278, number(rows_per_strip_)));
        tags.push_back(longs(279, sizes_));
        tags.push_back(shorts(284, {1}));  // interleaved channels
        tags.push_back(text(tag_software, program_name + text_of(text_program)));
        tags.push_back(shorts(317, {2}));                     // predictor: horizontal differences
        if (channels == 4) tags.push_back(shorts(338, {2}));  // straight alpha
        tags.push_back(text(tag_image_id, fingerprint));
        return tags;
    }

    // Writes values that do not fit into their entry, then the entries. Returns the offset of the directory.
    std::uint32_t write_directory(std::vector<Tag> tags) {
        for (Tag& tag : tags) {
            if (tag.content.size() > 4) {
                const std::uint32_t at = place();
                stream_.write(reinterpret_cast<const char*>(tag.content.data()),
                              static_cast<std::streamsize>(tag.content.size()));
                const auto bytes = std::as_bytes(std::span(&at, 1));
                tag.content.assign(bytes.begin(), bytes.end());
            }
            tag.content.resize(4);
        }
        const std::uint32_t directory = place();
        write_number(static_cast<std::uint16_t>(tags.size()));
        for (const Tag& tag : tags) {
            write_number(tag.number);
            write_number(tag.type);
            write_number(tag.count);
            stream_.write(reinterpret_cast<const char*>(tag.content.data()), 4);
        }
        write_number(std::uint32_t{0});  // no further page
        return directory;
    }

    template <class T>
    void write_number(T value) {
        stream_.write(reinterpret_cast<const char*>(&value), sizeof value);
    }

    // Returns the offset of the next byte, padded to an even number as TIFF requires.
    std::uint32_t place() {
        if (stream_.tellp() % 2 != 0) stream_.put('\0');
        const std::streamoff at = stream_.tellp();
        check();
        if (at <= std::int64_t{UINT32_MAX} - 2 * strip_bytes) return static_cast<std::uint32_t>(at);
        throw Error(ErrorCode::output, "a TIFF image holds at most 4 GB", path_.string(), "name it *.png");
    }

    void check() const {
        if (stream_) return;
        throw Error(ErrorCode::output, "cannot be written", path_.string(), "check folder, permissions and free space");
    }

    std::filesystem::path path_;
    PictureTexts texts_;
    AtomicFile file_;
    std::ofstream stream_;
    std::int64_t rows_per_strip_;
    std::vector<std::byte> strip_;
    std::vector<Bytef> deflated_;
    std::vector<std::uint32_t> places_, sizes_;  // per strip
};

// Reads the texts of the first page of a little-endian file. Our pictures are always little-endian.
class TiffTexts {
  public:
    explicit TiffTexts(const std::filesystem::path& path) : stream_(regular_stream(path)), where_(path.string()) {
        std::error_code problem;
        size_ = std::filesystem::file_size(path, problem);
        if (!stream_ || problem) throw Error(ErrorCode::bad_file, "cannot be read", where_, "check the name");
    }

    PictureTexts read() {
        std::array<char, 4> magic{};
        read_at(0, magic.data(), magic.size());
        if (magic != std::array<char, 4>{'I', 'I', 42, 0}) return {};
        const auto directory = number<std::uint32_t>(4);
        const auto entries = number<std::uint16_t>(directory);
        PictureTexts texts;
        std::uint16_t last = 0;
        for (std::uint64_t i = 0; i < entries; ++i) {
            const std::uint64_t at = directory + 2 + 12 * i;
            const auto tag = number<std::uint16_t>(at);
            if (tag <= last) break;  // tags must ascend; this also rejects duplicates
            last = tag;
            read_entry(tag, at, texts);
        }
        return texts;
    }

  private:
    void read_entry(std::uint16_t tag, std::uint64_t at, PictureTexts& texts) {
        const bool is_text = tag == tag_description || tag == tag_software || tag == tag_image_id;
        if (!is_text || number<std::uint16_t>(at + 2) != ascii) return;
        const auto count = number<std::uint32_t>(at + 4);
        const std::uint64_t place = count <= 4 ? at + 8 : number<std::uint32_t>(at + 8);
        if (count > max_text) return;
        if (place > size_ || count > size_ - place) fail();
        std::string value(count, '\0');
        read_at(place, value.data(), count);
        value.resize(std::strlen(value.c_str()));
        if (tag == tag_description && value.starts_with(session_begins)) texts[text_session] = value;
        if (tag == tag_software && value.starts_with(program_name))
            texts[text_program] = value.substr(std::strlen(program_name));
        if (tag == tag_image_id) texts[text_pixels] = value;
    }

    template <class T>
    T number(std::uint64_t at) {
        T value = 0;
        read_at(at, reinterpret_cast<char*>(&value), sizeof value);
        return value;
    }

    void read_at(std::uint64_t at, char* into, std::size_t bytes) {
        if (at > size_ || bytes > size_ - at) fail();
        stream_.seekg(static_cast<std::streamoff>(at));
        if (!stream_.read(into, static_cast<std::streamsize>(bytes))) fail();
    }

    [[noreturn]] void fail() const {
        throw Error(ErrorCode::bad_file, "ends before the data that its directory refers to", where_,
                    "copy the file again");
    }

    std::ifstream stream_;
    std::string where_;
    std::uint64_t size_ = 0;
};

// See create_picture().
std::unique_ptr<PictureWriter> create_tiff_picture(const std::filesystem::path& path, const PictureShape& shape,
                                                   const PictureTexts& texts) {
    return std::make_unique<TiffPictureWriter>(path, shape, texts);
}

// See picture_texts().
PictureTexts tiff_picture_texts(const std::filesystem::path& path) {
    return TiffTexts(path).read();
}

// ---- pictures -------------------------------------------------------------------------------------------------------

enum class PictureKind { none, png, tiff };

PictureKind kind_of(const std::filesystem::path& path) {
    const std::string ending = lower_ending(path);
    if (ending == ".png") return PictureKind::png;
    return ending == ".tif" || ending == ".tiff" ? PictureKind::tiff : PictureKind::none;
}

[[noreturn]] void refuse_name(const std::filesystem::path& path) {
    throw Error(ErrorCode::bad_setting, "images are PNG or TIFF files", path.string(), "name it *.png or *.tif");
}

void check_shape(const PictureShape& shape, const std::filesystem::path& path) {
    constexpr std::int64_t max = 1'000'000;  // libpng's own limit
    const bool sides = shape.width > 0 && shape.height > 0 && shape.width <= max && shape.height <= max;
    const bool channels = shape.channels == 1 || shape.channels == 3 || shape.channels == 4;
    if (sides && channels && (shape.bits == 8 || shape.bits == 16)) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} x {} pixels with {} of {} do not form an image", shape.width, shape.height,
                            plural(shape.channels, "channels"), plural(shape.bits, "bits")),
                path.string());
}

}  // namespace

bool is_picture_name(const std::filesystem::path& path) {
    return kind_of(path) != PictureKind::none;
}

void check_picture_output(const std::filesystem::path& path) {
    if (!is_picture_name(path)) refuse_name(path);
    check_can_be_written(path);
}

std::unique_ptr<PictureWriter> create_picture(const std::filesystem::path& path, const PictureShape& shape,
                                              const PictureTexts& texts) {
    check_shape(shape, path);
    switch (kind_of(path)) {
        case PictureKind::png: return create_png(path, shape, texts);
        case PictureKind::tiff: return create_tiff_picture(path, shape, texts);
        case PictureKind::none: break;
    }
    refuse_name(path);
}

PictureTexts picture_texts(const std::filesystem::path& path) {
    switch (kind_of(path)) {
        case PictureKind::png: return png_texts(path);
        case PictureKind::tiff: return tiff_picture_texts(path);
        case PictureKind::none: break;
    }
    throw Error(ErrorCode::bad_file, "is not an image", path.string(), "images are PNG or TIFF files");
}

bool has_session(const std::filesystem::path& path) {
    try {
        return is_picture_name(path) && picture_texts(path).contains(text_session);
    } catch (const Error&) {
        return false;
    }
}

}  // namespace echolux
