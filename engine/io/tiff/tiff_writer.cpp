// Writes TIFF 6.0 and BigTIFF without libtiff, which scans all pages before it appends one. Each page is written once,
// its voxels before its directory.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_bytes.h"
#include "engine/io/formats.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written as numbers lie in memory");

// Field types.
enum class Field : std::uint16_t { text = 2, u16 = 3, u32 = 4, fraction = 5, u64 = 16 };

class TiffWriter : public ImageWriter {
  public:
    TiffWriter(const std::filesystem::path& path, const ImageHeader& header, bool packed, const std::string& where)
        : file_(path, where), header_(header), packed_(packed) {
        constexpr double max = 4.29e9, page = 400;  // bytes of a classic file; generous size of a directory
        const double pages = static_cast<double>(header.size[2] * header.time_points);
        big_ = claimed_bytes(header, StoredType::u8) * static_cast<double>(bytes_of(header.type)) + pages * page > max;
        put<std::uint16_t>(0x4949);  // "II": little-endian
        put<std::uint16_t>(big_ ? 43 : 42);
        if (big_) put<std::uint32_t>(8);  // size of offsets in bytes
        next_directory_ = file_.place();
        put_place(0);
    }

    void write(std::span<const std::byte> slices) override {
        const auto slice = static_cast<std::size_t>(header_.slice_bytes());
        for (; !slices.empty(); slices = slices.subspan(slice)) write_page(slices.first(slice));
    }

    void finish() override { file_.finish(); }

  private:
    struct Entry {
        std::uint16_t tag;
        Field type;
        std::uint64_t count;
        std::uint64_t value;  // or the offset of several values
    };

    template <class Number>
    void put(Number number) {
        file_.write(std::as_bytes(std::span(&number, 1)));
    }

    void put_place(std::uint64_t place) { big_ ? put(place) : put(static_cast<std::uint32_t>(place)); }

    void align() {
        constexpr std::int64_t step = 8;
        while (file_.place() % step != 0) put<std::uint8_t>(0);
    }

    std::uint64_t placed(std::span<const std::byte> bytes) {
        align();
        const auto place = static_cast<std::uint64_t>(file_.place());
        file_.write(bytes);
        return place;
    }

    void write_page(std::span<const std::byte> slice) {
        constexpr int quick = 1;
        std::vector<std::byte> packed;
        if (packed_) packed = deflated(slice, DeflateFrame::zlib, quick);
        const std::span<const std::byte> strip = packed_ ? std::span<const std::byte>(packed) : slice;
        const std::uint64_t place = placed(strip);
        write_directory(place, strip.size());
    }

    // Entries must be in ascending order of tags.
    void write_directory(std::uint64_t strip, std::uint64_t strip_bytes) {
        std::vector<Entry> entries;
        const auto add = [&](std::uint16_t tag, Field type, std::uint64_t value) {
            entries.push_back({tag, type, 1, value});
        };
        const Field place = big_ ? Field::u64 : Field::u32;
        const std::uint64_t adobe_deflate = 8, none = 1, black_is_zero = 1, chunky = 1;
        add(256, Field::u32, static_cast<std::uint64_t>(header_.size[0]));  // ImageWidth
        add(257, Field::u32, static_cast<std::uint64_t>(header_.size[1]));  // ImageLength
        add(258, Field::u16, static_cast<std::uint64_t>(bytes_of(header_.type) * 8));
        add(259, Field::u16, packed_ ? adobe_deflate : none);
        add(262, Field::u16, black_is_zero);
        if (is_first_) add_description(entries);
        add(273, place, strip);
        add(277, Field::u16, 1);                                            // SamplesPerPixel
        add(278, Field::u32, static_cast<std::uint64_t>(header_.size[1]));  // RowsPerStrip
        add(279, place, strip_bytes);
        if (header_.spacing_mm[0] > 0 && header_.spacing_mm[1] > 0) {
            add_resolution(entries, 282, header_.spacing_mm[0]);
            add_resolution(entries, 283, header_.spacing_mm[1]);
        }
        add(284, Field::u16, chunky);
        if (header_.spacing_mm[0] > 0 && header_.spacing_mm[1] > 0) add(296, Field::u16, 2);  // ResolutionUnit: inch
        add(339, Field::u16, sample_format());
        put_directory(entries);
    }

    std::uint64_t sample_format() const {
        const std::uint64_t unsigned_integer = 1, signed_integer = 2, real = 3;
        if (header_.type == VoxelType::i16) return signed_integer;
        return header_.type == VoxelType::f32 ? real : unsigned_integer;
    }

    void add_description(std::vector<Entry>& entries) {
        const std::string text = ome_xml(header_) + '\0';
        entries.push_back({270, Field::text, text.size(), placed(std::as_bytes(std::span(text)))});
        is_first_ = false;
    }

    // Stores pixels per inch as a fraction of two 32-bit numbers.
    void add_resolution(std::vector<Entry>& entries, std::uint16_t tag, double spacing_mm) {
        const double an_inch = 25.4 / spacing_mm;
        double below = 1;
        while (below < 1e6 && an_inch * below * 10 < 4e9) below *= 10;
        const std::array<std::uint32_t, 2> fraction{static_cast<std::uint32_t>(std::min(an_inch * below + 0.5, 4.2e9)),
                                                    static_cast<std::uint32_t>(below)};
        std::uint64_t value = 0;
        std::memcpy(&value, fraction.data(), sizeof(value));
        if (!big_) value = placed(std::as_bytes(std::span(fraction)));
        entries.push_back({tag, Field::fraction, 1, value});
    }

    // Writes the directory and stores its offset in the previous one.
    void put_directory(const std::vector<Entry>& entries) {
        align();
        const auto place = static_cast<std::uint64_t>(file_.place());
        big_ ? put<std::uint64_t>(entries.size()) : put(static_cast<std::uint16_t>(entries.size()));
        for (const Entry& entry : entries) {
            put(entry.tag);
            put(entry.type);
            put_place(entry.count);
            put_place(entry.value);  // small values are left-aligned
        }
        const auto as_bytes = std::as_bytes(std::span(&place, 1));
        file_.write_at(next_directory_, as_bytes.first(big_ ? 8 : 4));
        next_directory_ = file_.place();
        put_place(0);
    }

    ResultFile file_;
    ImageHeader header_;
    bool packed_;
    bool big_ = false;
    bool is_first_ = true;
    std::int64_t next_directory_ = 0;  // where to write the offset of the next directory
};

}  // namespace

std::unique_ptr<ImageWriter> create_tiff(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where) {
    if (header.size[2] * header.time_points > max_tiff_pages) {
        throw Error(ErrorCode::output, fmt::format("TIFF files hold at most {}", counted(max_tiff_pages, "slices")),
                    where, "use .ome.zarr or .h5");
    }
    return std::make_unique<TiffWriter>(path, header, storage.compression == Compression::gzip, where);
}

}  // namespace echolux
