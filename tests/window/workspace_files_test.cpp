// Opening all kinds of files: volumes, scans, sources, sessions, pictures, transfer functions, raw spectra. Also the
// messages for files that cannot be opened.
#include <algorithm>
#include <functional>

#include "engine/io/png_file.h"
#include "engine/scan/scan.h"
#include "raw_spectra.h"
#include "ui/workspace/raw_proposal.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class WorkspaceFiles : public WorkspaceTest {
  protected:
    // Writes a small scan with its description.
    std::filesystem::path scan_file(const std::string& name = "scan.toml") {
        run_operation("simulate", {"scene=layers", "simulation.samples=256", "simulation.a_scans=32",
                                   "simulation.b_scans=24", "output=" + (folder() / name).string()});
        return folder() / name;
    }

    std::filesystem::path raw_file() { return write_raw_spectra(folder(), "foreign.raw"); }

    void open(const std::filesystem::path& path) {
        work().open(path);
        settle();
    }
};

TEST_F(WorkspaceFiles, VolumeIsShown) {
    open(volume_file());
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    EXPECT_EQ(work().viewer().view_source()->grid()->depth, 24);
    EXPECT_THAT(work().recent(), ElementsAre(volume_file()));
    work().close();
    EXPECT_FALSE(work().viewer().is_open());
}

TEST_F(WorkspaceFiles, FilesMatchingPatternAreSeries) {
    for (const char* name : {"scan_1.nii", "scan_2.nii", "other.nii"}) volume_file(name);
    open(folder() / "scan_*.nii");
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    ASSERT_NE(work().viewer().view_source()->timeline(), nullptr);
    EXPECT_EQ(work().viewer().view_source()->timeline()->steps(), 2);
    open(folder() / "nothing_*.nii");
    EXPECT_THAT(standing("files"), HasSubstr("nothing_*.nii"));
}

TEST_F(WorkspaceFiles, AScanIsReconstructed) {
    open(scan_file());
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    EXPECT_TRUE(until([&] { return work().viewer().view_source()->grid().has_value(); })) << troubles();
    ASSERT_NE(work().settings().scan(), nullptr);
    EXPECT_EQ(work().settings().scan()->geometry.a_scans, 32);
}

// The noise floor is measured in the file whenever a setting changes. Without the file, planning fails.
TEST_F(WorkspaceFiles, UndoesSettingsThatFailLater) {
    open(scan_file());
    ASSERT_TRUE(until([&] { return work().viewer().view_source()->grid().has_value(); })) << troubles();
    ASSERT_TRUE(work().change("recipe.window", std::string("hamming")));
    ASSERT_TRUE(until([&] { return work().viewer().live()->stats().changes > 0; })) << troubles();
    std::filesystem::remove(work().settings().scan()->spectra);
    ASSERT_TRUE(work().change("view.opacity", 2.0));
    ASSERT_TRUE(work().change("recipe.window", std::string("rect")));
    ASSERT_TRUE(work().change("recipe.window", std::string("blackman")));
    ASSERT_TRUE(until([&] { return work().settings().scan()->recipe.window == Window::hamming; }))
        << "shown, but not in use";
    EXPECT_THAT(standing("recipe"), HasSubstr("recipe.window"));
    // The session reports the reason, at the latest in the next turns.
    EXPECT_TRUE(until([&] { return standing("source").find("scan") != std::string::npos; })) << "nobody says why";
    work().undo();
    EXPECT_EQ(work().view().opacity, 1) << "a step of what never was";
    work().undo();
    EXPECT_EQ(work().settings().scan()->recipe.window, Window::hann);
}

