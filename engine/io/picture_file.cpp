#include "engine/io/picture_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/png_file.h"

namespace echolux {
namespace {

enum class PictureKind { none, png, tiff };

PictureKind kind_of(const std::filesystem::path& path) {
    const std::string ending = lower_ending(path);
    if (ending == ".png") return PictureKind::png;
    return ending == ".tif" || ending == ".tiff" ? PictureKind::tiff : PictureKind::none;
}

[[noreturn]] void refuse_name(const std::filesystem::path& path) {
    throw Error(ErrorCode::bad_setting, "pictures are PNG or TIFF files", path.string(), "name it *.png or *.tif");
}

void check_shape(const PictureShape& shape, const std::filesystem::path& path) {
    constexpr std::int64_t max = 1'000'000;  // libpng's own limit
    const bool sides = shape.width > 0 && shape.height > 0 && shape.width <= max && shape.height <= max;
    const bool channels = shape.channels == 1 || shape.channels == 3 || shape.channels == 4;
    if (sides && channels && (shape.bits == 8 || shape.bits == 16)) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} x {} pixels with {} of {} do not make a picture", shape.width, shape.height,
                            counted(shape.channels, "channels"), counted(shape.bits, "bits")),
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
    throw Error(ErrorCode::bad_file, "is not a picture", path.string(), "pictures are PNG or TIFF files");
}

bool has_session(const std::filesystem::path& path) {
    try {
        return is_picture_name(path) && picture_texts(path).contains(text_session);
    } catch (const Error&) {
        return false;
    }
}

}  // namespace echolux
