#include "app/movie/frame_texts.h"

#include <filesystem>

#include "app/session/session_text.h"
#include "engine/io/file_hash.h"

namespace echolux {

FrameTexts::FrameTexts(const MovieJob& job, const std::string& device) : job_(job) {
    note_input(record_, job);
    record_.device = device;
    if (job.flow.empty()) return;
    record_.flow = std::filesystem::absolute(job.flow).lexically_normal().string();
    record_.flow_hash = file_hash(job.flow);
}

PictureTexts FrameTexts::of(const View& view, const ShownVolume& shown) const {
    PictureRecord record = record_;
    record.backend = shown.volume.backend;
    record.made_by = text_of_map(shown.volume.structure->provenance);
    note_range(record, shown.chosen);
    WhatIsOpen open{.assignments = text_of_lines(job_.settings), .step = shown.step};
    if (!job_.input.empty()) open.file = std::filesystem::absolute(job_.input).lexically_normal().string();
    return texts_of_picture(picture_session(open, record, view, shown.volume.scan.get()));
}

}  // namespace echolux
