// Options of `echolux render` that make a movie instead of a picture.
#pragma once

#include <string>
#include "app/jobs/render_job.h"
#include "app/movie/movie_job.h"

namespace CLI {
class App;
}

namespace echolux {

struct MovieOptions {
    std::string output;  // empty: make a picture
    std::string codec = "auto", along = "b-scans", swept = "slice", encoder = "auto";
    double crf = -1;  // negative: quality above 40 dB PSNR
    MovieSpec spec;
};

// Adds the options in the help group "Movie"; all but --movie require it.
void add_movie_options(CLI::App& command, MovieOptions& options);

// Renders the movie of the view in `picture`, encodes it and prints its properties. Throws Error.
void make_movie(const RenderJob& picture, const MovieOptions& options);

}  // namespace echolux
