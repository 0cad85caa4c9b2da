// The options of `echolux render` that make a movie instead of a picture.
#pragma once

#include <string>

#include "app/jobs/render_job.h"
#include "app/movie/movie_job.h"

namespace CLI {
class App;
}

namespace echolux {

struct MovieOptions {
    std::string output;  // empty: no movie is wanted
    std::string codec = "auto", along = "b-scans", swept = "slice", encoder = "auto";
    double crf = -1;
    MovieSpec spec;
};

void add_movie_options(CLI::App& command, MovieOptions& options);

// Makes the movie of what the picture would show, and prints what it is.
void make_movie(const RenderJob& picture, const MovieOptions& options);

}  // namespace echolux
