// Operations through their descriptions: arguments, sections, files and volumes in memory, refusals. `filter` stands
// for all of them.
#include "app/operations/operation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "app/operations/operation_json.h"
#include "compute/error.h"
#include "temporary_folder.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

// Speckle of one look.
Volume speckled() {
    std::mt19937 random(7);
    std::exponential_distribution<float> intensity(1);
    std::vector<float> values(24 * 12 * 4);
    for (float& value : values) value = intensity(random);
    return make_volume({24, 12, 4}, values, "intensity", {5, 10, 10});
}

class Operations : public testing::Test {
  protected:
    Operations() {
        write_volume(file_, speckled());
        context_.backend.backend = Backend::cpu;
    }

    template <class Work>
    static std::string refusal_by(const Work& work) {
        return error_of(work).line;
    }

    TemporaryFolder folder_;
    std::filesystem::path file_ = folder_ / "speckle.nrrd";
    SilentProgress progress_;
    Context context_{progress_};
    std::unique_ptr<Operation> filter_ = operation_named("filter").make();
};

TEST_F(Operations, MakeSameVoxelsInMemoryAndInFiles) {
    filter_->set_text("input", file_.string());
    filter_->set_text("output", (folder_ / "filtered.nrrd").string());
    filter_->set_text("patch", "3");
    filter_->run(context_);
    EXPECT_THAT(context_.files, testing::ElementsAre(folder_ / "filtered.nrrd"));
    const Volume by_file = read_volume(folder_ / "filtered.nrrd");

    const auto in_memory = operation_named("filter").make();
    in_memory->add_input("input", std::make_shared<const Volume>(speckled()));
    in_memory->set("filter.patch", std::int64_t{3});
    in_memory->keep("output");
    Context silent{progress_, context_.backend};
    in_memory->run(silent);
    ASSERT_NE(in_memory->output("output").volume, nullptr);
    EXPECT_EQ(in_memory->output("output").volume->voxels, by_file.voxels);
    EXPECT_NE(by_file.voxels, speckled().voxels);
    EXPECT_TRUE(silent.files.empty());
}

TEST_F(Operations, AverageSeveralInputs) {
    for (int look = 0; look < 2; ++look) filter_->add_input("input", std::make_shared<const Volume>(speckled()));
    filter_->keep("output");
    filter_->run(context_);
    EXPECT_EQ(std::get<std::int64_t>(filter_->result("looks")), 2);
    EXPECT_NEAR(std::get<double>(filter_->result("effective_looks")), 1, 1e-6) << "both have the same speckle";
    EXPECT_EQ(filter_->json(context_)["looks"], 2);
}

TEST_F(Operations, TakeEitherFilesOrVolumesInMemory) {
    const auto volume = std::make_shared<const Volume>(speckled());
    filter_->set_text("input", file_.string());
    EXPECT_THAT(refusal_by([&] { filter_->add_input("input", volume); }), testing::HasSubstr("either files or"));
    const auto other = operation_named("filter").make();
    other->add_input("input", volume);
    EXPECT_THAT(refusal_by([&] { other->set_text("input", file_.string()); }), testing::HasSubstr("either files or"));
}

TEST_F(Operations, SuggestNearestName) {
    EXPECT_THAT(refusal_by([] { operation_named("filtr"); }), testing::HasSubstr("did you mean filter?"));
    EXPECT_THAT(refusal_by([&] { filter_->set_text("patsh", "3"); }), testing::HasSubstr("filter.patch"));
    EXPECT_THAT(refusal_by([&] { filter_->keep("outptu"); }), testing::HasSubstr("did you mean output?"));
    EXPECT_THAT(refusal_by([&] { filter_->result("looms"); }), testing::HasSubstr("did you mean looks?"));
}

TEST_F(Operations, CheckInputsAndOutputsFirst) {
    EXPECT_THAT(refusal_by([&] { filter_->run(context_); }), testing::HasSubstr("input"));
    filter_->set_text("input", file_.string());
    EXPECT_THAT(refusal_by([&] { filter_->run(context_); }), testing::HasSubstr("output"));
    filter_->set_text("output", file_.string());
    EXPECT_THAT(refusal_by([&] { filter_->run(context_); }), testing::HasSubstr("would overwrite an input"));
    EXPECT_EQ(read_volume(file_).voxels, speckled().voxels);
}

