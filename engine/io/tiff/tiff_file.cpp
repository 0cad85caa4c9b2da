// TIFF with one page per slice. Reads the descriptions of OME-TIFF, ImageJ and tifffile. Writes OME-TIFF with one raw
// or deflated strip per page, as BigTIFF if 4 GiB are not enough, and the description in the first page.
#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/contained/reader_process.h"
#include "engine/io/file_bytes.h"
#include "engine/io/formats.h"
#include "engine/io/image_header.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

// Limited because libtiff searches directories linearly, which takes seconds for this many.
constexpr std::int64_t max_tiff_pages = 100'000;

// Assignment of pages to slices and time points.
struct PageOrder {
    std::int64_t slices = 1;
    std::int64_t time_points = 1;
    bool time_first = false;  // pages of the same slice are adjacent
};

// ---- OME-XML --------------------------------------------------------------------------------------------------------
// The description of an OME-TIFF file, stored with its first page (docs.openmicroscopy.org, schema 2016-06). Our texts
// are a map annotation. pugixml expands only the five predefined entities of XML, so that input cannot grow.

const char* ome_type(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return "uint8";
        case VoxelType::u16: return "uint16";
        case VoxelType::i16: return "int16";
        default: return "float";
    }
}

constexpr std::array<const char*, 3> size_names{"SizeX", "SizeY", "SizeZ"};
constexpr std::array<const char*, 3> spacing_names{"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
constexpr std::array<const char*, 3> unit_names{"PhysicalSizeXUnit", "PhysicalSizeYUnit", "PhysicalSizeZUnit"};

// Adds one Plane with a time stamp per time point.
void add_planes(const ImageHeader& header, pugi::xml_node& pixels) {
    for (std::int64_t t = 0; t < header.time_points; ++t) {
        const bool given = !header.times_s.empty();
        const double time = given ? header.times_s[index(t)] : static_cast<double>(t) * header.time_step_s;
        pugi::xml_node plane = pixels.append_child("Plane");
        for (const char* name : {"TheZ", "TheC"}) plane.append_attribute(name) = 0;
        plane.append_attribute("TheT") = static_cast<long long>(t);
        plane.append_attribute("DeltaT") = time;
    }
}

void add_pixels(const ImageHeader& header, pugi::xml_node& image) {
    pugi::xml_node pixels = image.append_child("Pixels");
    pixels.append_attribute("ID") = "Pixels:0";
    pixels.append_attribute("DimensionOrder") = "XYZCT";
    pixels.append_attribute("Type") = ome_type(header.type);
    pixels.append_attribute("BigEndian") = false;
    for (std::size_t i = 0; i < 3; ++i) {
        pixels.append_attribute(size_names[i]) = static_cast<long long>(header.size[i]);
        // OME assumes micrometres without a unit.
        if (header.spacing_mm[i] > 0) pixels.append_attribute(spacing_names[i]) = header.spacing_mm[i] * 1000;
    }
    pixels.append_attribute("SizeC") = 1;
    pixels.append_attribute("SizeT") = static_cast<long long>(header.time_points);
    const bool timed = header.time_step_s > 0 || !header.times_s.empty();
    if (header.time_step_s > 0) pixels.append_attribute("TimeIncrement") = header.time_step_s;
    pugi::xml_node channel = pixels.append_child("Channel");
    channel.append_attribute("ID") = "Channel:0:0";
    channel.append_attribute("SamplesPerPixel") = 1;
    pixels.append_child("TiffData");
    if (timed && header.time_points > 1) add_planes(header, pixels);
}

void add_texts(const ImageHeader& header, pugi::xml_node& root) {
    pugi::xml_node annotation = root.append_child("StructuredAnnotations").append_child("MapAnnotation");
    annotation.append_attribute("ID") = "Annotation:0";
    annotation.append_attribute("Namespace") = "echolux";
    pugi::xml_node value = annotation.append_child("Value");
    for (const auto& [key, text] : header.texts) {
        pugi::xml_node entry = value.append_child("M");
        entry.append_attribute("K") = key.c_str();
        entry.text().set(text.c_str());
    }
}

void read_texts(const pugi::xml_node& root, ImageHeader& header) {
    for (const pugi::xml_node& annotation : root.child("StructuredAnnotations").children("MapAnnotation")) {
        for (const pugi::xml_node& entry : annotation.child("Value").children("M")) {
            header.texts[entry.attribute("K").value()] = entry.text().get();
        }
    }
}

void read_times(const pugi::xml_node& pixels, ImageHeader& header, std::int64_t time_points) {
    const std::string unit = pixels.attribute("TimeIncrementUnit").as_string("s");
    const double step = pixels.attribute("TimeIncrement").as_double() * seconds_in(unit);
    if (std::isfinite(step) && step > 0) header.time_step_s = step;
    std::map<std::int64_t, double> times;  // of the first plane per time point that has a time
    for (const pugi::xml_node& plane : pixels.children("Plane")) {
        const double factor = seconds_in(plane.attribute("DeltaTUnit").as_string("s"));
        const double time = plane.attribute("DeltaT").as_double(std::nan("")) * factor;
        if (std::isfinite(time)) times.emplace(plane.attribute("TheT").as_llong(), time);
    }
    bool even = true;
    // Evenly spaced times are already described by time_step_s.
    for (const auto& [t, time] : times) {
        even = even && std::abs(time - static_cast<double>(t) * header.time_step_s) <= 1e-9 * std::abs(time);
    }
    if (even || std::ssize(times) != time_points) return;
    for (const auto& [t, time] : times) header.times_s.push_back(time);
}

// Returns the description to store in a file.
std::string ome_xml(const ImageHeader& header) {
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("OME");
    constexpr const char* schema = "http://www.openmicroscopy.org/Schemas/OME/2016-06";
    root.append_attribute("xmlns") = schema;
    root.append_attribute("xmlns:xsi") = "http://www.w3.org/2001/XMLSchema-instance";
    root.append_attribute("xsi:schemaLocation") = (std::string(schema) + " " + schema + "/ome.xsd").c_str();
    root.append_attribute("Creator") = "Echolux";
    pugi::xml_node image = root.append_child("Image");
    image.append_attribute("ID") = "Image:0";
    const auto description = header.texts.find("description");
    if (description != header.texts.end()) image.append_attribute("Name") = description->second.c_str();
    add_pixels(header, image);
    image.append_child("AnnotationRef").append_attribute("ID") = "Annotation:0";
    add_texts(header, root);
    std::ostringstream text;
    text.exceptions(std::ios::badbit);  // a stream does not report exhausted memory by default
    text << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    document.save(text, "", pugi::format_raw | pugi::format_no_declaration);
    return text.str();
}

// Parses a description and adds spacings, times and texts to `header`. Returns std::nullopt if the text is not OME-XML.
// Throws Error{bad_file} naming `where` if it is damaged or has several channels.
std::optional<PageOrder> read_ome_xml(const std::string& text, ImageHeader& header, const std::string& where) {
    if (text.find("<OME") == std::string::npos) return std::nullopt;
    const auto refuse = [&](const char* what, const char* remedy) {
        throw Error(ErrorCode::bad_file, what, where, remedy);
    };
    pugi::xml_document document;
    if (!document.load_buffer(text.data(), text.size())) refuse("has a damaged OME-XML description", "copy it again");
    const pugi::xml_node root = document.child("OME");
    const pugi::xml_node pixels = root.child("Image").child("Pixels");
    if (!pixels) return std::nullopt;
    if (pixels.attribute("SizeC").as_llong(1) != 1) refuse("has several channels", "split them first");
    for (std::size_t i = 0; i < 3; ++i) {
        const double millimetres = millimetres_in(pixels.attribute(unit_names[i]).as_string("um"));
        const double spacing = pixels.attribute(spacing_names[i]).as_double() * millimetres;
        if (std::isfinite(spacing) && spacing > 0) header.spacing_mm[i] = spacing;
    }
    const std::string order = pixels.attribute("DimensionOrder").as_string("XYZCT");
    const PageOrder pages{pixels.attribute("SizeZ").as_llong(1), pixels.attribute("SizeT").as_llong(1),
                          order.find('T') < order.find('Z')};
    read_times(pixels, header, pages.time_points);
    read_texts(root, header);
    return pages;
}

// ---- reading --------------------------------------------------------------------------------------------------------
// Reads TIFF through libtiff. All pages are scanned first, because they must be alike, and because libtiff finds a page
// only by walking from the first one. The offsets of their directories are kept.

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
        std::vector<std::byte> stored(index((slices.end - slices.begin) * slice));
        for (std::int64_t z = slices.begin; z < slices.end; ++z) {
            const std::int64_t page =
                order_.time_first ? z * header_.time_points + time_point : time_point * header_.size[2] + z;
            const auto at = index((z - slices.begin) * slice);
            read_page(page, std::span(stored).subspan(at, index(slice)));
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
                       "all slices of a volume must have the same size and type");
            }
            is_packed_ = is_packed_ || compression != COMPRESSION_NONE;
            is_sturdy_ = is_sturdy_ && std::ranges::count(sturdy_codecs, compression) > 0;
            places_.push_back(TIFFCurrentDirOffset(tiff));
            if (std::ssize(places_) > max_tiff_pages)
                refuse(fmt::format("has more than {}", plural(max_tiff_pages, "pages")));
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
                               plural(shape_.samples, "samples"), plural(shape_.bits, "bits")),
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
            if (std::isfinite(spacing) && spacing > 0) header_.spacing_mm[index(axis)] = spacing;
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
            refuse(fmt::format("describes {} and {}, but has {}", plural(order->slices, "slices"),
                               plural(order->time_points, "time points"), plural(pages, "pages")),
                   "all pages must be in one file");
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
        const std::uint64_t place = places_[index(page)];
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
        const auto voxel = index(bytes_of(stored_type()));
        const tmsize_t bytes = TIFFTileSize(tiff);
        constexpr std::uint32_t max_side = 1 << 16;
        if (width == 0 || height == 0 || width > max_side || height > max_side ||
            bytes != static_cast<tmsize_t>(width * voxel * height)) {
            return false;
        }
        std::vector<std::byte> tile(index(bytes));
        if (shape_.rows > UINT32_MAX - max_side || shape_.columns > UINT32_MAX - max_side) return false;
        for (std::uint32_t top = 0; top < shape_.rows; top += height) {
            for (std::uint32_t left = 0; left < shape_.columns; left += width) {
                if (TIFFReadTile(tiff, tile.data(), left, top, 0, 0) < 0) return false;
                const std::size_t row_bytes = std::min(width, shape_.columns - left) * voxel;
                for (std::uint32_t row = top; row < std::min(top + height, shape_.rows); ++row) {
                    const std::size_t place = (index(row) * shape_.columns + left) * voxel;
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

// ---- writing --------------------------------------------------------------------------------------------------------
// Writes TIFF 6.0 and BigTIFF without libtiff, which scans all pages before it appends one. Each page is written once,
// its voxels before its directory.

namespace {

static_assert(std::endian::native == std::endian::little, "files store numbers as memory does");

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
        const auto slice = index(header_.slice_bytes());
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
        throw Error(ErrorCode::output, fmt::format("TIFF files hold at most {}", plural(max_tiff_pages, "slices")),
                    where, "use .ome.zarr or .h5");
    }
    return std::make_unique<TiffWriter>(path, header, storage.compression == Compression::gzip, where);
}

}  // namespace echolux
