// Movies that can be continued after an interruption. Their pictures are kept as files, with identical bits, until the
// last one exists. A note beside them identifies the movie.
#pragma once

#include <filesystem>
#include <string>

#include "app/movie/movie_job.h"
#include "app/movie/movie_scene.h"

namespace echolux {

// Location of the pictures: the output itself if it is a PNG series.
std::filesystem::path kept_pictures(const MovieJob& job);

// Location of the note for an unfinished series of pictures.
std::filesystem::path note_of(const std::filesystem::path& series);

// Everything that determines the bits of the pictures: views, input, processing, device, program.
std::string note_text(const MovieJob& job, const MoviePlan& plan, const std::string& device);

// Returns the first missing picture. Without a note, writes it and returns the first picture. Throws Error{output} if
// the note belongs to another movie.
std::int64_t first_missing(const std::filesystem::path& series, const std::string& note, std::int64_t pictures);

// Removes the note and, with `with_pictures`, the pictures, and their folder if it is then empty.
void remove_kept(const std::filesystem::path& series, bool with_pictures);

}  // namespace echolux
