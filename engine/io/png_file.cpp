// Implements png_file.h. libpng reports errors by longjmp(), which skips destructors, so the functions that call it
// (encode_*, decode_*, and read_header() and read_rows() of slices) have no local objects with destructors.
#include "engine/io/png_file.h"

#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/regular_file.h"

namespace echolux {

// ---- chunks ---------------------------------------------------------------------------------------------------------

namespace {

// Iterates over the chunks of a file.
class PngChunks {
  public:
    explicit PngChunks(const std::filesystem::path& path) : stream_(open_file(path)), where_(path.string()) {
        std::array<unsigned char, 8> signature{};
        if (!read(signature.data(), signature.size()) || png_sig_cmp(signature.data(), 0, signature.size()) != 0) {
            throw Error(ErrorCode::bad_file, "is not a PNG file", where_, "check the name");
        }
    }

    // Throws if a chunk is longer than the rest of the file.
    void check() {
        while (next()) {
        }
    }

    PictureTexts texts() {
        PictureTexts texts;
        while (next()) {
            if (type_ == "tEXt" || type_ == "iTXt") take(content(), texts);
        }
        return texts;
    }

  private:
    static constexpr std::uint32_t max_text = 1 << 24;

    bool read(unsigned char* into, std::size_t bytes) {
        return static_cast<bool>(stream_.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(bytes)));
    }

    // Advances to the next chunk and returns false after the last one, IEND.
    bool next() {
        if (type_ == "IEND") return false;
        std::array<unsigned char, 8> head{};
        stream_.seekg(begin_);
        if (!read(head.data(), head.size())) {
            throw Error(ErrorCode::bad_file, "ends before the image is complete", where_, "copy the file again");
        }
        length_ = png_get_uint_32(head.data());
        type_.assign(reinterpret_cast<const char*>(head.data()) + 4, 4);
        constexpr std::streamoff frame = 12;  // length, type and checksum
        begin_ += frame + static_cast<std::streamoff>(length_);
        return true;
    }

    // Returns the content of the current chunk; "" if it is too long. Throws if its checksum is wrong.
    std::string content() {
        if (length_ > max_text) return {};
        std::string text(length_, '\0');
        std::array<unsigned char, 4> checksum{};
        const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
        const bool is_there = read(reinterpret_cast<unsigned char*>(text.data()), length_) && read(checksum.data(), 4);
        const uLong begun = crc32(0, reinterpret_cast<const Bytef*>(type_.data()), 4);
        if (is_there && crc32(begun, bytes, length_) == png_get_uint_32(checksum.data())) return text;
        throw Error(ErrorCode::bad_file, "a text in it is damaged", where_, "copy the file again");
    }

    // Parses keyword, zero byte, text. iTXt has compression flag and method, language and translated keyword in
    // between; compressed texts are ignored.
    void take(const std::string& chunk, PictureTexts& texts) const {
        const std::size_t key = chunk.find('\0');
        if (key == std::string::npos) return;
        std::size_t begin = key + 1;
        if (type_ == "iTXt") {
            if (chunk.size() < begin + 2 || chunk[begin] != '\0') return;
            const std::size_t language = chunk.find('\0', begin + 2);
            const std::size_t translated = language == std::string::npos ? language : chunk.find('\0', language + 1);
            if (translated == std::string::npos) return;
            begin = translated + 1;
        }
        texts[chunk.substr(0, key)] = chunk.substr(begin);
    }

    std::ifstream stream_;
    std::string where_;
    std::string type_;
    std::uint32_t length_ = 0;
    std::streamoff begin_ = 8;  // position of the next chunk
};

// Checks that no chunk claims more bytes than the file has, because libpng allocates as much memory as a chunk claims.
// Throws Error{bad_file} naming the file if it is missing, is not a PNG file or is too short.
void check_png_chunks(const std::filesystem::path& path) {
    PngChunks(path).check();
}

}  // namespace

PictureTexts png_texts(const std::filesystem::path& path) {
    return PngChunks(path).texts();
}

// ---- pictures -------------------------------------------------------------------------------------------------------

