#include "engine/io/movie_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/movie/ffmpeg/encoder.h"
#include "engine/io/png_file.h"

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
                path.string(), is_odd ? "choose an even width and height" : "1 to 16384 pixels per side");
}

void check_format(const std::filesystem::path& path, const MovieFormat& format) {
    const auto refuse = [&](std::string problem, const char* remedy) {
        throw Error(ErrorCode::bad_setting, std::move(problem), path.string(), remedy);
    };
    check_size(path, format);
    if (format.max_pictures < 1) refuse("a movie needs at least one frame", "");
    if (format.has_alpha && !can_be_transparent(format.codec))
        refuse(fmt::format("{} does not support transparency", name_of(format.codec)),
               "name it .mov, .webp or frame_%04d.png");
    // GIF stores delays in hundredths of a second, and players slow down delays of less than 2.
    if (format.codec == MovieCodec::gif && format.rate.per_s() > 50)
        refuse("GIF allows at most 50 frames per second", "choose a lower rate, or another format");
    if (format.crf >= 0 && !needs_even_size(format.codec))
        refuse(fmt::format("{} does not support CRF", name_of(format.codec)), "CRF applies to h264, h265, av1 and vp9");
    const bool is_mpeg = format.codec == MovieCodec::h264 || format.codec == MovieCodec::h265;
    if (format.crf > (is_mpeg ? 51 : 63))
        refuse(fmt::format("CRF ranges from 0 (best) to {}", is_mpeg ? 51 : 63), "leave it out for a good default");
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

// Parses the placeholder, which has the form %d or %04d.
SeriesName::SeriesName(const std::filesystem::path& path) : folder(path), before("frame_"), after(".png") {
    std::error_code none;
    if (!path.has_extension() || std::filesystem::is_directory(path, none)) return;
    const std::string name = path.filename().string();
    const auto refuse = [&](const char* problem) {
        throw Error(ErrorCode::bad_setting, problem, path.string(), "e.g. frame_%04d.png, or the name of a folder");
    };
    const std::size_t begin = name.find('%');
    if (begin == name.npos) refuse("the name of an image series needs a frame number");
    std::size_t end = begin + 1;
    digits = 0;
    while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) {
        digits = digits * 10 + (name[end++] - '0');
        if (digits > 9) refuse("a number has at most 9 digits");
    }
    if (end >= name.size() || name[end] != 'd') refuse("write %04d where the number goes");
    if (name.find('%', end) != name.npos) refuse("the name of an image series has one frame number");
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

constexpr std::array<std::pair<StreamCodec, const char*>, 4> stream_codec_names{
    {{StreamCodec::h264, "h264"}, {StreamCodec::vp8, "vp8"}, {StreamCodec::av1, "av1"}, {StreamCodec::jpeg, "jpeg"}}};

const char* name_of(StreamCodec codec) {
    for (const auto& [known, name] : stream_codec_names) {
        if (known == codec) return name;
    }
    return "";
}

std::optional<StreamCodec> stream_codec(std::string_view name) {
    for (const auto& [codec, known] : stream_codec_names) {
        if (known == name) return codec;
    }
    return std::nullopt;
}

std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamFormat& format) {
    if (format.width < 2 || format.height < 2 || format.width % 2 != 0 || format.height % 2 != 0)
        throw Error(ErrorCode::bad_setting, "a video needs an even width and height", "video");
    if constexpr (has(Part::movies))
        return make_ffmpeg_stream(format);
    else
        refuse_missing(Part::movies, "video");
}

const std::vector<StreamCodec>& stream_codecs() {
    static const std::vector<StreamCodec> found = [] {
        if constexpr (has(Part::movies))
            return ffmpeg_stream_codecs();
        else
            return std::vector<StreamCodec>{};
    }();
    return found;
}

}  // namespace echolux
