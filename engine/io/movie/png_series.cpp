#include "engine/io/movie_file.h"

#include <fmt/format.h>

#include <cctype>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/png_file.h"

namespace echolux {

// Parses the placeholder, which has the form %d or %04d.
SeriesName::SeriesName(const std::filesystem::path& path) : folder(path), before("frame_"), after(".png") {
    std::error_code none;
    if (!path.has_extension() || std::filesystem::is_directory(path, none)) return;
    const std::string name = path.filename().string();
    const auto refuse = [&](const char* problem) {
        throw Error(ErrorCode::bad_setting, problem, path.string(), "e.g. frame_%04d.png, or the name of a folder");
    };
    const std::size_t begin = name.find('%');
    if (begin == name.npos) refuse("a series of pictures has a number in its name");
    std::size_t end = begin + 1;
    digits = 0;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) {
        digits = digits * 10 + (name[end++] - '0');
        if (digits > 9) refuse("a number has at most 9 digits");
    }
    if (end >= name.size() || name[end] != 'd') refuse("write %04d where the number goes");
    if (name.find('%', end) != name.npos) refuse("a series of pictures has one number in its name");
    folder = path.parent_path();
    before = name.substr(0, begin);
    after = name.substr(end + 1);
}

std::filesystem::path SeriesName::of(std::int64_t number) const {
    return folder / fmt::format("{}{:0{}}{}", before, number, std::max(1, digits), after);
}

// A file just beyond this series shows that an older one is longer.
PngSeries::PngSeries(const std::filesystem::path& path, const MovieFormat& format) : name_(path), format_(format) {
    const std::filesystem::path beyond = name_.of(format.first_picture + format.max_pictures);
    std::error_code none;
    if (std::filesystem::exists(beyond, none)) {
        throw Error(ErrorCode::output, "an older, longer series of this name would be mixed with this one",
                    beyond.string(), "delete it, or choose another name");
    }
    check_can_be_written(name_.of(format.first_picture));
}

void PngSeries::add(std::span<const std::uint8_t> rgba, const std::map<std::string, std::string>& text) {
    Picture picture{format_.width, format_.height, 4, {rgba.begin(), rgba.end()}, text};
    picture.text.insert(format_.text.begin(), format_.text.end());
    write_png(name_.of(format_.first_picture + count_), picture);
    ++count_;
}

}  // namespace echolux
