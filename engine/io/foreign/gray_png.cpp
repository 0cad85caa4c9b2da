// PNG slices through libpng. It reports errors by longjmp(), which skips destructors, so the functions that call it
// have no local objects with destructors.
#include "engine/io/png_file.h"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>

#include "compute/error.h"

namespace echolux {
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
    picture.pixels.resize(static_cast<std::size_t>(picture.height * row_bytes));
    std::vector<png_bytep> rows;
    for (std::int64_t row = 0; row < picture.height; ++row) {
        rows.push_back(reinterpret_cast<png_bytep>(picture.pixels.data() + row * row_bytes));
    }
    if (!read_rows(decoder, rows.data())) fail(decoder, path);
    return picture;
}

}  // namespace echolux