TEST_F(Operations, TakeNoSettingsOfScansForVolumesInMemory) {
    filter_->add_input("input", std::make_shared<const Volume>(speckled()));
    filter_->set_text("recipe.window", "hann");
    filter_->keep("output");
    EXPECT_THAT(refusal_by([&] { filter_->run(context_); }), testing::HasSubstr("recipe.window=hann"));
}

TEST_F(Operations, ChooseNoTimePointOfVolumesInMemory) {
    filter_->add_input("input", std::make_shared<const Volume>(speckled()));
    filter_->set("volume", std::int64_t{1});
    filter_->keep("output");
    EXPECT_THAT(refusal_by([&] { filter_->run(context_); }), testing::HasSubstr("filter.volume"));
    EXPECT_EQ(filter_->output("output").volume, nullptr);
}

TEST_F(Operations, KeepSettingsIfPresetIsRefused) {
    const auto segment = operation_named("segment").make();
    segment->set_text("preset", "layers");
    segment->set_text("layers.count", "2");
    const std::string before = segment->settings().toml(true);
    EXPECT_NE(refusal_by([&] { segment->set_text("preset", "no-such-preset"); }), "");
    EXPECT_EQ(segment->settings().toml(true), before);
}

TEST_F(Operations, MakeKeptFilesOnce) {
    int made = 0;
    const auto write = [&](const std::filesystem::path& path) { std::ofstream(path) << "made " << ++made; };
    OperationOutput both{.file = folder_ / "a.csv", .is_kept = true};
    context_.write(both, ".csv", write);
    EXPECT_EQ(both.bytes, "made 1");
    EXPECT_EQ(made, 1);
    OperationOutput other{.file = folder_ / "a.svg", .is_kept = true};
    context_.write(other, ".png", write);
    EXPECT_EQ(other.bytes, "made 3") << "another format in memory";
    EXPECT_THAT(context_.files, testing::ElementsAre(both.file, other.file));
}

TEST_F(Operations, RemoveTemporaryFoldersAfterErrors) {
    const char* before = std::getenv("TMPDIR");
    const std::string usual = before == nullptr ? "" : before;
    const std::filesystem::path temporary = folder_ / "temporary";
    std::filesystem::create_directory(temporary);
    setenv("TMPDIR", temporary.c_str(), 1);
    OperationOutput kept{.file = {}, .is_kept = true};
    EXPECT_THAT(refusal_by([&] { context_.write(kept, ".csv", [](const std::filesystem::path&) {}); }),
                testing::HasSubstr("does not exist"));
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
    before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", usual.c_str(), 1);
}

// Settings apply to all scans of an operation, and name files beside each.
TEST_F(Operations, KnowFilesThatSettingsNameBesideEachScan) {
    const auto calibrate = operation_named("calibrate_k").make();
    calibrate->set_text("mirror1", (folder_ / "a/near.toml").string());
    calibrate->set_text("mirror2", (folder_ / "b/far.toml").string());
    calibrate->set_text("calibration.background", "dark.csv");
    EXPECT_THAT(calibrate->files_to_read(), testing::IsSupersetOf({folder_ / "a/dark.csv", folder_ / "b/dark.csv"}));
}

