// Reads TIFF through libtiff. All pages are scanned first, because they must be alike, and because libtiff finds a page
// only by walking from the first one. The offsets of their directories are kept.
#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/contained/reader_process.h"
#include "engine/io/formats.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

struct CloseTiff {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, CloseTiff>;

// Properties that all pages must share.
struct PageShape {
    std::uint32_t columns = 0, rows = 0;
    std::uint16_t bits = 1, format = SAMPLEFORMAT_UINT, samples = 1;

    bool operator==(const PageShape&) const = default;
};

// Stores libtiff's message; a later one replaces it.
int keep_message(TIFF*, void* message, const char*, const char* format, va_list arguments) {
    std::array<char, 256> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    *static_cast<std::string*>(message) = text.data();
    return 1;
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) {
    return 1;
}

// Codecs that are simple or widely used on untrusted data.
constexpr std::array<int, 6> sturdy_codecs{COMPRESSION_NONE,    COMPRESSION_LZW,           COMPRESSION_PACKBITS,
                                           COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD};

class TiffReader final : public ImageReader {
  public:
    TiffReader(Descriptor file, const std::filesystem::path& path) : path_(path) {
        const auto file_bytes = static_cast<std::int64_t>(size_of(file));
        open(std::move(file));
        survey_pages();
        header_.size = {static_cast<std::int64_t>(shape_.columns), static_cast<std::int64_t>(shape_.rows),
                        std::ssize(places_)};
        header_.type = voxel_type(stored_type());
        header_.spacing_mm = {};
        read_resolution();
        order_pages();
        // Zstd on zeros, the best compression in TIFF, is about twenty times better than deflate.
        constexpr std::int64_t tightest = 20;
        check_claim(header_, stored_type(), is_packed_ ? file_bytes * tightest : file_bytes, is_packed_, path_);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const std::int64_t slice = header_.size[0] * header_.size[1] * bytes_of(stored_type());
        std::vector<std::byte> stored(static_cast<std::size_t>((slices.end - slices.begin) * slice));
        for (std::int64_t z = slices.begin; z < slices.end; ++z) {
            const std::int64_t page =
                order_.time_first ? z * header_.time_points + time_point : time_point * header_.size[2] + z;
            const auto at = static_cast<std::size_t>((z - slices.begin) * slice);
            read_page(page, std::span(stored).subspan(at, static_cast<std::size_t>(slice)));
        }
        return converted(stored_type(), std::move(stored));
    }

    // Whether all pages use codecs that are safe for untrusted data.
    bool is_sturdy() const { return is_sturdy_; }

