// Movies that go on where they were interrupted: their pictures are kept as files until the last one is there, each
// with the bits that it has anyway, and a note beside them says of which movie they are.
#pragma once

#include <filesystem>
#include <string>

#include "app/movie/movie_job.h"
#include "app/movie/movie_scene.h"

namespace echolux {

// Where the pictures of a movie wait: itself, where it is a series of PNG files.
std::filesystem::path kept_pictures(const MovieJob& job);

// Of a series of pictures that is not finished.
std::filesystem::path note_of(const std::filesystem::path& series);

// What decides the bits of all its pictures: the views, the input, what is done to it, the device, the program.
std::string note_text(const MovieJob& job, const MoviePlan& plan, const std::string& device);

// The first picture that is not there yet; none of them where there is no note, which is then written. Throws
// Error{output} where the note is of another movie.
std::int64_t first_missing(const std::filesystem::path& series, const std::string& note, std::int64_t pictures);

// Takes away the note and, with `with_pictures`, the pictures and their folder, where nothing else is in it.
void remove_kept(const std::filesystem::path& series, bool with_pictures);

}  // namespace echolux
