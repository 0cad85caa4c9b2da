// Operation `segment` on volumes in memory: surfaces that are passed from one run to the next, and its results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/operations/operation.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "layer_scenes.h"
#include "temporary_folder.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

const float* values_of(const Volume& volume) {
    return reinterpret_cast<const float*>(volume.voxels.data());
}

std::vector<float> list_of(const Volume& volume) {
    return {values_of(volume), values_of(volume) + volume.grid.voxels()};
}

// Three layers of speckle.
std::shared_ptr<const Volume> layered() {
    const LayeredScene scene = blurred({20.5f, 40.5f}, {0.01, 1, 0.05}, {64, 24, 6}, 5);
    return std::make_shared<Volume>(make_volume({64, 24, 6}, scene.intensity, "intensity", {2, 5, 7}));
}

class SegmentOperation : public testing::Test {
  protected:
    SegmentOperation() { context_.backend.backend = Backend::cpu; }

    std::unique_ptr<Operation> operation() const {
        auto made = operation_named("segment").make();
        made->add_input("input", volume_);
        for (const char* assignment : {"preset=layers", "count=2", "polarity=1,-1"}) made->set_assignment(assignment);
        return made;
    }

    // Returns the surfaces of a search.
    std::shared_ptr<const Volume> found() {
        const auto search = operation();
        search->keep("output");
        search->run(context_);
        return search->output("output").volume;
    }

    TemporaryFolder folder_;
    SilentProgress progress_;
    Context context_{progress_};
    std::shared_ptr<const Volume> volume_ = layered();
};

TEST_F(SegmentOperation, KeepsVolumeAndTable) {
    const auto search = operation();
    search->keep("output");
    search->run(context_);
    const OperationOutput& output = search->output("output");
    ASSERT_NE(output.volume, nullptr);
    EXPECT_EQ(output.volume->grid.b_scans, 2);
    EXPECT_EQ(output.volume->grid.unit, "um");
    EXPECT_THAT(output.bytes, testing::StartsWith("b_scan,a_scan,surface,depth_um,quality,reason\n"));
    EXPECT_THAT(std::get<std::vector<std::string>>(search->result("surfaces")), testing::ElementsAre("1", "2"));

    const auto depths = std::get<std::shared_ptr<const ResultArray>>(search->result("places.depth"));
    EXPECT_THAT(depths->shape, testing::ElementsAre(2, 6, 24));
    // The volume has B-scans fastest.
    const float first = std::get<std::vector<float>>(depths->values)[24];
    EXPECT_THAT(values_of(*output.volume)[1], testing::NanSensitiveFloatEq(first));
    const auto reasons = std::get<std::shared_ptr<const ResultArray>>(search->result("places.reason"));
    EXPECT_EQ(std::get<std::vector<std::uint8_t>>(reasons->values).size(), 2U * 6 * 24);
    EXPECT_EQ(reasons->words.front(), "ok");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(search->result("vessels.flux")));
}

TEST_F(SegmentOperation, KeepsOriginOfSurfacesInMemory) {
    const std::shared_ptr<const Volume> surfaces = found();
    const auto again = operation();
    again->add_input("surfaces", surfaces);
    again->set("layers.count", std::int64_t{7});  // not that of the surfaces
    for (const char* output : {"output", "thickness"}) again->keep(output);
    again->run(context_);
    const Volume& copy = *again->output("output").volume;
    EXPECT_THAT(list_of(copy), testing::Pointwise(testing::NanSensitiveFloatNear(1e-3f), list_of(*surfaces)));
    const std::string layers = surfaces->provenance.at("layers");
    EXPECT_THAT(layers, testing::HasSubstr("count = 2"));
    EXPECT_EQ(copy.provenance.at("layers"), layers);
    EXPECT_EQ(again->output("thickness").volume->provenance.at("layers"), layers);
    EXPECT_EQ(copy.provenance.count("surfaces_of"), 0U);
    EXPECT_EQ(std::get<double>(again->result("seconds")), 0);
}

TEST_F(SegmentOperation, KeepsNameOfFileOfSurfaces) {
    write_volume(folder_ / "drawn.nrrd", *found());
    const auto from_file = operation();
    from_file->set_text("surfaces", (folder_ / "drawn.nrrd").string());
    from_file->keep("output");
    from_file->run(context_);
    const auto again = operation();
    again->add_input("surfaces", from_file->output("output").volume);
    again->keep("en_face");
    again->run(context_);
    const Volume& map = *again->output("en_face").volume;
    EXPECT_EQ(map.provenance.at("surfaces_of"), "drawn.nrrd");
    EXPECT_EQ(map.provenance.at("layers_shown"), "1 to 2");
    EXPECT_EQ(map.grid.b_scans, 1);
}

TEST_F(SegmentOperation, FlattensAndUndoesIt) {
    const std::shared_ptr<const Volume> surfaces = found();
    const auto forward = operation();
    forward->add_input("surfaces", surfaces);
    forward->set_text("level", "2");
    forward->keep("flatten");
    forward->run(context_);
    const std::shared_ptr<const Volume> flat = forward->output("flatten").volume;
    EXPECT_THAT(flat->provenance.at("flattened_to"), testing::StartsWith("2, row "));
    const auto back = operation_named("segment").make();
    back->add_input("input", flat);
    back->add_input("surfaces", surfaces);
    back->set_text("level", "2");
    back->keep("unflatten");
    back->run(context_);
    EXPECT_EQ(back->output("unflatten").volume->grid.depth, 64);
    EXPECT_EQ(back->output("unflatten").volume->provenance.count("unflattened_from"), 1U);
}

TEST_F(SegmentOperation, RejectsSurfacesOfOtherVolume) {
    auto other = std::make_shared<Volume>(*found());
    other->grid.depth /= 2;
    other->voxels.resize(index(other->grid.bytes()));
    const auto one = operation();
    one->add_input("surfaces", other);
    one->keep("thickness");
    EXPECT_THROW(one->run(context_), Error);
}

}  // namespace
}  // namespace echolux
