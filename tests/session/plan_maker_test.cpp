// Plans are made one at a time; of several requests, the last one counts.
#include "engine/planning.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

#include "await.h"
#include "compute/error.h"
#include "live_plan.h"

namespace echolux {
namespace {

ReconstructionSpec spec(double high) {
    ReconstructionSpec spec = test::live_scan().spec(1);
    spec.recipe.high = high;
    return spec;
}

PreparedPlan awaited(PlanMaker& maker) {
    for (;;) {
        if (auto made = maker.take()) return std::move(*made);
        std::this_thread::yield();
    }
}

TEST(PlanMaker, LastOfManyRequestsCounts) {
    std::counting_semaphore<> go(0);
    std::atomic<int> begun = 0, made = 0;
    PlanMaker maker([&](const ReconstructionSpec& wanted) {
        ++begun;
        go.acquire();
        ++made;
        return ChosenReconstructor{plan_on_cpu(wanted), ""};
    });
    maker.want(spec(10));
    AWAIT(begun != 0);
    for (int i = 11; i <= 40; ++i) maker.want(spec(i));
    EXPECT_FALSE(maker.take()) << "the first is still being made";
    go.release(2);
    AWAIT(made >= 2);
    PreparedPlan last = awaited(maker);
    if (last.spec.recipe.high == 10) last = awaited(maker);
    EXPECT_EQ(last.spec.recipe.high, 40);
    EXPECT_FALSE(maker.take());
    EXPECT_EQ(begun, 2);
}

TEST(PlanMaker, FailureOfNewestDropsEarlierPlans) {
    std::atomic<int> begun = 0;
    PlanMaker maker([&](const ReconstructionSpec& wanted) {
        ++begun;
        if (wanted.recipe.high == 20) throw Error(ErrorCode::bad_setting, "twenty");
        return ChosenReconstructor{plan_on_cpu(wanted), ""};
    });
    maker.want(spec(10));
    PreparedPlan first = awaited(maker);
    EXPECT_EQ(first.number, 1u);
    maker.want(spec(20));
    AWAIT(maker.failed() != 0);
    EXPECT_EQ(maker.failed(), 2u);
    maker.put_back(std::move(first));
    EXPECT_THROW(maker.take(), Error);
    EXPECT_FALSE(maker.take());
    maker.want(spec(30));
    EXPECT_EQ(awaited(maker).number, maker.wanted());
}

TEST(PlanMaker, ReturnsUnusedPlanUnlessNewerExists) {
    PlanMaker maker([](const ReconstructionSpec& wanted) { return ChosenReconstructor{plan_on_cpu(wanted), ""}; });
    maker.want(spec(10));
    maker.put_back(awaited(maker));
    PreparedPlan first = awaited(maker);
    EXPECT_EQ(first.spec.recipe.high, 10);
    maker.want(spec(20));
    PreparedPlan second = awaited(maker);
    maker.put_back(std::move(second));
    maker.put_back(std::move(first));
    EXPECT_EQ(awaited(maker).spec.recipe.high, 20);
}

TEST(PlanMaker, ReportsFailureOnce) {
    PlanMaker maker([](const ReconstructionSpec& wanted) -> ChosenReconstructor {
        if (wanted.recipe.high == 13) throw Error(ErrorCode::out_of_memory, "too large", "plan");
        return {plan_on_cpu(wanted), ""};
    });
    maker.want(spec(13));
    EXPECT_THROW(awaited(maker), Error);
    EXPECT_FALSE(maker.take());
    maker.want(spec(14));
    EXPECT_EQ(awaited(maker).spec.recipe.high, 14);
}

}  // namespace
}  // namespace echolux
