#include "engine/io/png_file.h"

#include <png.h>
#include <zlib.h>

#include <array>
#include <fstream>

#include "compute/error.h"
#include "engine/io/regular_file.h"

namespace echolux {
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
            throw Error(ErrorCode::bad_file, "ends before the picture is complete", where_, "copy the file again");
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

}  // namespace

void check_png_chunks(const std::filesystem::path& path) {
    PngChunks(path).check();
}

PictureTexts png_texts(const std::filesystem::path& path) {
    return PngChunks(path).texts();
}

}  // namespace echolux