namespace {

// Indexed by the number of channels.
constexpr int colour_types[] = {0, PNG_COLOR_TYPE_GRAY, 0, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};

// Owns an open file and libpng's two structs, and stores the message of a failure.
struct Codec {
    std::FILE* file = nullptr;
    png_structp png = nullptr;
    png_infop chunks = nullptr;
    bool writes = false;
    std::array<char, 128> message{};

    Codec(const std::filesystem::path& path, bool write)
        : file(std::fopen(path.c_str(), write ? "wb" : "rb")), writes(write) {
        if (file == nullptr) {
            std::snprintf(message.data(), message.size(), "%s", std::strerror(errno));
            return;
        }
        png = write ? png_create_write_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning)
                    : png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        if (png != nullptr) chunks = png_create_info_struct(png);
    }
    ~Codec() {
        if (writes) png_destroy_write_struct(&png, &chunks);
        if (!writes) png_destroy_read_struct(&png, &chunks, nullptr);
        if (file != nullptr) std::fclose(file);
    }
    Codec(const Codec&) = delete;
    Codec& operator=(const Codec&) = delete;

    bool ready() const { return chunks != nullptr; }

    bool close() {
        const bool closed = std::fclose(file) == 0;
        file = nullptr;
        if (!closed) std::snprintf(message.data(), message.size(), "%s", std::strerror(errno));
        return closed;
    }

    [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
        auto& codec = *static_cast<Codec*>(png_get_error_ptr(png));
        std::snprintf(codec.message.data(), codec.message.size(), "%s", text);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}
};

// tEXt chunks hold only Latin-1, so texts beyond ASCII are stored as iTXt (UTF-8). The result refers to `texts`.
std::vector<png_text> text_chunks(const PictureTexts& texts) {
    std::vector<png_text> chunks;
    for (const auto& [key, value] : texts) {
        const bool ascii = std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
        png_text chunk{};
        chunk.compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
        chunk.key = const_cast<char*>(key.c_str());  // libpng copies the strings; its types lack const
        chunk.text = const_cast<char*>(value.c_str());
        chunk.text_length = value.size();
        chunks.push_back(chunk);
    }
    return chunks;
}