TEST_F(WorkspaceFiles, NamesUnreadableFileWithRemedy) {
    open(folder().write("notes.pdf", "%PDF"));
    EXPECT_THAT(standing("files"), HasSubstr("notes.pdf"));
    EXPECT_THAT(standing("files"), HasSubstr(".nrrd"));
    open(folder() / "missing.nii");
    EXPECT_THAT(standing("files"), HasSubstr("does not exist"));
    open(folder().write("odd.toml", "[kitchen]\nsalt = 1\n"));
    EXPECT_THAT(standing("files"), HasSubstr("odd.toml"));
    open(folder().write("broken.nii", "not a volume"));
    EXPECT_THAT(standing("files"), HasSubstr("broken.nii"));
    EXPECT_FALSE(work().viewer().is_open());
    EXPECT_TRUE(work().recent().empty());
}

TEST_F(WorkspaceFiles, KeepsOpenFileIfOtherIsUnreadable) {
    open_volume();
    open(folder().write("broken.nii", "not a volume"));
    EXPECT_TRUE(work().viewer().is_open());
    EXPECT_NE(standing("files"), "");
}

TEST_F(WorkspaceFiles, ReadsTransferFunction) {
    open(folder().write("mine.toml",
                        "[transfer]\nversion = 1\ncolours = [0.0, 0, 0, 0, 1.0, 1, 1, 1]\n"
                        "extinctions = [0.0, 0.0, 1.0, 4.0]\n"));
    ASSERT_TRUE(work().view().transfer_curve) << troubles();
    EXPECT_EQ(work().view().transfer_curve->nodes.size(), 2u);
    open(folder().write("hot.json", R"([{"Name": "hot", "RGBPoints": [0, 0, 0, 0, 1, 1, 0, 0]}])"));
    EXPECT_THAT(work().view().transfer, HasSubstr("hot.json")) << troubles();
}

// As `echolux render` writes them.
TEST_F(WorkspaceFiles, PictureWithViewRestoresOnlyView) {
    open_volume();
    Picture picture{1, 1, 1, {0}, {{"view", "[view]\nmode = \"mip\"\nflatten = \"surface\"\n"}}};
    write_png(folder() / "rendered.png", picture);
    work().change("view.opacity", 3.0);
    open(folder() / "rendered.png");
    EXPECT_EQ(work().view().mode, ViewMode::mip) << troubles();
    EXPECT_EQ(work().view().opacity, 1);
    EXPECT_TRUE(work().viewer().is_open());
    work().undo();
    EXPECT_EQ(work().view().opacity, 3);
    picture.text.clear();
    write_png(folder() / "foreign.png", picture);
    open(folder() / "foreign.png");
    EXPECT_THAT(standing("files"), HasSubstr("without stored settings"));
}

// Files from other people restore only the view.
TEST_F(WorkspaceFiles, PicturesAndSessionsLoadNoPluginsAndChooseNoFolders) {
    open_volume();
    const std::string session =
        "[session]\nsource = \"plugin:/nowhere/evil.so\"\n\n[view]\nmode = \"mip\"\n\n[window]\nrecord_folder = "
        "\"/nowhere\"\n";
    write_png(folder() / "theirs.png", Picture{1, 1, 1, {0}, {{"session", session}}});
    for (const auto& file : {folder() / "theirs.png", folder().write("theirs.toml", session)}) {
        work().change("view.mode", std::string("composite"));
        open(file);
        EXPECT_EQ(work().view().mode, ViewMode::mip) << file;
        EXPECT_EQ(work().settings().window().record_folder, "") << file;
        EXPECT_EQ(troubles(), "") << file;
        EXPECT_THAT(work().notices().all().back().line, HasSubstr("--source plugin:/nowhere/evil.so")) << file;
    }
    open(folder().write("preset.toml", "[view]\nmode = \"mip\"\n\n[window]\nrecord_folder = \"/nowhere\"\n"));
    EXPECT_EQ(work().settings().window().record_folder, "");
}