  private:
    void open(Descriptor file) {
        TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
        constexpr tmsize_t max = tmsize_t{1} << 31;  // per allocation for directories, strips or tiles
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, max);
        TIFFOpenOptionsSetErrorHandlerExtR(options, keep_message, &message_);
        TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, nullptr);
        // Mode m disables memory mapping, because the file may shrink.
        tiff_.reset(TIFFFdOpenExt(file.number(), path_.c_str(), "rm", options));
        TIFFOpenOptionsFree(options);
        if (tiff_) file.release();  // libtiff closes it
        if (!tiff_) refuse("is not a TIFF file, or is damaged: " + message_);
    }

    void survey_pages() {
        TIFF* tiff = tiff_.get();
        do {
            PageShape page;
            std::uint16_t compression = COMPRESSION_NONE, planar = PLANARCONFIG_CONTIG;
            TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &page.columns);
            TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &page.rows);
            TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &page.bits);
            TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &page.format);
            TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &page.samples);
            TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
            TIFFGetField(tiff, TIFFTAG_PLANARCONFIG, &planar);
            if (places_.empty()) shape_ = page;
            if (shape_ != page) {
                refuse(fmt::format("page {} differs from page 0 in size or voxel type", places_.size()),
                       "slices of one volume must be alike");
            }
            is_packed_ = is_packed_ || compression != COMPRESSION_NONE;
            is_sturdy_ = is_sturdy_ && std::ranges::count(sturdy_codecs, compression) > 0;
            places_.push_back(TIFFCurrentDirOffset(tiff));
            if (std::ssize(places_) > max_tiff_pages)
                refuse(fmt::format("has more than {}", counted(max_tiff_pages, "pages")));
            message_.clear();
        } while (TIFFReadDirectory(tiff) == 1);
        if (!message_.empty()) refuse(fmt::format("page {} is incomplete: {}", places_.size(), message_), again);
        if (shape_.columns == 0 || shape_.rows == 0) refuse("has no voxels", again);
    }

    StoredType stored_type() const {
        struct Known {
            int bits, format;
            StoredType type;
        };
        constexpr Known known[] = {
            {8, SAMPLEFORMAT_UINT, StoredType::u8},     {16, SAMPLEFORMAT_UINT, StoredType::u16},
            {32, SAMPLEFORMAT_UINT, StoredType::u32},   {64, SAMPLEFORMAT_UINT, StoredType::u64},
            {8, SAMPLEFORMAT_INT, StoredType::i8},      {16, SAMPLEFORMAT_INT, StoredType::i16},
            {32, SAMPLEFORMAT_INT, StoredType::i32},    {64, SAMPLEFORMAT_INT, StoredType::i64},
            {16, SAMPLEFORMAT_IEEEFP, StoredType::f16}, {32, SAMPLEFORMAT_IEEEFP, StoredType::f32},
            {64, SAMPLEFORMAT_IEEEFP, StoredType::f64}};
        const auto found = std::ranges::find_if(known, [&](const Known& each) {
            return each.bits == shape_.bits && each.format == shape_.format && shape_.samples == 1;
        });
        if (found == std::end(known)) {
            refuse(fmt::format("has no gray voxels of 8, 16, 32 or 64 bits: {} of {}",
                               counted(shape_.samples, "samples"), counted(shape_.bits, "bits")),
                   "convert it first");
        }
        return found->type;
    }

    std::string description() {
        const char* text = nullptr;
        TIFFSetSubDirectory(tiff_.get(), places_.front());
        if (TIFFGetField(tiff_.get(), TIFFTAG_IMAGEDESCRIPTION, &text) != 1) return "";
        constexpr std::size_t max = 64 << 20;
        return std::string(text, strnlen(text, max));
    }

    // Reads the pixel spacing. Resolutions without a unit are ignored.
    void read_resolution() {
        TIFFSetSubDirectory(tiff_.get(), places_.front());
        std::uint16_t unit = RESUNIT_INCH;
        TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_RESOLUTIONUNIT, &unit);
        const double millimetres = unit == RESUNIT_CENTIMETER ? 10 : unit == RESUNIT_INCH ? 25.4 : 0;
        for (const auto& [tag, axis] : {std::pair{TIFFTAG_XRESOLUTION, 0}, std::pair{TIFFTAG_YRESOLUTION, 1}}) {
            float resolution = 0;
            if (TIFFGetField(tiff_.get(), static_cast<std::uint32_t>(tag), &resolution) != 1) continue;
            const double spacing = millimetres / static_cast<double>(resolution);
            if (std::isfinite(spacing) && spacing > 0) header_.spacing_mm[static_cast<std::size_t>(axis)] = spacing;
        }
    }

    // Applies the description if it matches the number of pages.
    void order_pages() {
        const std::string text = description();
        std::optional<PageOrder> order = read_ome_xml(text, header_, path_.string());
        if (!order) order = read_imagej(text);
        if (!order) order = read_shape(text);
        if (!order) return;
        const std::int64_t pages = std::ssize(places_);
        const bool fits = order->slices >= 1 && order->slices <= pages && order->time_points == pages / order->slices &&
                          pages % order->slices == 0;
        if (!fits) {
            refuse(fmt::format("describes {} and {}, but has {}", counted(order->slices, "slices"),
                               counted(order->time_points, "time points"), counted(pages, "pages")),
                   "all pages must lie in one file");
        }
        order_ = *order;
        header_.size[2] = order->slices;
        header_.time_points = order->time_points;
    }

    // Example: "ImageJ=1.53\nimages=6\nslices=3\nframes=2\nspacing=0.5\nunit=micron\nfinterval=0.1"
    std::optional<PageOrder> read_imagej(const std::string& text) {
        if (!text.starts_with("ImageJ=")) return std::nullopt;
        std::map<std::string, std::string> fields;
        for (const std::string& line : words_of(text, "\r\n")) {
            const std::size_t equals = std::min(line.find('='), line.size() - 1);
            fields[line.substr(0, equals)] = line.substr(equals + 1);
        }
        const auto number = [&](const char* name, double otherwise) {
            const auto numbers = numbers_of(fields[name]);
            return numbers.size() == 1 && std::abs(numbers[0]) < 1e9 ? numbers[0] : otherwise;
        };
        if (number("channels", 1) != 1) refuse("has several channels", "split them first");
        const double millimetres = millimetres_in(fields["unit"]);
        std::uint16_t unit = RESUNIT_INCH;
        TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_RESOLUTIONUNIT, &unit);
        const std::array<int, 2> tags{TIFFTAG_XRESOLUTION, TIFFTAG_YRESOLUTION};
        // The resolution is in pixels per `unit`.
        for (std::size_t axis = 0; axis < 2 && unit == RESUNIT_NONE; ++axis) {
            float resolution = 0;
            TIFFGetField(tiff_.get(), static_cast<std::uint32_t>(tags[axis]), &resolution);
            if (resolution > 0) header_.spacing_mm[axis] = millimetres / static_cast<double>(resolution);
        }
        header_.spacing_mm[2] = std::abs(number("spacing", 0)) * millimetres;
        header_.time_step_s = std::max(0.0, number("finterval", 0));
        const auto frames = static_cast<std::int64_t>(number("frames", 1));
        const std::int64_t each = frames > 1 ? std::ssize(places_) / frames : std::ssize(places_);
        return PageOrder{static_cast<std::int64_t>(number("slices", static_cast<double>(each))), frames};
    }

    // Example of tifffile's description: {"shape": [2, 3, 5, 6]}
    std::optional<PageOrder> read_shape(const std::string& text) const {
        constexpr std::string_view begins = "{\"shape\": [";
        if (!text.starts_with(begins)) return std::nullopt;
        const auto sizes = numbers_of(text.substr(begins.size(), text.find(']') - begins.size()), ", ");
        const bool series = sizes.size() == 4 && sizes[0] >= 1 && sizes[0] < 1e9 && sizes[1] >= 1 && sizes[1] < 1e9;
        if (!series) return std::nullopt;
        return PageOrder{static_cast<std::int64_t>(sizes[1]), static_cast<std::int64_t>(sizes[0])};
    }

    void read_page(std::int64_t page, std::span<std::byte> out) {
        const std::uint64_t place = places_[static_cast<std::size_t>(page)];
        message_.clear();
        bool whole = TIFFCurrentDirOffset(tiff_.get()) == place || TIFFSetSubDirectory(tiff_.get(), place) == 1;
        whole = whole && (TIFFIsTiled(tiff_.get()) != 0 ? read_tiles(out) : read_strips(out));
        if (!whole) refuse(fmt::format("page {} is incomplete or damaged: {}", page, message_), again);
    }

    bool read_strips(std::span<std::byte> out) {
        TIFF* tiff = tiff_.get();
        const std::uint32_t strips = TIFFNumberOfStrips(tiff);
        std::uint32_t rows = shape_.rows;
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
        rows = std::min(rows, shape_.rows);
        const std::size_t row_bytes = out.size() / shape_.rows;
        for (std::uint32_t strip = 0; strip < strips && !out.empty(); ++strip) {
            const std::size_t bytes = std::min(out.size(), rows * row_bytes);
            if (TIFFReadEncodedStrip(tiff, strip, out.data(), static_cast<tmsize_t>(bytes)) !=
                static_cast<tmsize_t>(bytes)) {
                return false;
            }
            out = out.subspan(bytes);
        }
        return out.empty();
    }

    // Copies tiles to the slice; tiles at the edges extend beyond it.
    bool read_tiles(std::span<std::byte> out) {
        TIFF* tiff = tiff_.get();
        std::uint32_t width = 0, height = 0;
        TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
        TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
        const auto voxel = static_cast<std::size_t>(bytes_of(stored_type()));
        const tmsize_t bytes = TIFFTileSize(tiff);
        constexpr std::uint32_t max_side = 1 << 16;
        if (width == 0 || height == 0 || width > max_side || height > max_side ||
            bytes != static_cast<tmsize_t>(width * voxel * height)) {
            return false;
        }
        std::vector<std::byte> tile(static_cast<std::size_t>(bytes));
        if (shape_.rows > UINT32_MAX - max_side || shape_.columns > UINT32_MAX - max_side) return false;
        for (std::uint32_t top = 0; top < shape_.rows; top += height) {
            for (std::uint32_t left = 0; left < shape_.columns; left += width) {
                if (TIFFReadTile(tiff, tile.data(), left, top, 0, 0) < 0) return false;
                const std::size_t row_bytes = std::min(width, shape_.columns - left) * voxel;
                for (std::uint32_t row = top; row < std::min(top + height, shape_.rows); ++row) {
                    const std::size_t place = (static_cast<std::size_t>(row) * shape_.columns + left) * voxel;
                    std::memcpy(out.data() + place, tile.data() + (row - top) * width * voxel, row_bytes);
                }
            }
        }
        return true;
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const {
        throw Error(ErrorCode::bad_file, what, path_.string(), remedy);
    }

    static constexpr const char* again = "copy the file again";

    std::filesystem::path path_;
    std::string message_;
    TiffHandle tiff_;
    PageShape shape_;
    std::vector<std::uint64_t> places_;  // offsets of the pages' directories
    bool is_packed_ = false, is_sturdy_ = true;
    PageOrder order_;
    ImageHeader header_;
};

}  // namespace

std::unique_ptr<ImageReader> read_tiff(int descriptor, const std::filesystem::path& path) {
    return std::make_unique<TiffReader>(Descriptor(descriptor), path);
}

std::unique_ptr<ImageReader> open_tiff(const std::filesystem::path& path) {
    auto reader = std::make_unique<TiffReader>(open_regular(path), path);
    if (reader->is_sturdy()) return reader;
    // Memory limit of the reader process, in addition to several pages.
    constexpr std::int64_t some = 512 << 20;
    const std::int64_t page_bytes = reader->header().slice_bytes();
    return open_contained({.kind = "tiff", .path = path, .max_bytes = some + 8 * page_bytes});
}

}  // namespace echolux
