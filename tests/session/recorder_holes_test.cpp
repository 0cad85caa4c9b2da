// A recording is `complete` only if it contains every block from its first to its last, regardless of the cause of a
// loss and however the source numbered the others.
#include "engine/live/session.h"
#include "noting_sink.h"
#include "recorder_fixture.h"

namespace echolux {
namespace {

using namespace echolux::test;

// Returns the block with another sequence number.
Block numbered(Block block, std::uint64_t sequence) {
    block.sequence = sequence;
    return block;
}

class RecorderHolesTest : public RecorderTest {
  protected:
    // Checks the TOML's notes after the end, and after a cut at the end.
    void expect_notes(Recorder& recorder, const Bytes& unfinished, std::int64_t lost_b_scans,
                      std::int64_t interruptions) {
        recorder.finish();
        EXPECT_EQ(line_of_problem(recorder), "");
        EXPECT_EQ(recorder.stats().lost_b_scans, lost_b_scans);
        EXPECT_EQ(recorder.stats().interruptions, interruptions);
        const RecordingNotes notes = open_scan(toml_).recording;
        EXPECT_TRUE(notes.finished);
        EXPECT_FALSE(notes.complete);
        EXPECT_EQ(notes.lost_b_scans, lost_b_scans);
        EXPECT_EQ(notes.interruptions, interruptions);
        put(toml_, unfinished);
        const RecordingNotes cut = open_scan(toml_).recording;
        EXPECT_FALSE(cut.complete);
        EXPECT_EQ(cut.lost_b_scans, lost_b_scans);
        EXPECT_EQ(cut.interruptions, interruptions);
    }
};

// The camera counts from zero again without knowing of a loss; the session makes the next volume of it.
TEST_F(RecorderHolesTest, NotesInterruptionWithinVolume) {
    for (const bool is_noted : {false, true}) {
        RecordingRequest again = wanted();
        again.replace = true;
        Recorder recorder(again);
        const Bytes unfinished = bytes_of(toml_);
        offer_slowly(recorder, 0, 4);
        if (is_noted) recorder.note_interruption();
        for (std::int64_t number = 6; number < 9; ++number)
            ASSERT_TRUE(recorder.offer(numbered(source_.block(number), static_cast<std::uint64_t>(number - 2))));
        expect_notes(recorder, unfinished, 4, is_noted ? 1 : 0);
        EXPECT_EQ(rows()[4].interruptions, is_noted ? 1 : 0);
        EXPECT_EQ(bytes_of(raw_), source_.file(9, {4, 5}));
    }
}

TEST_F(RecorderHolesTest, NotesInterruptionBetweenVolumes) {
    Recorder recorder(wanted());
    const Bytes unfinished = bytes_of(toml_);
    offer_slowly(recorder, 0, 3);
    recorder.note_interruption();
    offer_slowly(recorder, 3, 6);
    expect_notes(recorder, unfinished, 0, 1);
}

TEST_F(RecorderHolesTest, NotesInterruptionAtEnd) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 3);
    recorder.note_interruption();
    recorder.finish();
    EXPECT_FALSE(open_scan(toml_).recording.complete);
    EXPECT_EQ(open_scan(toml_).recording.interruptions, 1);
}

TEST_F(RecorderHolesTest, CountsLossOfFirstBlock) {
    Recorder recorder(wanted());
    const Bytes unfinished = bytes_of(toml_);
    EXPECT_TRUE(recorder.offer(source_.block(1))) << "within a volume: not of the recording";
    for (const std::int64_t number : {4, 5, 6}) EXPECT_TRUE(recorder.offer(source_.block(number)));
    expect_notes(recorder, unfinished, 3, 0);
}

TEST_F(RecorderHolesTest, CountsLossAtEnd) {
    {
        Recorder recorder(wanted());
        offer_slowly(recorder, 0, 3);
        recorder.note_lost(2);
    }
    EXPECT_EQ(open_scan(toml_).recording.lost_blocks, 2);
    EXPECT_FALSE(open_scan(toml_).recording.complete);
    RecordingRequest again = wanted();
    again.replace = true;
    {
        Recorder recorder(again);
        offer_slowly(recorder, 0, 3);
        Block misfit = source_.block(3);
        misfit.bytes -= 2;
        EXPECT_FALSE(recorder.offer(misfit));
    }
    EXPECT_EQ(open_scan(toml_).recording.refused_blocks, 1);
    EXPECT_FALSE(open_scan(toml_).recording.complete);
}

TEST_F(RecorderHolesTest, CountsLossOnce) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 4);
    recorder.note_lost(1);
    offer_slowly(recorder, 5, 6);
    recorder.finish();
    EXPECT_EQ(open_scan(toml_).recording.lost_blocks, 1);
    EXPECT_EQ(open_scan(toml_).recording.lost_b_scans, 3);
}

