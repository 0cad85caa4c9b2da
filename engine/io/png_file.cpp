// PNG pictures through libpng. It reports errors by longjmp, so that the functions that call it own nothing. Texts are
// found without it, chunk by chunk, so that pixels need not be decoded.
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

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

constexpr int colour_types[] = {0, PNG_COLOR_TYPE_GRAY, 0, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};

// An open file and libpng's two structs, released together. The message of a failure is kept here.
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

std::vector<png_text> text_chunks(const PictureTexts& texts) {
    std::vector<png_text> chunks;
    for (const auto& [key, value] : texts) {
        const bool ascii = std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
        png_text chunk{};
        chunk.compression = ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
        chunk.key = const_cast<char*>(key.c_str());  // libpng copies, its types come from before const
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
    if (shape.bits == 16) png_set_swap(codec.png);  // a PNG's bytes are big-endian
    return true;
}

bool encode_rows(Codec& codec, const std::byte* rows, std::int64_t count, std::int64_t row_bytes) {
    if (setjmp(png_jmpbuf(codec.png)) != 0) return false;
    for (std::int64_t row = 0; row < count; ++row) {
        png_write_row(codec.png, reinterpret_cast<png_const_bytep>(rows + row * row_bytes));
    }
    return true;
}

// `texts` are those that were not known at the beginning.
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
    png_set_expand(codec.png);  // palettes, less than 8 bits, transparent colours
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

// The chunks of a file, one after the other.
class PngChunks {
  public:
    explicit PngChunks(const std::filesystem::path& path) : stream_(regular_stream(path)), where_(path.string()) {
        std::array<unsigned char, 8> signature{};
        if (!read(signature.data(), signature.size()) || png_sig_cmp(signature.data(), 0, signature.size()) != 0) {
            throw Error(ErrorCode::bad_file, "is not a PNG file", where_, "check the name");
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

    // False: this was the last one.
    bool next() {
        if (type_ == "IEND") return false;
        std::array<unsigned char, 8> head{};
        stream_.seekg(begin_);
        if (!read(head.data(), head.size())) {
            throw Error(ErrorCode::bad_file, "ends before the picture is complete", where_, "copy the file again");
        }
        length_ = png_get_uint_32(head.data());
        type_.assign(reinterpret_cast<const char*>(head.data()) + 4, 4);
        constexpr std::streamoff frame = 12;  // length, type and checksum
        begin_ += frame + static_cast<std::streamoff>(length_);
        return true;
    }

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

    // Keyword, zero, text; for iTXt between the two whether and how it is compressed, language and translated keyword.
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
    std::streamoff begin_ = 8;  // of the next chunk
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

PictureTexts png_texts(const std::filesystem::path& path) {
    return PngChunks(path).texts();
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

Picture read_png(const std::filesystem::path& path) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) {
        throw Error(ErrorCode::bad_file, "does not exist or is not a file", path.string(), "check the name");
    }
    Codec codec(path, false);
    if (!codec.ready() || !decode_header(codec)) fail(codec, path);
    Picture picture;
    picture.width = png_get_image_width(codec.png, codec.chunks);
    picture.height = png_get_image_height(codec.png, codec.chunks);
    picture.channels = png_get_channels(codec.png, codec.chunks);
    const std::int64_t row_bytes = picture.width * picture.channels;
    constexpr double best_deflate = 1032;  // no compressed byte holds more
    const double claimed = static_cast<double>(row_bytes) * static_cast<double>(picture.height);
    if (claimed / 8 > best_deflate * static_cast<double>(std::filesystem::file_size(path))) {  // 1-bit gray grows by 8
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
