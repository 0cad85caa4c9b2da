#include "engine/scan/recording_notes.h"

#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<RecordingNotes>>& describe<RecordingNotes>() {
    using S = RecordingNotes;
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t max = std::int64_t{1} << 50;
    static const std::vector<Field<S>> fields{
        text("index", &S::index, effect, "file: the blocks of a live recording, one per line").file({".csv"}),
        flag("complete", &S::complete, effect, "finished, and every block from the first to the last is in it"),
        flag("finished", &S::finished, effect, "false: cut off; the scan ends with the last whole block"),
        integer("missing_blocks", &S::missing_blocks, 0, max, "", effect,
                "blocks that arrived but were not recorded (disk full or too slow), replaced by zeros"),
        integer("lost_blocks", &S::lost_blocks, 0, max, "", effect, "blocks that the source lost, replaced by zeros"),
        integer("lost_b_scans", &S::lost_b_scans, 0, max, "", effect,
                "B-scan positions that no block came for, replaced by zeros"),
        integer("refused_blocks", &S::refused_blocks, 0, max, "", effect,
                "blocks of the wrong size or order, which were rejected"),
        integer("interruptions", &S::interruptions, 0, max, "", effect, "times that the source failed"),
        integer("doubtful_blocks", &S::doubtful_blocks, 0, max, "", effect,
                "last blocks that the disk failed to flush: those with the right checksum are used"),
        text("continues", &S::continues, effect, "file: the recording that this one continues after its disk failed")
            .file({".toml"}),
        integer("last_volume_b_scans", &S::last_volume_b_scans, 0, max, "", effect,
                "B-scans of a last volume that ends early; 0: all volumes are whole"),
        text("folder", &S::folder, effect,
             "where a recording in stripes was made: only there it takes its stripes with it when it is replaced"),
        text("started", &S::started, effect, "start of the recording (UTC)"),
        text("program", &S::program, effect, "program that recorded it"),
    };
    return fields;
}

bool RecordingNotes::lacks_nothing() const {
    return missing_blocks == 0 && lost_blocks == 0 && lost_b_scans == 0 && refused_blocks == 0 && interruptions == 0 &&
           doubtful_blocks == 0 && continues.empty();
}

}  // namespace echolux
