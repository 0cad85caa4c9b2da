// Movies in files: pictures that come one by one are encoded as they come, at an exact rate. H.264, H.265, AV1, VP9,
// ProRes 4444, GIF and WebP are made by the FFmpeg of the user's system, series of PNG files by libpng alone. A movie
// that is ended early, or that a full disk ends, is a whole movie of what was done until then.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace echolux {

enum class MovieCodec { automatic, h264, h265, av1, vp9, prores, gif, webp, png };

// Pictures a second as a fraction: 30000/1001 is exact, 29.97 is 2997/100.
struct FrameRate {
    std::int64_t pictures = 30;
    std::int64_t seconds = 1;

    bool operator==(const FrameRate&) const = default;
    double per_s() const { return static_cast<double>(pictures) / static_cast<double>(seconds); }
};

// In lowest terms. Throws Error{bad_setting} for what is not above 0 or has parts beyond 1e6.
FrameRate frame_rate(std::int64_t pictures, std::int64_t seconds, const std::string& where);

// "25", "29.97", "30000/1001". Throws Error{bad_setting} naming `where`.
FrameRate parsed_frame_rate(const std::string& text, const std::string& where);

// A text that every movie of ours carries: the version of the program.
inline constexpr const char* movie_program_key = "movie.program";

struct MovieFormat {
    MovieCodec codec = MovieCodec::automatic;  // what is usual for the name's ending
    std::int64_t width = 0;
    std::int64_t height = 0;
    FrameRate rate;
    std::int64_t max_pictures = 0;   // that will ever be added
    std::int64_t first_picture = 0;  // number of the first file of a series
    bool has_alpha = false;          // pictures have transparent parts
    double crf = -1;                 // of H.264, H.265, AV1, VP9; lower is better; -1: fine, see docs/movies.md
    bool may_use_hardware = true;    // encoders of the graphics card, where there are some
    std::map<std::string, std::string> text{};  // kept where the file has room: view, recipe, program version
};

// Whether the name is one of a movie: .mp4 .mkv .webm .mov .gif .webp, a series frame_%04d.png, or a folder for one.
bool is_movie_name(const std::filesystem::path& path);

// What `wanted` means for the name. Throws Error{bad_setting} for a name that is no movie's, and for a codec that such
// a file does not hold.
MovieCodec movie_codec(const std::filesystem::path& path, MovieCodec wanted);

// Codecs with colours at half resolution take even widths and heights only.
bool needs_even_size(MovieCodec codec);
bool can_be_transparent(MovieCodec codec);

// One thread at a time.
class MovieWriter {
  public:
    virtual ~MovieWriter() = default;  // without finish(): nothing is left of a file, and of a series what was added

    virtual std::string encoder() const = 0;  // "libx264"

    // The next picture: RGBA, straight alpha, row by row from the top; `text` goes with it where it is a file of its
    // own. Throws Error{output}: the disk is full, ...
    virtual void add(std::span<const std::uint8_t> rgba, const std::map<std::string, std::string>& text = {}) = 0;

    // The movie is whole under its name, also after add() has failed. Nothing where there is no picture in it.
    virtual void finish() = 0;

    virtual std::int64_t pictures() const = 0;  // that are in the file, as far as is known
};

// Throws Error{bad_setting} for what the format cannot be, Error{device} where FFmpeg is missing, Error{output} where
// nothing can be written there.
std::unique_ptr<MovieWriter> create_movie(const std::filesystem::path& path, const MovieFormat& format);

}  // namespace echolux