TEST_F(Operations, AreDescribedAsJson) {
    const nlohmann::ordered_json filter = description_of(operation_named("filter"));
    const auto named = [&](const char* list, std::string_view name) {
        const auto is_it = [&](const auto& one) { return one["name"] == name; };
        return *std::ranges::find_if(filter[list], is_it);
    };
    EXPECT_EQ(named("inputs", "input")["many"], true);
    EXPECT_EQ(named("arguments", "all_volumes")["section"], "") << "of the operation itself";
    EXPECT_EQ(named("arguments", "all_volumes")["type"], "bool");
    const auto patch = named("arguments", "patch");
    EXPECT_EQ(patch["key"], "filter.patch");
    EXPECT_EQ(patch["section"], "filter");
    EXPECT_EQ(patch["type"], "integer");
    EXPECT_EQ(patch["min"], 1);
    EXPECT_THAT(named("arguments", "method")["choices"], testing::Contains("median"));
    EXPECT_EQ(named("outputs", "output")["kind"], "volume");
    EXPECT_EQ(named("results", "looks")["type"], "integer");
    EXPECT_EQ(named("results", "effective_looks")["type"], "number");
    EXPECT_EQ(named("results", "backend")["type"], "text");
}

TEST(OperationTexts, DescriptionsExplainSpecialValues) {
    const OperationInfo& segment = operation_named("segment");
    const nlohmann::ordered_json arguments = description_of(segment)["arguments"];
    const auto b_scan = std::ranges::find_if(arguments, [](const auto& one) { return one["name"] == "b_scan"; });
    ASSERT_NE(b_scan, arguments.end());
    EXPECT_EQ((*b_scan)["special"]["value"], -1);
    EXPECT_EQ((*b_scan)["special"]["meaning"], "the middle one");
    EXPECT_THAT(operations_page({&segment}), testing::HasSubstr("| integer from -1; -1: the middle one |"));
}

TEST(OperationTexts, ResultsAreShort) {
    using Counts = std::map<std::string, std::int64_t>;
    EXPECT_EQ(text_of(ResultValue()), "none");
    EXPECT_EQ(text_of(true), "yes");
    EXPECT_EQ(text_of(std::int64_t{12}), "12");
    EXPECT_EQ(text_of(0.25), "0.25");
    EXPECT_EQ(text_of(std::nan("")), "unknown");
    EXPECT_EQ(text_of(std::vector<std::string>{"top", "bottom"}), "top, bottom");
    EXPECT_EQ(text_of(std::vector<double>(100, 1.0)), "100 values");
    EXPECT_EQ(text_of(Counts{{"ok", 3}, {"weak", 1}}), "3 ok, 1 weak");
    EXPECT_EQ(text_of(std::make_shared<const ResultArray>(ResultArray{{2, 3}, std::vector<double>(6)})), "2 x 3");
}

TEST(OperationTexts, OutputsHaveEndings) {
    EXPECT_EQ(endings_of({.name = "table", .kind = OutputKind::table, .help = ""}), std::vector<std::string>{".csv"});
    EXPECT_THAT(endings_of({.name = "map", .kind = OutputKind::volume_or_figure, .help = ""}),
                testing::IsSupersetOf({".nrrd", ".pdf"}));
    for (const OperationInfo* info : operations()) {
        for (const OutputText& output : info->outputs)
            EXPECT_FALSE(endings_of(output).empty()) << info->name << " " << output.name;
    }
}

// Run `ECHOLUX_WRITE=1 unit_tests --gtest_filter=*DocumentedOperations*` to update the documentation. Operations of
// ECHOLUX_MORE_OPERATIONS are not in it.
TEST(OperationsPage, DocumentedOperationsMatchDescriptions) {
    const std::filesystem::path source = ECHOLUX_SOURCE_DIR, path = source / "docs/operations.md";
    std::vector<const OperationInfo*> shipped;
    for (const OperationInfo* info : operations()) {
        if (std::filesystem::exists(source / "app/operations" / (std::string(info->name) + ".cpp")))
            shipped.push_back(info);
    }
    const std::string begin = "<!-- made from the descriptions of operations -->\n";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    const std::size_t at = text.str().find(begin);
    ASSERT_NE(at, std::string::npos);
    const std::string whole = text.str().substr(0, at) + begin + "\n" + operations_page(shipped);
    if (std::getenv("ECHOLUX_WRITE") != nullptr) std::ofstream(path) << whole;
    EXPECT_TRUE(text.str() == whole) << path << " is out of date: run this test with ECHOLUX_WRITE=1";
}

}  // namespace
}  // namespace echolux
