#include "engine/io/output_rule.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/image_format.h"
#include "engine/io/movie_file.h"
#include "engine/io/picture_file.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

// Unreadable files are not ours.
template <class Look>
bool holds_true(const Look& look) {
    try {
        return look();
    } catch (const std::exception&) {
        return false;
    }
}

// Returns up to `count` bytes of a regular file from byte `begin`; fewer at its end.
std::string part_of(const std::filesystem::path& path, std::uintmax_t begin, std::uintmax_t count) {
    std::ifstream file = regular_stream(path);
    if (!file) return {};
    std::string bytes(count, '\0');
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(bytes.data(), static_cast<std::streamsize>(count));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    return bytes;
}

}  // namespace

bool is_own_volume(const std::filesystem::path& path) {
    return holds_true([&] { return has_own_texts(format_of(path).open(path)->header()); });
}

bool is_own_picture(const std::filesystem::path& path) {
    return holds_true([&] { return is_picture_name(path) && picture_texts(path).contains(text_pixels); });
}

bool is_own_movie(const std::filesystem::path& path) {
    return holds_true([&] {
        std::error_code problem;
        const bool is_series = lower_ending(path) == ".png" || std::filesystem::is_directory(path, problem);
        if (is_series) return is_own_picture(SeriesName(path).of(0));
        return holds_near_an_end(path, movie_program_key);
    });
}

bool begins_with(const std::filesystem::path& path, std::string_view text) {
    return part_of(path, 0, text.size()) == text;
}

bool holds_near_an_end(const std::filesystem::path& path, std::string_view text) {
    constexpr std::uintmax_t reach = 256 << 10;
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path, problem);
    if (problem) return false;
    const std::string wanted = lower_case(std::string(text));  // Matroska writes its keys in capitals
    const auto holds = [&](std::string bytes) {
        return lower_case(std::move(bytes)).find(wanted) != std::string::npos;
    };
    return holds(part_of(path, 0, std::min(size, reach))) || holds(part_of(path, size - std::min(size, reach), reach));
}

}  // namespace echolux