// Opening a camera sets its registers, so it needs consent. Opening the file again gives it.
TEST_F(WorkspaceFiles, PicturesAndSessionsAskBeforeOpeningCamera) {
    open_volume();
    const std::string session =
        "[session]\nsource = \"genicam:no such camera,Gain=3\"\n\n[source]\nexposure_us = 20.0\n\n[view]\nmode = "
        "\"mip\"\n";
    write_png(folder() / "theirs.png", Picture{1, 1, 1, {0}, {{"session", session}}});
    for (const auto& file : {folder() / "theirs.png", folder().write("theirs.toml", session)}) {
        work().change("view.mode", std::string("composite"));
        open(file);
        EXPECT_EQ(work().view().mode, ViewMode::mip) << "how it looked is restored";
        EXPECT_THAT(standing("source"), HasSubstr("opens genicam:no such camera,Gain=3, sets an exposure of 20 us"))
            << file;
        EXPECT_THAT(standing("source"), HasSubstr("open it again")) << file;
        EXPECT_TRUE(work().viewer().is_open()) << "what was open stays";
        open(file);
        EXPECT_THAT(standing("source"), Not(HasSubstr("open it again"))) << "it was allowed, and is tried: " << file;
        EXPECT_NE(standing("source"), "") << "there is no such camera";
        open(file);
        EXPECT_THAT(standing("source"), HasSubstr("open it again")) << "it asks again each time";
    }
}

TEST_F(WorkspaceFiles, NewVolumeResetsView) {
    open_volume();
    work().change("view.clip_high", std::vector<double>{0.5, 0.5, 0.5});
    open(volume_file("other.nii"));
    EXPECT_EQ(work().view().clip_high, (std::vector<double>{1, 1, 1}));
    EXPECT_FALSE(work().history().can_undo());
    EXPECT_EQ(work().recent().front().filename(), "other.nii");
    EXPECT_EQ(work().recent().size(), 2u);
}

TEST_F(WorkspaceFiles, RecentFilesArePersistent) {
    open(volume_file("a.nii"));
    open(volume_file("b.nii"));
    open(volume_file("a.nii"));
    remake();
    EXPECT_THAT(work().recent(), ElementsAre(folder() / "a.nii", folder() / "b.nii"));
}

TEST_F(WorkspaceFiles, SourceIsShown) {
    open_source();
    ASSERT_NE(work().viewer().view_source()->live(), nullptr);
    EXPECT_TRUE(until([&] { return work().viewer().view_source()->grid().has_value(); })) << troubles();
    work().open_source(small_source("sim:kitchen"));
    settle();
    EXPECT_NE(standing("source"), "");
    EXPECT_TRUE(work().viewer().is_open());
}

// ---- raw spectra without a description

TEST_F(WorkspaceFiles, RawSpectraBecomeProposalWithPreview) {
    open(raw_file());
    ASSERT_NE(work().raw().proposal(), nullptr) << troubles();
    const RawProposal& proposal = *work().raw().proposal();
    EXPECT_EQ(proposal.scan.geometry.samples, 256);
    EXPECT_EQ(proposal.scan.geometry.a_scans, 32);
    EXPECT_EQ(proposal.scan.geometry.b_scans, 24);
    EXPECT_EQ(proposal.problem, "");
    ASSERT_GT(proposal.preview.width, 0);
    const auto [darkest, brightest] = std::ranges::minmax(proposal.preview.pixels);
    EXPECT_LT(darkest + 100, brightest);
    EXPECT_FALSE(work().viewer().is_open());

    work().raw().accept();
    settle();
    EXPECT_EQ(work().raw().proposal(), nullptr) << troubles();
    ASSERT_TRUE(work().viewer().is_open()) << troubles();
    EXPECT_EQ(open_scan(folder() / "foreign.toml").geometry.a_scans, 32);
}