bool encode_header(Codec& codec, const PictureShape& shape, const std::vector<png_text>& texts) {
    if (setjmp(png_jmpbuf(codec.png)) != 0) return false;
    png_init_io(codec.png, codec.file);
    png_set_IHDR(codec.png, codec.chunks, static_cast<png_uint_32>(shape.width), static_cast<png_uint_32>(shape.height),
                 shape.bits, colour_types[shape.channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (!texts.empty()) png_set_text(codec.png, codec.chunks, texts.data(), static_cast<int>(texts.size()));
    png_write_info(codec.png, codec.chunks);
    if (shape.bits == 16) png_set_swap(codec.png);  // PNG samples are big-endian
    return true;
}

bool encode_rows(Codec& codec, const std::byte* rows, std::int64_t count, std::int64_t row_bytes) {
    if (setjmp(png_jmpbuf(codec.png)) != 0) return false;
    for (std::int64_t row = 0; row < count; ++row) {
        png_write_row(codec.png, reinterpret_cast<png_const_bytep>(rows + row * row_bytes));
    }
    return true;
}

// `texts` are those that became known while writing the pixels.
bool encode_end(Codec& codec, const std::vector<png_text>& texts) {
    if (setjmp(png_jmpbuf(codec.png)) != 0) return false;
    png_set_text(codec.png, codec.chunks, texts.data(), static_cast<int>(texts.size()));
    png_write_end(codec.png, codec.chunks);
    return true;
}

bool decode_header(Codec& codec) {
    if (setjmp(png_jmpbuf(codec.png)) != 0) return false;
    png_init_io(codec.png, codec.file);
    png_read_info(codec.png, codec.chunks);
    const int color = png_get_color_type(codec.png, codec.chunks);
    png_set_expand(codec.png);  // palettes, fewer than 8 bits, transparent colours
    png_set_strip_16(codec.png);
    if (color == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(codec.png);
    png_set_interlace_handling(codec.png);
    png_read_update_info(codec.png, codec.chunks);
    return true;
}

bool decode_rows(Codec& codec, png_bytepp rows) {
    if (setjmp(png_jmpbuf(codec.png)) != 0) return false;
    png_read_image(codec.png, rows);
    png_read_end(codec.png, codec.chunks);
    return true;
}

[[noreturn]] void fail(const Codec& codec, const std::filesystem::path& path) {
    if (codec.writes) {
        throw Error(ErrorCode::output, fmt::format("cannot be written: {}", codec.message.data()), path.string(),
                    "check folder, permissions and free space");
    }
    throw Error(ErrorCode::bad_file, fmt::format("cannot be read as PNG: {}", codec.message.data()), path.string());
}

// The fingerprint is known only at the end, so it is stored in a text chunk after the pixels.
class PngWriter : public PictureWriter {
  public:
    PngWriter(const std::filesystem::path& path, const PictureShape& shape, const PictureTexts& texts)
        : PictureWriter(shape), path_(path), file_(path), codec_(file_.temporary(), true) {
        if (!codec_.ready() || !encode_header(codec_, shape, text_chunks(texts))) fail(codec_, path_);
    }

  private:
    void put(std::span<const std::byte> rows) override {
        const std::int64_t row_bytes = shape().row_bytes();
        if (!encode_rows(codec_, rows.data(), std::ssize(rows) / row_bytes, row_bytes)) fail(codec_, path_);
    }

    void end(const std::string& fingerprint) override {
        const PictureTexts texts{{text_pixels, fingerprint}};
        if (!encode_end(codec_, text_chunks(texts)) || !codec_.close()) fail(codec_, path_);
        file_.commit();
    }

    std::filesystem::path path_;
    AtomicFile file_;
    Codec codec_;
};

std::map<std::string, std::string> texts_of(const Codec& codec) {
    png_textp texts = nullptr;
    int count = 0;
    png_get_text(codec.png, codec.chunks, &texts, &count);
    std::map<std::string, std::string> map;
    for (int i = 0; i < count; ++i) map[texts[i].key] = texts[i].text;
    return map;
}

}  // namespace

std::unique_ptr<PictureWriter> create_png(const std::filesystem::path& path, const PictureShape& shape,
                                          const PictureTexts& texts) {
    return std::make_unique<PngWriter>(path, shape, texts);
}

void write_png(const std::filesystem::path& path, const Picture& picture) {
    const PictureShape shape{picture.width, picture.height, picture.channels};
    const auto pixels = std::as_bytes(std::span(picture.pixels));
    if (std::ssize(pixels) != shape.row_bytes() * shape.height) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} do not form an image of {} x {} pixels with {}", plural(pixels.size(), "bytes"),
                                picture.width, picture.height, plural(picture.channels, "channels")),
                    path.string());
    }
    const auto writer = create_picture(path, shape, picture.text);
    writer->write(pixels);
    writer->finish();
}

// Checks chunks and size against the file before libpng and this function allocate memory.
Picture read_png(const std::filesystem::path& path) {
    check_png_chunks(path);
    Codec codec(path, false);
    if (!codec.ready() || !decode_header(codec)) fail(codec, path);
    Picture picture;
    picture.width = png_get_image_width(codec.png, codec.chunks);
    picture.height = png_get_image_height(codec.png, codec.chunks);
    picture.channels = png_get_channels(codec.png, codec.chunks);
    const std::int64_t row_bytes = picture.width * picture.channels;
    constexpr double best_deflate = 1032;  // maximum compression ratio of deflate
    const double claimed = static_cast<double>(row_bytes) * static_cast<double>(picture.height);
    // 1-bit gray expands by a factor of 8.
    if (claimed / 8 > best_deflate * static_cast<double>(std::filesystem::file_size(path))) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("claims {} x {} pixels, more than its bytes can hold", picture.width, picture.height),
                    path.string());
    }
    picture.pixels.resize(index(row_bytes * picture.height));
    std::vector<png_bytep> rows;
    for (std::int64_t row = 0; row < picture.height; ++row) rows.push_back(picture.pixels.data() + row * row_bytes);
    if (!decode_rows(codec, rows.data())) fail(codec, path);
    picture.text = texts_of(codec);
    return picture;
}

// ---- encoding in memory ---------------------------------------------------------------------------------------------

