// Movies as a series of PNG files, for editing software. Supports transparency.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/io/movie_file.h"

namespace echolux {

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

}  // namespace echolux
