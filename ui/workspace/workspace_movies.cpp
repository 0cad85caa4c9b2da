// Movies of what is shown, made beside the window.
#include <algorithm>

#include "app/movie/movie_job.h"
#include "compute/error.h"
#include "ui/workspace/workspace_parts.h"

namespace echolux {

void Workspace::make_movie(const std::filesystem::path& path, const MovieWanted& wanted) {
    Parts& parts = *parts_;
    parts.attempt("export", [&] {
        parts.shown_for(path);
        movie_codec(path, MovieCodec::automatic);  // what is wrong with the name is known at once
        const bool through_time = movie_path(wanted.path).goes_through_time;
        MovieJob job;
        static_cast<VolumeSource&>(job) = through_time ? parts.file_shown() : parts.volume_shown(path, false);
        job.wanted = wanted;
        job.view = parts.book.view();
        job.view.samples = std::max(job.view.samples, job.view.rest_samples);  // at least as a pane at rest
        job.output = path;
        job.device = parts.options.device;
        parts.start_export(path, [job](Progress& progress) { run(job, progress); });
    });
}

}  // namespace echolux