namespace {

using Bytes = std::vector<std::byte>;

// Appends a big-endian number.
void put_number(Bytes& to, std::uint32_t number) {
    for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::byte>(number >> shift & 0xFF));
}

void put_chunk(Bytes& to, const char* type, std::span<const std::byte> content) {
    put_number(to, static_cast<std::uint32_t>(content.size()));
    const std::size_t begin = to.size();
    for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::byte>(type[i]));
    to.insert(to.end(), content.begin(), content.end());
    const auto* checked = reinterpret_cast<const Bytef*>(to.data() + begin);
    put_number(to, static_cast<std::uint32_t>(crc32(0, checked, static_cast<uInt>(to.size() - begin))));
}

// Subtracts the pixel above from each byte (PNG filter 2), which turns most of a rendered picture into zeros.
void filter_row(const std::uint8_t* row, const std::uint8_t* above, std::int64_t width, int channels,
                std::uint8_t* to) {
    *to++ = 2;
    for (std::int64_t x = 0; x < width; ++x, row += 4, to += channels) {
        for (int i = 0; i < channels; ++i)
            to[i] = static_cast<std::uint8_t>(row[i] - (above != nullptr ? above[i] : 0));
        if (above != nullptr) above += 4;
    }
}

// Strips are compressed in parallel, each as a separate part of one deflate stream: a full flush ends a part at a byte
// boundary (RFC 1951). The checksums of the strips are combined for the zlib frame.
struct Strip {
    std::vector<std::uint8_t> filtered;
    Bytes packed;
    uLong sum = 1;
    bool is_packed = false;
};

bool pack(Strip& strip, int level, bool is_last) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    strip.packed.resize(deflateBound(&stream, static_cast<uLong>(strip.filtered.size())) + 16);
    stream.next_in = strip.filtered.data();
    stream.avail_in = static_cast<uInt>(strip.filtered.size());
    stream.next_out = reinterpret_cast<Bytef*>(strip.packed.data());
    stream.avail_out = static_cast<uInt>(strip.packed.size());
    const int result = deflate(&stream, is_last ? Z_FINISH : Z_FULL_FLUSH);
    strip.packed.resize(stream.total_out);
    deflateEnd(&stream);
    strip.sum = adler32(1, strip.filtered.data(), static_cast<uInt>(strip.filtered.size()));
    return result == (is_last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0;
}

}  // namespace

std::vector<std::byte> png_bytes(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                                 Alpha alpha, int level) {
    if (width < 1 || height < 1 || std::ssize(rgba) != 4 * width * height)
        throw Error(ErrorCode::bad_setting, "the pixels do not match the size of the image", "PNG");
    constexpr std::int64_t rows = 64;  // of a strip
    const int channels = alpha == Alpha::kept ? 4 : 3;
    const std::int64_t row_bytes = channels * width + 1;
    std::vector<Strip> strips(index((height + rows - 1) / rows));
    parallel_for(0, std::ssize(strips), [&](std::int64_t i) {
        Strip& strip = strips[index(i)];
        const std::int64_t first = i * rows, end = std::min(height, first + rows);
        strip.filtered.resize(index((end - first) * row_bytes));
        for (std::int64_t y = first; y < end; ++y) {
            const std::uint8_t* row = rgba.data() + 4 * width * y;
            filter_row(row, y > 0 ? row - 4 * width : nullptr, width, channels,
                       strip.filtered.data() + (y - first) * row_bytes);
        }
        strip.is_packed = pack(strip, level, end == height);
    });
    // zlib header: window of 32 KiB, fastest compression.
    Bytes body{std::byte{0x78}, std::byte{0x01}};
    uLong sum = 1;
    for (const Strip& strip : strips) {
        if (!strip.is_packed) throw Error(ErrorCode::out_of_memory, "no memory to compress the image", "PNG");
        body.insert(body.end(), strip.packed.begin(), strip.packed.end());
        sum = adler32_combine(sum, strip.sum, static_cast<z_off_t>(strip.filtered.size()));
    }
    put_number(body, static_cast<std::uint32_t>(sum));

    constexpr std::array<unsigned char, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    Bytes png;
    png.reserve(body.size() + 64);
    for (const unsigned char byte : signature) png.push_back(std::byte{byte});
    Bytes header;
    put_number(header, static_cast<std::uint32_t>(width));
    put_number(header, static_cast<std::uint32_t>(height));
    const int colours = alpha == Alpha::kept ? 6 : 2;  // colour type: RGBA, RGB
    for (const int byte : {8, colours, 0, 0, 0}) header.push_back(static_cast<std::byte>(byte));
    put_chunk(png, "IHDR", header);
    put_chunk(png, "IDAT", body);
    put_chunk(png, "IEND", {});
    return png;
}

