// Operation `reproduce`: renders a picture again from the record it carries, and compares the pixels.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "app/jobs/render_job.h"
#include "app/operations/operation.h"
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

std::filesystem::path input_of(const RestoredState& session, const std::filesystem::path& picture) {
    if (session.open.file.empty()) {
        throw Error(ErrorCode::bad_file, "shows what came from " + session.open.source + ", which was not recorded",
                    picture.string(), "only pictures of files can be reproduced: record first");
    }
    std::error_code problem;
    if (std::filesystem::exists(session.open.file, problem)) return session.open.file;
    throw Error(ErrorCode::bad_file, "no longer exists: " + picture.string() + " was made from it", session.open.file,
                "give its new place as `input`");
}

std::filesystem::path name_beside(const std::filesystem::path& picture) {
    std::filesystem::path name = picture.stem();
    name += "-again" + picture.extension().string();
    return picture.parent_path() / name;
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

// Returns the job without input, output and device.
RenderJob render_job_of(const RestoredState& session, const std::filesystem::path& picture) {
    RenderJob again;
    again.settings = assignments_of(session);
    again.part.volume = session.open.step;
    again.chosen = chosen_range(session.picture);
    again.flow = session.picture.flow;
    again.bits = session.picture.bits > 8 ? PictureBits::sixteen : PictureBits::eight;
    again.view = view_of(session);
    again.tissue = tissue_of(session.view_values);
    if (session.picture.samples > 0) again.view.samples = session.picture.samples;
    if (session.picture.flow_range > 0) again.view.flow_range = session.picture.flow_range;
    if (session.picture.flow_threshold >= 0) again.view.flow_threshold = session.picture.flow_threshold;
    again.made_from = {picture};
    again.expected_input = session.picture.input_hash;
    again.expected_spectra = session.picture.spectra_hash;
    return again;
}

std::vector<std::string> differences(const RenderedFile& rendered, const PictureRecord& before) {
    std::vector<std::string> lines;
    const auto compare = [&](const char* what, const std::string& then, const std::string& now) {
        if (then.empty() || then == now) return;
        lines.push_back(fmt::format("{} was {} and is now {}: pixels may differ by rounding", what, then, now));
    };
    compare("the graphics device", before.device, rendered.device);
    compare("the reconstructor", before.backend, rendered.stats.backend);
    compare("the version of Echolux", before.program, version);
    return lines;
}

// Returns true if the pixels are not those that were written. Only 8-bit PNG can be decoded and checked.
bool was_altered(const std::filesystem::path& picture, std::int64_t bits, const std::string& fingerprint) {
    if (bits > 8 || picture.extension() != ".png") return false;
    const Picture found = read_png(picture);
    Fingerprint pixels;
    pixels.add(std::as_bytes(std::span(found.pixels)));
    return pixels.text() != fingerprint;
}

struct Reproduce {
    std::string picture, input, device;
    OperationOutput output;

    RenderedFile rendered;
    std::optional<bool> is_same;  // std::nullopt: the picture has no fingerprint

    static void describe(OperationParts<Reproduce>& parts);

    void run(Context& context) {
        const PictureTexts texts = picture_texts(picture);
        const RestoredState session = session_in(texts, picture);
        check_flow(session.picture, picture);
        check_channel_files(session, picture);
        RenderJob again = render_job_of(session, picture);
        again.input = input.empty() ? input_of(session, picture) : std::filesystem::path(input);
        again.device.name = device;
        again.overwrites = context.overwrites;
        if (!output.is_wanted()) output.file = name_beside(picture);
        context.write(output, std::filesystem::path(picture).extension().string(),
                      [&](const std::filesystem::path& path) {
                          again.output = path;
                          rendered = echolux::run(again, context.progress);
                      });
        context.warn(rendered.warnings);
        context.warn(differences(rendered, session.picture));
        compare(texts, session.picture.bits, context);
        context.say(fmt::format("Vulkan on {}: {}", rendered.device, verdict()));
    }

    // Files that the picture's record names.
    FileNames further_files() const {
        if (picture.empty()) return {};
        const RestoredState session = session_in(picture_texts(picture), picture);
        RenderJob again = render_job_of(session, picture);
        again.input = input.empty() ? session.open.file : input;
        return files_of_picture(again);
    }

    void compare(const PictureTexts& texts, std::int64_t bits, Context& context) {
        const auto before = texts.find(text_pixels);
        if (before == texts.end()) return;
        const bool is_altered = was_altered(picture, bits, before->second);
        is_same = !is_altered && before->second == rendered.fingerprint;
        if (!is_altered) return;
        context.warnings.push_back(picture + " was altered after it was made: its pixels do not match its fingerprint");
    }

    const char* verdict() const {
        if (!is_same) return "the picture has no fingerprint to compare with";
        return *is_same ? "identical, bit for bit" : "not identical";
    }

    static std::string streamed(const Settings& settings) {
        const Value picture = settings.field("reproduce.picture")->get();
        return std::filesystem::path(std::get<std::string>(picture)).extension().string();
    }
};

void Reproduce::describe(OperationParts<Reproduce>& parts) {
    parts.info.summary = "Make a picture again from the settings stored in it";
    parts.info.examples = {"picture=picture.png output=again.png"};
    parts.info.details = "Pixels may differ by rounding on another graphics device or in another version of Echolux.";
    parts.info.first_argument = "picture";
    parts
        .argument(text("picture", &Reproduce::picture, Effect::file, "PNG or TIFF saved by `render` or the window")
                      .file({".png", ".tif", ".tiff"}))
        .argument(
            text("input", &Reproduce::input, Effect::file, "volume or scan to use; default: the original place").file())
        .argument(text("device", &Reproduce::device, Effect::file,
                       "part of the Vulkan device's name; default: the fastest kind")
                      .written_as("NAME"))
        .output({.name = "output",
                 .kind = OutputKind::figure,
                 .help = "the new picture; default: its name with -again",
                 .placeholder = "PICTURE.png|.tif",
                 .endings = {".png", ".tif", ".tiff"},
                 .is_checked_by_run = true,
                 .streamed = &Reproduce::streamed},
                &Reproduce::output)
        .result("device", "", "Vulkan device that rendered", [](const Reproduce& one) { return one.rendered.device; })
        .result("same", "", "whether all pixels are the same; none: the picture has no fingerprint",
                &Reproduce::is_same);
}

}  // namespace

ECHOLUX_OPERATION(reproduce, Reproduce)

}  // namespace echolux
