#include "app/movie/movie_resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/movie_file.h"
#include "engine/io/regular_file.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

constexpr std::int64_t views_noted = 64;  // at equal distances within a movie
constexpr std::uintmax_t longest_note = 1 << 20;

std::string hash_of_text(const std::string& text) {
    Fingerprint fingerprint;
    fingerprint.add(std::as_bytes(std::span(text)));
    return fingerprint.text();
}

std::string file_line(const char* name, const std::filesystem::path& path) {
    return path.empty() ? "" : fmt::format("{} = {} {}\n", name, path.filename().string(), file_hash(path));
}

}  // namespace

std::filesystem::path kept_pictures(const MovieJob& job) {
    if (movie_codec(job.output, job.codec) == MovieCodec::png) return job.output;
    return std::filesystem::path(job.output.string() + ".pictures") / "picture_%06d.png";
}

std::filesystem::path note_of(const std::filesystem::path& series) {
    const SeriesName name(series);
    return name.folder / (name.before + "unfinished.txt");
}

std::string note_text(const MovieJob& job, const MoviePlan& plan, const std::string& device) {
    std::string views;
    const std::int64_t frames = plan.frames();
    for (std::int64_t i = 0; i < std::min(views_noted, frames); ++i) {
        View view = plan.view(i * frames / std::min(views_noted, frames));
        Settings settings;
        settings.bind("view", view);
        views += settings.toml();
    }
    std::string text = fmt::format("pictures of an unfinished movie\nEcholux {}\n{}\n", version, device);
    text += file_line("input", job.input) + file_line("flow", job.flow);
    for (const std::string& setting : job.settings) text += setting + "\n";
    TissueSettings tissue = job.tissue;
    Settings of_tissue;
    bind(of_tissue, tissue);
    text += of_tissue.toml();
    text += file_line("sky", job.view.sky_picture) + file_line("transfer", job.view.transfer);
    return text + fmt::format("{}, {} from {}, views {}\n", counted(frames, "pictures"), job.spec.path, job.part.volume,
                              hash_of_text(views));
}

std::int64_t first_missing(const std::filesystem::path& series, const std::string& note, std::int64_t pictures) {
    const std::filesystem::path path = note_of(series);
    std::error_code none;
    if (!std::filesystem::exists(path, none)) {
        const SeriesName name(series);
        std::filesystem::create_directories(name.folder.empty() ? "." : name.folder, none);
        write_text(path, note);
        return 0;
    }
    if (whole_file(path, longest_note, "is not a note of a movie") != note) {
        throw Error(ErrorCode::output, "the movie that was interrupted there is another one", path.string(),
                    "delete it, or choose another name");
    }
    const SeriesName name(series);
    std::int64_t first = 0;
    while (first < pictures && std::filesystem::exists(name.of(first), none)) ++first;
    return first;
}

void remove_kept(const std::filesystem::path& series, bool with_pictures) {
    std::error_code none;
    std::filesystem::remove(note_of(series), none);
    if (!with_pictures) return;
    const SeriesName name(series);
    for (std::int64_t i = 0; std::filesystem::remove(name.of(i), none); ++i) {
    }
    std::filesystem::remove(name.folder, none);  // only if empty
}

}  // namespace echolux
