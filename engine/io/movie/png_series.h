// A movie as a series of PNG files, each whole in itself: for editing programs, with transparency.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/io/movie_file.h"

namespace echolux {

// The names of the files: "frame_%04d.png" counts from frame_0000.png; a folder gets files of that name.
struct SeriesName {
    // Throws Error{bad_setting} for a *.png without a place for the number, or with two.
    explicit SeriesName(const std::filesystem::path& path);

    std::filesystem::path of(std::int64_t number) const;

    std::filesystem::path folder;
    std::string before, after;  // the number
    int digits = 4;             // at least
};

class PngSeries : public MovieWriter {
  public:
    // Throws Error{output} for a longer series of that name, whose rest would seem to belong to this one.
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
