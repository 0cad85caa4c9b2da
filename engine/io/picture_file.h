// Writes pictures row by row, so that they need not fit into memory: PNG and TIFF, 8 or 16 bits per channel. Each file
// carries texts and a fingerprint of its pixels, which compares pictures without decoding them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "engine/io/regular_file.h"

namespace echolux {

// Keys of texts in pictures. TIFF files hold only these, PNG files any.
inline constexpr const char* text_program = "echolux";  // program version
inline constexpr const char* text_session = "session";  // how the picture was made, as TOML
inline constexpr const char* text_pixels = "pixels";    // fingerprint; PictureWriter always writes it

using PictureTexts = std::map<std::string, std::string>;

struct PictureShape {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 4;  // 1: gray, 3: RGB, 4: RGBA with straight alpha
    int bits = 8;      // per channel: 8 or 16

    std::int64_t row_bytes() const { return width * channels * bits / 8; }
};

// Writes one picture. All functions throw Error{output} naming the file.
class PictureWriter {
  public:
    explicit PictureWriter(const PictureShape& shape) : shape_(shape) {}
    virtual ~PictureWriter() = default;  // without finish(), no file is left
    PictureWriter(const PictureWriter&) = delete;
    PictureWriter& operator=(const PictureWriter&) = delete;

    const PictureShape& shape() const { return shape_; }

    // Appends whole rows from the top. Samples of 16 bits have the machine's byte order.
    void write(std::span<const std::byte> rows) {
        pixels_.add(rows);
        put(rows);
    }

    // Completes the file after all rows were written, and gives it its name. Returns the fingerprint of the pixels.
    std::string finish() {
        end(pixels_.text());
        return pixels_.text();
    }

  private:
    virtual void put(std::span<const std::byte> rows) = 0;
    virtual void end(const std::string& fingerprint) = 0;

    PictureShape shape_;
    Fingerprint pixels_;
};

// Returns whether the name ends in .png, .tif or .tiff, ignoring case.
bool is_picture_name(const std::filesystem::path& path);

// Checks a name before work begins. Throws Error{bad_setting} for other endings, and Error{output} if the file is not
// writable.
void check_picture_output(const std::filesystem::path& path);

// Creates a picture. Throws Error{bad_setting} for other endings or an invalid shape, and Error{output}.
std::unique_ptr<PictureWriter> create_picture(const std::filesystem::path& path, const PictureShape& shape,
                                              const PictureTexts& texts);

// Returns the texts of a picture without reading its pixels; for TIFF only the keys above. Throws Error{bad_file} if
// the file is of another type or is damaged before its texts end.
PictureTexts picture_texts(const std::filesystem::path& path);

// Returns whether the file is a picture with a session. Returns false for unreadable files.
bool has_session(const std::filesystem::path& path);

}  // namespace echolux