TEST_F(WorkspaceFiles, PreviewsNonFiniteSamples) {
    open(raw_file());
    ASSERT_NE(work().raw().proposal(), nullptr) << troubles();
    RawProposal& proposal = *work().raw().proposal();
    std::vector<float> samples(256 * 16 * 4, std::nanf(""));
    for (std::size_t i = 0; i < samples.size(); i += 2) samples[i] = std::cos(0.05f * static_cast<float>(i));
    folder().write("foreign.raw", {reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(float)});
    for (const auto& [key, value] : {std::pair{"scan.samples", "256"}, {"scan.a_scans", "16"}, {"scan.b_scans", "4"}}) {
        proposal.settings.set(key, value);
    }
    proposal.scan.format.sample_format = SampleFormat::f32;
    proposal.is_stale = true;
    settle();
    EXPECT_EQ(proposal.problem, "");
    const auto [darkest, brightest] = std::ranges::minmax(proposal.preview.pixels);
    EXPECT_EQ(darkest, 0);
    EXPECT_EQ(brightest, 255);
}

TEST_F(WorkspaceFiles, ProposalReportsMismatch) {
    open(raw_file());
    ASSERT_NE(work().raw().proposal(), nullptr) << troubles();
    RawProposal& proposal = *work().raw().proposal();
    proposal.settings.set("scan.b_scans", "25");
    proposal.is_stale = true;
    settle();
    EXPECT_THAT(proposal.problem, HasSubstr("foreign.raw"));
    EXPECT_TRUE(std::ranges::is_sorted(proposal.guesses, std::greater{}, &RawGuess::likeness));
    proposal.take(proposal.guesses.front());
    settle();
    EXPECT_EQ(proposal.problem, "");
    work().raw().drop();
    EXPECT_EQ(work().raw().proposal(), nullptr);
}

TEST_F(WorkspaceFiles, EarlierDescriptionIsNeverWrittenOver) {
    open(raw_file());
    ASSERT_NE(work().raw().proposal(), nullptr) << troubles();
    const auto earlier = folder().write("foreign.toml", "# mine\n");
    work().raw().accept();
    settle();
    EXPECT_THAT(standing("files"), HasSubstr("already"));
    std::ifstream stream(earlier);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "# mine\n");
}

TEST_F(WorkspaceFiles, RawSpectraWithDescriptionOpenAsScan) {
    const auto toml = scan_file("both.toml");
    open(std::filesystem::path(toml).replace_extension(".raw"));
    EXPECT_EQ(work().raw().proposal(), nullptr);
    EXPECT_TRUE(work().viewer().is_open()) << troubles();
}

// ---- channels -------------------------------------------------------------------------------------------------------

class WorkspaceChannels : public WorkspaceTest {};

TEST_F(WorkspaceChannels, AreAddedAndUndone) {
    open_volume();
    const std::string file = volume_file("other.nii").string();
    ASSERT_TRUE(work().change("view.channel_2_file", file)) << troubles();
    ASSERT_NE(work().view().channels[0].volume, nullptr);
    const auto read = work().view().channels[0].volume;
    ASSERT_TRUE(work().change("view.channel_2_curve", std::string("angiogram")));
    EXPECT_EQ(work().view().channels[0].volume, read) << "it was read again";
    settle();
    EXPECT_EQ(standing("view"), "");
    work().undo();
    work().undo();
    EXPECT_EQ(work().view().channels[0].volume, nullptr);
    work().redo();
    EXPECT_NE(work().view().channels[0].volume, nullptr);
}

TEST_F(WorkspaceChannels, UnreadableFileChangesNoChannel) {
    open_volume();
    EXPECT_FALSE(work().change("view.channel_2_file", std::string("missing.nii")));
    EXPECT_THAT(standing("view"), HasSubstr("missing.nii"));
    EXPECT_EQ(work().view().channels[0].file, "");
    ASSERT_TRUE(work().change("view.channel_2_file", volume_file("other.nii").string()));
    EXPECT_FALSE(work().change("view.channel_2_curve", std::string("nonsense")));
    EXPECT_EQ(work().view().channels[0].curve, "automatic");
}

}  // namespace
}  // namespace echolux::test