// A block that does not fit is not also counted as lost by the source. Blocks lost before it are counted once, even if
// several sides report them.
TEST_F(RecorderHolesTest, CountsRefusedBlockAndEarlierLossesOnce) {
    struct Case {
        const char* what;
        std::int64_t misfit;             // its number; blocks before 4 have arrived
        std::int64_t lost_before, told;  // as reported by the block, and by note_lost()
        std::int64_t next;               // next block that fits; -1: none
        std::int64_t lost_before_next, lost;
    };
    const std::vector<Case> cases{
        {"one alone", 4, 0, 0, 5, 0, 0},
        {"a loss that its number tells", 5, 0, 0, 6, 0, 1},
        {"a loss that it tells too", 5, 1, 0, 6, 0, 1},
        {"a loss that is told before it as well", 5, 1, 1, 6, 0, 1},
        {"a loss that is told before it alone", 4, 0, 1, 5, 0, 1},
        {"losses on both sides of it", 6, 2, 0, 8, 1, 3},
        {"a loss after it that a number tells", 4, 0, 0, 6, 0, 1},
        {"none after it", 5, 1, 0, -1, 0, 1},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.what);
        RecordingRequest again = wanted();
        again.replace = true;
        Recorder recorder(again);
        offer_slowly(recorder, 0, 4);
        recorder.note_lost(one.told);
        Block misfit = source_.block(one.misfit);
        misfit.bytes -= 2;
        misfit.lost_before = one.lost_before;
        EXPECT_FALSE(recorder.offer(misfit));
        if (one.next > 0) {
            Block next = source_.block(one.next);
            next.lost_before = one.lost_before_next;
            EXPECT_TRUE(recorder.offer(next));
        }
        recorder.finish();
        const RecordingNotes notes = open_scan(toml_).recording;
        EXPECT_EQ(notes.refused_blocks, 1);
        EXPECT_EQ(notes.lost_blocks, one.lost);
        EXPECT_FALSE(notes.complete);
    }
}

// The losses reported by a repeated block were already counted.
TEST_F(RecorderHolesTest, RepeatedBlockAddsNoLoss) {
    Recorder recorder(wanted());
    offer_slowly(recorder, 0, 5);
    Block again = source_.block(2);
    again.lost_before = 3;
    EXPECT_FALSE(recorder.offer(again));
    offer_slowly(recorder, 5, 6);
    recorder.finish();
    const RecordingNotes notes = open_scan(toml_).recording;
    EXPECT_EQ(notes.lost_blocks, 0);
    EXPECT_EQ(notes.refused_blocks, 1);
}

// Checks the same through a session, to which the source reports losses.
TEST_F(RecorderHolesTest, SessionPassesLossesToRecording) {
    struct Case {
        std::vector<Fault> script;
        bool is_complete;
        std::int64_t lost_blocks, lost_b_scans, interruptions;
    };
    const std::vector<Case> cases{
        {{send(8), end()}, true, 0, 0, 0},
        {{send(6), disconnect(), send(8), end()}, false, 0, 2, 1},
        {{send(8), disconnect(), send(8), end()}, false, 0, 0, 1},
        {{send(4), lose(1), send(3), end()}, false, 1, 1, 0},
        {{send(8), lose(3), end()}, false, 3, 0, 0},
        {{send(7), cut_short(), end()}, false, 1, 0, 0},
        {{send(4), cut_short(), send(3), end()}, false, 1, 1, 0},
        {{send(7), repeat(), send(1), end()}, true, 0, 0, 0},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(i);
        NotingSink sink;
        FaultySource source(live_scan(), 1, cases[i].script);
        Session session(source, sink);
        RecordingRequest session_wanted = wanted();
        session_wanted.scan = source.scan();
        session_wanted.max_blocks_held = 100;
        session_wanted.replace = true;
        session.record(session_wanted);
        run_to_end(session);
        EXPECT_EQ(session.stop_recording().problem, std::nullopt);
        const RecordingNotes notes = open_scan(toml_).recording;
        EXPECT_EQ(notes.complete, cases[i].is_complete);
        EXPECT_EQ(notes.lost_blocks, cases[i].lost_blocks);
        EXPECT_EQ(notes.lost_b_scans, cases[i].lost_b_scans);
        EXPECT_EQ(notes.interruptions, cases[i].interruptions);
    }
}

// As written by earlier versions, without the last column and without `finished`.
TEST_F(RecorderHolesTest, OpensOlderRecordings) {
    {
        Recorder recorder(wanted());
        offer_slowly(recorder, 0, 3);
    }
    const auto edit = [](const std::filesystem::path& path, const std::string& what, const std::string& to) {
        const Bytes bytes = bytes_of(path);
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + to.size()))
            text.replace(at, what.size(), to);
        put(path, std::as_bytes(std::span(text)));
    };
    const std::filesystem::path index = folder_ / "rec" / "scan.index.csv";
    edit(index, ",interruptions\n", "\n");
    edit(index, ",0\n", "\n");
    edit(toml_, "finished = true\n", "");
    EXPECT_FALSE(open_scan(toml_).recording.was_cut());
    expect_opens_with(toml_, source_, 3);
    edit(toml_, "complete = true\n", "");
    EXPECT_TRUE(open_scan(toml_).recording.was_cut());
    expect_opens_with(toml_, source_, 3);
}

}  // namespace
}  // namespace echolux
