// main() of every GoogleTest program: prints the processor time of each case, which unlike its duration does not depend
// on what else the machine does. `./dev test` reads these lines (tests/support/summary.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>

namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// User and system time of all threads, and of child processes that have ended.
double processor_seconds() {
    double sum = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        getrusage(who, &usage);
        sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
    }
    return sum;
}

class ProcessorTime : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo& /*test*/) override { start_ = processor_seconds(); }

    void OnTestEnd(const testing::TestInfo& test) override {
        std::printf("[ CPU      ] %.3f s %s.%s\n", processor_seconds() - start_, test.test_suite_name(), test.name());
        std::fflush(stdout);
    }

    double start_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleMock(&count, arguments);
    testing::UnitTest::GetInstance()->listeners().Append(new ProcessorTime);  // owned by the list
    return RUN_ALL_TESTS();
}
