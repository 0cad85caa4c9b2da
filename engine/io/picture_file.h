// Pictures into files, row by row, so that none has to fit into memory: PNG and TIFF, 8 or 16 bits a channel. Each
// carries texts, and the fingerprint of its pixels, by which two pictures are compared without decoding them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "engine/io/file_hash.h"

namespace echolux {

// Names of texts that pictures carry. A TIFF has room for these alone, a PNG for any.
inline constexpr const char* text_program = "echolux";  // the version
inline constexpr const char* text_session = "session";  // how it was made, as TOML
inline constexpr const char* text_pixels = "pixels";    // fingerprint: every picture that a PictureWriter wrote has it

using PictureTexts = std::map<std::string, std::string>;

struct PictureShape {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 4;  // 1 gray, 3 RGB, 4 RGBA with straight alpha
    int bits = 8;      // of a channel: 8 or 16

    std::int64_t row_bytes() const { return width * channels * bits / 8; }
};

// Everything throws Error{output} naming the file.
class PictureWriter {
  public:
    explicit PictureWriter(const PictureShape& shape) : shape_(shape) {}
    virtual ~PictureWriter() = default;  // without finish(): no file is left
    PictureWriter(const PictureWriter&) = delete;
    PictureWriter& operator=(const PictureWriter&) = delete;

    const PictureShape& shape() const { return shape_; }

    // The next whole rows from the top; 16 bits in the machine's byte order.
    void write(std::span<const std::byte> rows) {
        pixels_.add(rows);
        put(rows);
    }

    // All rows were written: the file appears under its name. Returns the fingerprint of the pixels.
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

// Whether the name ends in .png, .tif or .tiff, in upper or lower case.
bool is_picture_name(const std::filesystem::path& path);

// Before work begins. Throws Error{bad_setting} for a name of neither kind, and Error{output}.
void check_picture_output(const std::filesystem::path& path);

// Throws Error{bad_setting} for a name of neither kind, or a shape that no picture has; Error{output}.
std::unique_ptr<PictureWriter> create_picture(const std::filesystem::path& path, const PictureShape& shape,
                                              const PictureTexts& texts);

// The texts of a picture, without reading its pixels; of a TIFF those that are named above. Throws Error{bad_file}: is
// neither, or is damaged before all texts are found.
PictureTexts picture_texts(const std::filesystem::path& path);

// Whether it is a picture that carries a session. False for whatever cannot be read.
bool has_session(const std::filesystem::path& path);

}  // namespace echolux
