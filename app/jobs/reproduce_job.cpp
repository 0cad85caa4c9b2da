#include "app/jobs/reproduce_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/settings/session_text.h"
#include "compute/error.h"
#include "engine/io/picture_file.h"
#include "engine/io/png_file.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

RestoredState session_in(const PictureTexts& texts, const std::filesystem::path& picture) {
    const auto text = texts.find(text_session);
    if (text != texts.end()) return session_of(toml_entries(text->second, picture.string()), picture.string());
    const auto made_from = texts.find("source");
    if (made_from != texts.end()) {
        throw Error(ErrorCode::bad_file, "was not rendered: it was reconstructed from " + made_from->second,
                    picture.string(), "make it again with `reconstruct`");
    }
    throw Error(ErrorCode::bad_file, "contains no record of how it was made", picture.string(),
                "only pictures saved by Echolux (`render`, or the window) can be reproduced");
}

std::filesystem::path input_of(const ReproduceJob& job, const RestoredState& session) {
    if (!job.input.empty()) return job.input;
    if (session.open.file.empty()) {
        throw Error(ErrorCode::bad_file, "shows what came from " + session.open.source + ", which was not recorded",
                    job.picture.string(), "only pictures of files can be reproduced: record first");
    }
    std::error_code problem;
    if (std::filesystem::exists(session.open.file, problem)) return session.open.file;
    throw Error(ErrorCode::bad_file, "no longer exists: " + job.picture.string() + " was made from it",
                session.open.file, "give its new place as `input`");
}

std::filesystem::path output_of(const ReproduceJob& job) {
    if (!job.output.empty()) return job.output;
    std::filesystem::path name = job.picture.stem();
    name += "-again" + job.picture.extension().string();
    return job.picture.parent_path() / name;
}

void check_flow(const PictureRecord& record, const std::filesystem::path& picture) {
    if (record.flow.empty() || file_hash(record.flow) == record.flow_hash) return;
    throw Error(ErrorCode::bad_file, "no longer exists or has changed: " + picture.string() + " shows its flow",
                record.flow, "bring the original back");
}

void check_channel_files(const RestoredState& session, const std::filesystem::path& picture) {
    if (session.picture.channel_hashes.empty()) return;
    const View view = view_of(session);
    const std::vector<std::string> before = lines_of(session.picture.channel_hashes);
    for (std::size_t i = 0; i < std::min(before.size(), view.channels.size()); ++i) {
        const std::string& file = view.channels[i].file;
        if (file.empty() || hashes_of(view.channels[i], file_hash(file)) == before[i]) continue;
        throw Error(ErrorCode::bad_file, "or its curve has changed: " + picture.string() + " shows it as a channel",
                    file, "bring the original back");
    }
}

RenderJob render_job_of(const ReproduceJob& job, const RestoredState& session) {
    RenderJob again;
    again.input = input_of(job, session);
    again.settings = assignments_of(session);
    again.part.volume = session.open.step;
    again.chosen = chosen_range(session.picture);
    again.flow = session.picture.flow;
    again.output = output_of(job);
    again.bits = session.picture.bits > 8 ? PictureBits::sixteen : PictureBits::eight;
    again.view = view_of(session);
    again.tissue = tissue_of(session.view_values);
    if (session.picture.samples > 0) again.view.samples = session.picture.samples;
    if (session.picture.flow_range > 0) again.view.flow_range = session.picture.flow_range;
    if (session.picture.flow_threshold >= 0) again.view.flow_threshold = session.picture.flow_threshold;
    again.device = job.device;
    again.made_from = {job.picture};
    again.overwrites = job.overwrites;
    again.expected_input = session.picture.input_hash;
    again.expected_spectra = session.picture.spectra_hash;
    return again;
}

void warn_about_differences(ReproducedPicture& done, const PictureRecord& before) {
    const auto warn = [&](const char* what, const std::string& then, const std::string& now) {
        if (then.empty() || then == now) return;
        done.warnings.push_back(fmt::format("{} was {} and is now {}: pixels may differ by rounding", what, then, now));
    };
    warn("the graphics device", before.device, done.rendered.device);
    warn("the reconstructor", before.backend, done.rendered.stats.backend);
    warn("the version of Echolux", before.program, version);
}

// Returns true if the pixels are not those that were written. Only 8-bit PNG can be decoded and checked.
bool was_altered(const std::filesystem::path& picture, std::int64_t bits, const std::string& fingerprint) {
    if (bits > 8 || picture.extension() != ".png") return false;
    const Picture found = read_png(picture);
    Fingerprint pixels;
    pixels.add(std::as_bytes(std::span(found.pixels)));
    return pixels.text() != fingerprint;
}

}  // namespace

ReproducedPicture run(const ReproduceJob& job, Progress& progress) {
    const PictureTexts texts = picture_texts(job.picture);
    const RestoredState session = session_in(texts, job.picture);
    check_flow(session.picture, job.picture);
    check_channel_files(session, job.picture);
    const RenderJob again = render_job_of(job, session);
    ReproducedPicture done;
    done.output = again.output;
    done.rendered = run(again, progress);
    done.warnings = done.rendered.warnings;
    warn_about_differences(done, session.picture);
    const auto before = texts.find(text_pixels);
    if (before != texts.end()) {
        if (was_altered(job.picture, session.picture.bits, before->second)) {
            done.warnings.push_back(job.picture.string() +
                                    " was altered after it was made: its pixels do not match its fingerprint");
            done.sameness = Sameness::other;
            return done;
        }
        done.sameness = before->second == done.rendered.fingerprint ? Sameness::same : Sameness::other;
    }
    return done;
}

}  // namespace echolux
