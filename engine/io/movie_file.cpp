#include "engine/io/movie_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <vector>

#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/file_name.h"
#include "engine/io/movie/ffmpeg/encoder.h"

namespace echolux {
namespace {

// Codecs of a file type, the default first.
struct Container {
    std::string_view ending;
    const char* name;  // FFmpeg's name
    std::vector<MovieCodec> codecs;
};

const std::vector<Container>& containers() {
    using enum MovieCodec;
    static const std::vector<Container> all{
        {".mp4", "mp4", {h264, h265, av1, vp9}},
        {".mkv", "matroska", {h264, h265, av1, vp9}},
        {".webm", "webm", {vp9, av1}},
        {".mov", "mov", {prores, h264, h265}},
        {".gif", "gif", {gif}},
        {".webp", "webp", {webp}},
        {".png", "", {png}},
    };
    return all;
}

std::string_view name_of(MovieCodec codec) {
    constexpr std::array names{"automatic", "h264", "h265", "av1", "vp9", "prores", "gif", "webp", "png"};
    return names.at(static_cast<std::size_t>(codec));
}

// A folder receives a series of PNG files. Returns null if the ending is unknown.
const Container* container_of(const std::filesystem::path& path) {
    std::error_code none;
    std::string ending = lower_ending(path);
    if (ending.empty() || !path.has_filename() || std::filesystem::is_directory(path, none)) ending = ".png";
    const auto found = std::ranges::find(containers(), ending, &Container::ending);
    return found == containers().end() ? nullptr : &*found;
}

std::string codecs_of(const Container& container) {
    std::string list;
    for (const MovieCodec codec : container.codecs) {
        if (!list.empty()) list += ", ";
        list += name_of(codec);
    }
    return list;
}

// Limits the size to 16384 pixels per side.
void check_size(const std::filesystem::path& path, const MovieFormat& format) {
    constexpr std::int64_t max = 16384;
    const auto [low, high] = std::minmax(format.width, format.height);
    const bool is_odd = (format.width % 2 != 0 || format.height % 2 != 0) && needs_even_size(format.codec);
    if (low >= 1 && high <= max && !is_odd) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("a movie of {} x {} pixels is not possible{}", format.width, format.height,
                            is_odd ? fmt::format(" in {}", name_of(format.codec)) : ""),
                path.string(), is_odd ? "choose an even width and height" : "1 to 16384 pixels a side");
}

void check_format(const std::filesystem::path& path, const MovieFormat& format) {
    const auto refuse = [&](std::string problem, const char* remedy) {
        throw Error(ErrorCode::bad_setting, std::move(problem), path.string(), remedy);
    };
    check_size(path, format);
    if (format.max_pictures < 1) refuse("a movie needs at least one picture", "");
    if (format.has_alpha && !can_be_transparent(format.codec))
        refuse(fmt::format("{} has no transparency", name_of(format.codec)), "name it .mov, .webp or frame_%04d.png");
    // GIF stores delays in hundredths of a second, and players slow down delays of less than 2.
    if (format.codec == MovieCodec::gif && format.rate.per_s() > 50)
        refuse("GIF allows at most 50 pictures per second", "choose a lower rate, or another format");
    if (format.crf >= 0 && !needs_even_size(format.codec))
        refuse(fmt::format("{} has no CRF", name_of(format.codec)), "CRF applies to h264, h265, av1 and vp9");
    const bool is_mpeg = format.codec == MovieCodec::h264 || format.codec == MovieCodec::h265;
    if (format.crf > (is_mpeg ? 51 : 63))
        refuse(fmt::format("CRF goes from 0 (best) to {}", is_mpeg ? 51 : 63), "leave it out for a good default");
}

}  // namespace

// Reduces the fraction first, so that 30000000/1000000 is accepted.
FrameRate frame_rate(std::int64_t pictures, std::int64_t seconds, const std::string& where) {
    const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(pictures, seconds));
    const FrameRate rate{pictures / divisor, seconds / divisor};
    constexpr std::int64_t max = 1'000'000;
    if (rate.pictures >= 1 && rate.seconds >= 1 && rate.pictures <= max && rate.seconds <= max) return rate;
    throw Error(ErrorCode::bad_setting, fmt::format("{}/{} is not a frame rate", pictures, seconds), where,
                "e.g. 30, 29.97 or 30000/1001");
}

// Decimal rates are converted exactly: 29.97 becomes 2997/100.
FrameRate parsed_frame_rate(const std::string& text, const std::string& where) {
    const auto refuse = [&] {
        throw Error(ErrorCode::bad_setting, fmt::format("\"{}\" is not a frame rate", text), where,
                    "e.g. 30, 29.97 or 30000/1001");
    };
    const auto whole = [&](std::string_view digits) {
        std::int64_t number = 0;
        const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool is_number = !digits.empty() && std::isdigit(static_cast<unsigned char>(digits.front())) != 0;
        if (!is_number || problem != std::errc{} || end != digits.data() + digits.size()) refuse();
        return number;
    };
    const std::string_view view = text;
    if (const std::size_t slash = view.find('/'); slash != view.npos) {
        return frame_rate(whole(view.substr(0, slash)), whole(view.substr(slash + 1)), where);
    }
    const std::size_t point = view.find('.');
    if (point == view.npos) return frame_rate(whole(view), 1, where);
    const std::string_view decimals = view.substr(point + 1);
    // More decimals could exceed the limits of frame_rate().
    if (decimals.size() > 6) refuse();
    std::int64_t scale = 1;
    for (std::size_t i = 0; i < decimals.size(); ++i) scale *= 10;
    return frame_rate(whole(view.substr(0, point)) * scale + whole(decimals), scale, where);
}

bool is_movie_name(const std::filesystem::path& path) {
    return container_of(path) != nullptr;
}

MovieCodec movie_codec(const std::filesystem::path& path, MovieCodec wanted) {
    const Container* container = container_of(path);
    if (container == nullptr) {
        throw Error(ErrorCode::bad_setting, "does not end in the name of a movie format", path.string(),
                    "name it .mp4, .mkv, .webm, .mov, .gif, .webp or frame_%04d.png");
    }
    if (wanted == MovieCodec::automatic) return container->codecs.front();
    if (std::ranges::find(container->codecs, wanted) != container->codecs.end()) return wanted;
    throw Error(ErrorCode::bad_setting, fmt::format("a {} file cannot hold {}", container->ending, name_of(wanted)),
                path.string(), fmt::format("it can hold {}", codecs_of(*container)));
}

bool needs_even_size(MovieCodec codec) {
    using enum MovieCodec;
    return codec == h264 || codec == h265 || codec == av1 || codec == vp9;
}

bool can_be_transparent(MovieCodec codec) {
    using enum MovieCodec;
    return codec == prores || codec == gif || codec == webp || codec == png;
}

std::unique_ptr<MovieWriter> create_movie(const std::filesystem::path& path, const MovieFormat& wanted) {
    MovieFormat format = wanted;
    format.codec = movie_codec(path, wanted.codec);
    check_format(path, format);
    if (format.codec == MovieCodec::png) return std::make_unique<PngSeries>(path, format);
    if constexpr (has(Part::movies)) return make_encoder(path, container_of(path)->name, format);
    refuse_missing(Part::movies, path.string());
}

}  // namespace echolux
