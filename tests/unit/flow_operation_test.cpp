// Operation `flow` on volumes in memory: times, structure, results as arrays and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "app/operations/operation.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/support/error_of.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

constexpr double radius_um = 60, peak_mm_s = 20;

// A tilted tube with laminar flow, `factor` times as fast as peak_mm_s.
std::shared_ptr<const Volume> tube(double factor = 1) {
    auto volume = std::make_shared<Volume>(make_volume({128, 64, 48}, "velocity", {2, 4, 4}));
    volume->grid.unit = "mm/s";
    const VolumeGrid& grid = volume->grid;
    float* values = floats_of(*volume);
    constexpr double down = 0.2;
    for (std::int64_t k = 0; k < grid.voxels(); ++k) {
        const double x = 4 * static_cast<double>(k / grid.depth % grid.a_scans - 32);
        const double s = 4 * static_cast<double>(k / grid.depth / grid.a_scans - 24);
        const double z = 2 * static_cast<double>(k % grid.depth - 64);
        const double r = std::hypot(x, z - down * s) / radius_um;
        const double v = r < 1 ? factor * peak_mm_s * (1 - r * r) * down : 0;
        values[k] = static_cast<float>(v + 1e-7);  // exactly 0 would mean unknown
    }
    return volume;
}

std::vector<double> values_of(const Operation& flow, std::string_view name) {
    const auto array = std::get<std::shared_ptr<const ResultArray>>(flow.result(name));
    return std::get<std::vector<double>>(array->values);
}

class FlowOperation : public testing::Test {
  protected:
    void add_beats(const std::vector<double>& factors) {
        for (const double factor : factors) flow_->add_input("velocity", tube(factor));
    }

    std::string refusal() {
        return error_of([&] { flow_->run(context_); }).line;
    }

    SilentProgress progress_;
    Context context_{progress_};
    std::unique_ptr<Operation> flow_ = operation_named("flow").make();
};

TEST_F(FlowOperation, MeasuresWithoutOutputs) {
    add_beats({1});
    flow_->run(context_);
    const double true_ul_s = std::numbers::pi * radius_um * radius_um * peak_mm_s / 2 * 1e-6;
    EXPECT_NEAR(std::get<double>(flow_->result("flow_ul_s")) / true_ul_s, 1, 0.03);
    EXPECT_EQ(std::get<std::int64_t>(flow_->result("volumes")), 1);
    EXPECT_THAT(context_.lines, testing::Contains(testing::HasSubstr("no heart rate: a single volume")));
    EXPECT_TRUE(context_.files.empty());
}

TEST_F(FlowOperation, ReadsTimesOfVolumesInMemory) {
    add_beats({1, 1.2, 1});
    flow_->set_text("times_s", "3,3.1,3.35");
    flow_->keep("output");
    flow_->keep("streaks");
    flow_->run(context_);
    EXPECT_THAT(values_of(*flow_, "values.time_s"), testing::Pointwise(testing::DoubleNear(1e-9), {0.0, 0.1, 0.35}));
    const std::vector<double> values = values_of(*flow_, "values.flow_ul_s");
    EXPECT_NEAR(values[1] / values[0], 1.2, 0.02);
    const auto reasons = std::get<std::shared_ptr<const ResultArray>>(flow_->result("values.reason"));
    EXPECT_EQ(reasons->words.at(std::get<std::vector<std::uint8_t>>(reasons->values).front()), "ok");
    EXPECT_THAT(flow_->output("output").bytes, testing::StartsWith("# echolux cross-section"));
    EXPECT_THAT(flow_->output("streaks").bytes, testing::HasSubstr("streak_pulse = [0,"));
}

TEST_F(FlowOperation, RejectsImpossibleTimes) {
    add_beats({1, 1});
    flow_->set_text("times_s", "0,1,2");
    EXPECT_THAT(refusal(), testing::HasSubstr("expected 2 times"));
    flow_->set_text("times_s", "1,0");
    EXPECT_THAT(refusal(), testing::HasSubstr("1 s is followed by 0 s"));
}

TEST_F(FlowOperation, RejectsStructureOfOtherVolumes) {
    add_beats({1, 1});
    auto structure = std::make_shared<Volume>(*tube());
    structure->grid.quantity = structure->grid.unit = "";
    flow_->add_input("structure", structure);
    EXPECT_THAT(refusal(), testing::HasSubstr("has 1 time point"));
}

TEST_F(FlowOperation, RejectsDirectionWithoutPoint) {
    add_beats({1});
    flow_->set_text("towards", "32,40,70");
    EXPECT_THAT(refusal(), testing::HasSubstr("towards"));
}

}  // namespace
}  // namespace echolux
