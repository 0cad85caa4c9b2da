// Movie files. Pictures are encoded as they arrive, at an exact frame rate. FFmpeg, loaded from the user's system,
// encodes H.264, H.265, AV1, VP9, ProRes 4444, GIF and WebP; series of PNG files need only libpng. A movie that ends
// early, for instance on a full disk, is still a valid movie of the pictures up to that point.
//
// The second part encodes streams for remote viewers with the same libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

// File names of a series. "frame_%04d.png" starts with frame_0000.png. For a folder, files in it have these names.
struct SeriesName {
    // Throws Error{bad_setting} if a *.png name does not contain exactly one placeholder for the number.
    explicit SeriesName(const std::filesystem::path& path);

    // Returns the path of one picture.
    std::filesystem::path of(std::int64_t number) const;

    std::filesystem::path folder;
    std::string before, after;  // around the number
    int digits = 4;             // minimum number of digits
};

// A movie as a series of PNG files, for editing software. Supports transparency.
class PngSeries : public MovieWriter {
  public:
    // Throws Error{output} if a longer series of that name exists, since its remaining files would appear to belong to
    // this one.
    PngSeries(const std::filesystem::path& path, const MovieFormat& format);

    std::string encoder() const override { return "PNG"; }
    void add(std::span<const std::uint8_t> rgba, const std::map<std::string, std::string>& text) override;
    void finish() override {}
    std::int64_t pictures() const override { return count_; }

  private:
    SeriesName name_;
    MovieFormat format_;
    std::int64_t count_ = 0;
};

// ---- streams --------------------------------------------------------------------------------------------------------
// Low-latency encoding for remote viewers. Each picture is encoded immediately and returned in input order. Uses the
// FFmpeg of the user's system (H.264, VP8, AV1, JPEG).

enum class StreamCodec { h264, vp8, av1, jpeg };
constexpr int stream_levels = 4;  // quality levels; 0 is the best

struct StreamFormat {
    StreamCodec codec = StreamCodec::jpeg;
    std::int64_t width = 0, height = 0;  // must be even
    int level = 0;
};

struct StreamedPicture {
    std::vector<std::byte> bytes;
    bool is_key = true;  // key frame: can be decoded without earlier pictures
};

// Encodes one stream. Use it from one thread at a time.
class StreamEncoder {
  public:
    virtual ~StreamEncoder() = default;

    virtual std::string name() const = 0;  // "libx264"
    // Codec string for WebCodecs: "avc1.42c029". Known after the first picture.
    virtual std::string codec_text() const = 0;
    // Encodes RGBA pixels, row by row from the top. Throws Error{device}.
    virtual StreamedPicture encode(std::span<const std::uint8_t> rgba, bool force_key_frame) = 0;
};

// Throws Error{device} if FFmpeg is missing or lacks the codec, and Error{bad_setting} for an odd size.
std::unique_ptr<StreamEncoder> make_stream_encoder(const StreamFormat& format);

// Returns the codecs that this machine's FFmpeg can encode; empty without FFmpeg. Determined once. Thread-safe.
const std::vector<StreamCodec>& stream_codecs();

const char* name_of(StreamCodec codec);  // "h264"
// Returns std::nullopt for an unknown name.
std::optional<StreamCodec> stream_codec(std::string_view name);

}  // namespace echolux
