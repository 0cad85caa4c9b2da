// PNG pictures through libpng. It reports errors by longjmp(), which skips destructors, so the functions that call it
// (encode_*, decode_*) have no local objects with destructors.
#include "engine/io/png_file.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"

namespace echolux {
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
                    fmt::format("{} do not make a picture of {} x {} pixels with {}", counted(pixels.size(), "bytes"),
                                picture.width, picture.height, counted(picture.channels, "channels")),
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
    picture.pixels.resize(static_cast<std::size_t>(row_bytes * picture.height));
    std::vector<png_bytep> rows;
    for (std::int64_t row = 0; row < picture.height; ++row) rows.push_back(picture.pixels.data() + row * row_bytes);
    if (!decode_rows(codec, rows.data())) fail(codec, path);
    picture.text = texts_of(codec);
    return picture;
}

}  // namespace echolux