// ---- slices ---------------------------------------------------------------------------------------------------------

namespace {

struct Decoder {
    explicit Decoder(const std::filesystem::path& path) {
        check_png_chunks(path);
        file = std::fopen(path.c_str(), "rb");
        png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
        if (png != nullptr) chunks = png_create_info_struct(png);
    }
    ~Decoder() {
        png_destroy_read_struct(&png, &chunks, nullptr);
        if (file != nullptr) std::fclose(file);
    }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    static void on_error(png_structp png, png_const_charp text) {
        auto* self = static_cast<Decoder*>(png_get_error_ptr(png));
        std::strncpy(self->message.data(), text, self->message.size() - 1);
        png_longjmp(png, 1);
    }
    static void on_warning(png_structp, png_const_charp) {}

    std::FILE* file = nullptr;
    png_structp png = nullptr;
    png_infop chunks = nullptr;
    std::array<char, 128> message{"does not exist or cannot be opened"};
};

bool read_header(Decoder& decoder) {
    if (decoder.file == nullptr || decoder.chunks == nullptr || setjmp(png_jmpbuf(decoder.png)) != 0) return false;
    png_init_io(decoder.png, decoder.file);
    png_read_info(decoder.png, decoder.chunks);
    png_set_expand(decoder.png);
    png_set_rgb_to_gray(decoder.png, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
    png_set_strip_alpha(decoder.png);
    png_set_swap(decoder.png);
    png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.chunks);
    return true;
}

bool read_rows(Decoder& decoder, png_bytepp rows) {
    if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
    png_read_image(decoder.png, rows);
    png_read_end(decoder.png, nullptr);
    return true;
}

[[noreturn]] void fail(const Decoder& decoder, const std::filesystem::path& path) {
    throw Error(ErrorCode::bad_file, fmt::format("cannot be read as PNG: {}", decoder.message.data()), path.string(),
                "copy the file again");
}

GrayPicture sizes_of(Decoder& decoder, const std::filesystem::path& path) {
    if (!read_header(decoder)) fail(decoder, path);
    GrayPicture picture;
    picture.width = png_get_image_width(decoder.png, decoder.chunks);
    picture.height = png_get_image_height(decoder.png, decoder.chunks);
    picture.pixel_bytes = png_get_bit_depth(decoder.png, decoder.chunks) == 16 ? 2 : 1;
    std::error_code problem;
    const auto packed = static_cast<double>(std::filesystem::file_size(path, problem));
    constexpr double best_deflate = 1032;  // maximum compression ratio of deflate
    const double claimed = static_cast<double>(picture.width) * static_cast<double>(picture.height);
    if (problem || claimed / 8 > packed * best_deflate) {  // 1-bit pixels
        throw Error(ErrorCode::bad_file,
                    fmt::format("claims {} x {} pixels, which its bytes cannot hold", picture.width, picture.height),
                    path.string(), "copy the file again");
    }
    return picture;
}

}  // namespace

GrayPicture gray_png_sizes(const std::filesystem::path& path) {
    Decoder decoder(path);
    return sizes_of(decoder, path);
}

GrayPicture read_gray_png(const std::filesystem::path& path) {
    Decoder decoder(path);
    GrayPicture picture = sizes_of(decoder, path);
    const std::int64_t row_bytes = picture.width * picture.pixel_bytes;
    picture.pixels.resize(index(picture.height * row_bytes));
    std::vector<png_bytep> rows;
    for (std::int64_t row = 0; row < picture.height; ++row) {
        rows.push_back(reinterpret_cast<png_bytep>(picture.pixels.data() + row * row_bytes));
    }
    if (!read_rows(decoder, rows.data())) fail(decoder, path);
    return picture;
}

}  // namespace echolux
