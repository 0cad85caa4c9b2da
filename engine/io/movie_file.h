// Movie files. Pictures are encoded as they arrive, at an exact frame rate. FFmpeg, loaded from the user's system,
// encodes H.264, H.265, AV1, VP9, ProRes 4444, GIF and WebP; series of PNG files need only libpng. A movie that ends
// early, for instance on a full disk, is still a valid movie of the pictures up to that point.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace echolux {

enum class MovieCodec { automatic, h264, h265, av1, vp9, prores, gif, webp, png };

// Pictures per second as an exact fraction: 30000/1001 for NTSC, 2997/100 for 29.97.
struct FrameRate {
    std::int64_t pictures = 30;
    std::int64_t seconds = 1;

    bool operator==(const FrameRate&) const = default;
    double per_s() const { return static_cast<double>(pictures) / static_cast<double>(seconds); }
};

// Returns the rate in lowest terms. Throws Error{bad_setting} if a part is not between 1 and 1e6.
FrameRate frame_rate(std::int64_t pictures, std::int64_t seconds, const std::string& where);

// Parses "25", "29.97" or "30000/1001". Throws Error{bad_setting} naming `where`.
FrameRate parsed_frame_rate(const std::string& text, const std::string& where);

// Key of the text with the program version, which each of our movies carries.
inline constexpr const char* movie_program_key = "movie.program";

struct MovieFormat {
    MovieCodec codec = MovieCodec::automatic;  // automatic: the default of the file type
    std::int64_t width = 0;
    std::int64_t height = 0;
    FrameRate rate;
    std::int64_t max_pictures = 0;   // upper limit of pictures to be added
    std::int64_t first_picture = 0;  // number of the first file of a series
    bool has_alpha = false;          // whether pictures have transparent parts
    double crf = -1;                 // of H.264, H.265, AV1, VP9; lower is better; -1: default (docs/movies.md)
    bool may_use_hardware = true;    // allows hardware encoders of the graphics card
    std::map<std::string, std::string> text{};  // metadata if the format supports it: view, recipe, program version
};

// Returns whether the name is that of a movie: .mp4 .mkv .webm .mov .gif .webp, a series frame_%04d.png, or a folder
// for a series.
bool is_movie_name(const std::filesystem::path& path);

// Resolves `wanted` for a file name. Throws Error{bad_setting} if the name is not that of a movie, or if that file type
// cannot hold the codec.
MovieCodec movie_codec(const std::filesystem::path& path, MovieCodec wanted);

// Returns whether the codec stores colours at half resolution and therefore needs an even width and height.
bool needs_even_size(MovieCodec codec);
bool can_be_transparent(MovieCodec codec);

// Encodes one movie. Use it from one thread at a time.
class MovieWriter {
  public:
    virtual ~MovieWriter() = default;  // without finish(): removes an incomplete file, keeps the pictures of a series

    virtual std::string encoder() const = 0;  // name of the encoder: "libx264"

    // Adds a picture: RGBA with straight alpha, row by row from the top. `text` is stored with it in a series. Throws
    // Error{output}, for instance if the disk is full.
    virtual void add(std::span<const std::uint8_t> rgba, const std::map<std::string, std::string>& text = {}) = 0;

    // Completes the file and gives it its name, even after add() has failed. Leaves no file if it holds no picture.
    virtual void finish() = 0;

    virtual std::int64_t pictures() const = 0;  // pictures known to be in the file
};

// Creates a movie. Throws Error{bad_setting} if the format is impossible, Error{device} if FFmpeg is missing, and
// Error{output} if the path is not writable.
std::unique_ptr<MovieWriter> create_movie(const std::filesystem::path& path, const MovieFormat& format);

}  // namespace echolux
