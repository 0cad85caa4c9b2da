// Seeded random actions and settings, within their ranges and beyond, on a live workspace, as a window would pass them
// on. There must be no escaping exception, validation message, hang or growth.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <random>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "ui/workspace/recordings.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using Clock = std::chrono::steady_clock;

// Resident memory of this process.
double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double total = 0, resident = 0;
    file >> total >> resident;
    return 4096 * resident;
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

class Monkey {
  public:
    Monkey(Workspace& work, std::uint64_t seed, const std::filesystem::path& volume, const SourceRequest& source)
        : work_(work), random_(seed), volume_(volume), source_(source) {}

    void step() {
        const int what = below(100);
        if (what < 40) {
            press();
        } else if (what < 85) {
            set();
        } else if (what < 90) {
            note("cross-hair");
            work_.set_cross_um({uniform(-3e3, 3e3), uniform(-3e3, 3e3), uniform(-3e3, 3e3)});
        } else if (what < 95) {
            draw_curve();
        } else if (what < 97) {
            turn_camera();
        } else {
            open();
        }
        stay_small();
    }

    std::string story() const {
        std::string lines;
        for (const std::string& line : story_) lines += line + "\n";
        return lines;
    }
    std::int64_t steps() const { return steps_; }
    std::int64_t taken() const { return taken_; }

  private:
    int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

    void note(const std::string& line) {
        ++steps_;
        story_.push_back(line);
        if (story_.size() > 40) story_.pop_front();
    }

    void press() {
        const std::vector<Action>& all = work_.actions().all();
        const std::string id = all[index(below(static_cast<int>(all.size())))].id;
        note("action " + id);
        work_.actions().run(id);
    }

    // Returns a number that is usually within the range or slightly beyond, and sometimes far beyond it.
    double number_for(const BoundField& field) {
        const double low = std::max(field.low, -1e4), high = std::min(field.high, 1e4);
        const double margin = below(20) == 0 ? 10 : 0.05;
        const double width = high - low;
        if (below(4) == 0) return below(2) == 0 ? low : high;
        const double at = std::pow(uniform(0, 1), 3);  // prefer small numbers
        return uniform(0, 1) < 0.8 ? low + at * width : uniform(low - margin * width, high + margin * width);
    }

    Value value_for(const BoundField& field) {
        const Value now = field.get();
        if (std::holds_alternative<bool>(now)) return below(2) == 0;
        if (std::holds_alternative<std::int64_t>(now)) return static_cast<std::int64_t>(number_for(field));
        if (std::holds_alternative<double>(now)) return number_for(field);
        if (std::holds_alternative<std::vector<double>>(now)) {
            std::vector<double> list(index(below(9)));
            for (double& number : list) number = number_for(field);
            return list;
        }
        if (field.choices.empty()) return std::string(below(2) == 0 ? "" : "nothing of that name");
        const auto choice = index(below(static_cast<int>(field.choices.size()) + 1));
        return choice == field.choices.size() ? std::string("nonsense") : std::string(field.choices[choice]);
    }

    void set() {
        const std::vector<BoundField>& fields = work_.settings().fields();
        const BoundField& field = fields[index(below(static_cast<int>(fields.size())))];
        const std::string key = field.key();
        if (key == "window.record_folder") return;
        const Value value = below(8) == 0 ? field.default_value : value_for(field);
        note(key + " = " + spelled(value));
        taken_ += work_.change(key, value, below(3) == 0 ? Edit::in_progress : Edit::done) ? 1 : 0;
    }

    void draw_curve() {
        note("curve");
        TransferCurve curve;
        for (int i = 0, nodes = below(6); i < nodes; ++i) {
            curve.nodes.push_back(
                {uniform(-10, 50), uniform(-0.1, 1), uniform(0, 1.05), uniform(0, 1), uniform(-0.1, 9)});
        }
        if (below(3) > 0) std::ranges::sort(curve.nodes, {}, &TransferNode::value);
        work_.set_transfer_curve(curve, below(2) == 0 ? Edit::in_progress : Edit::done);
    }

    void turn_camera() {
        note("camera");
        work_.view().azimuth_deg = uniform(-200, 200);
        work_.view().zoom = uniform(0.05, 20);
        work_.view_edited(below(2) == 0 ? Edit::in_progress : Edit::done);
    }

    void open() {
        const int what = below(3);
        note(what == 0 ? "open the volume" : "open the source");
        if (what == 0) return work_.open(volume_);
        work_.open_source(source_);
    }

    // Without a GPU, slow or large views would take up the whole time of the test.
    void stay_small() {
        work_.change("view.width", std::int64_t{64});
        work_.change("view.height", std::int64_t{48});
        View& view = work_.view();
        view.samples = 1;
        view.rest_samples = std::min<std::int64_t>(view.rest_samples, 2);
        view.step = std::max(view.step, 0.5);
        view.frame_ms = std::clamp(view.frame_ms, 5.0, 33.0);
        work_.view_edited(Edit::done);
        if (work_.settings().scan() != nullptr && work_.settings().scan()->recipe.zero_padding > 2)
            work_.reset("recipe.zero_padding");
        for (const char* key :
             {"filter.search_depth", "filter.search_a_scans", "filter.search_b_scans", "filter.patch"})
            work_.reset(key);
        if (work_.jobs().states().size() > 4) work_.jobs().cancel_all();
    }

    Workspace& work_;
    std::mt19937_64 random_;
    std::filesystem::path volume_;
    SourceRequest source_;
    std::deque<std::string> story_;
    std::int64_t steps_ = 0, taken_ = 0;
};

class Monkeys : public WorkspaceTest {
  protected:
    void let_loose(double seconds, std::uint64_t seed) {
        work().change("window.record_folder", folder().path().string());
        const std::filesystem::path volume = volume_file();
        open_source();
        Monkey monkey(work(), seed, volume, small_source());
        std::vector<double> memory;
        const auto start = Clock::now();
        const auto seconds_so_far = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
        try {
            while (seconds_so_far() < seconds) {
                monkey.step();
                see();
                if (monkey.steps() % 50 == 0) memory.push_back(resident_bytes());
                if (monkey.steps() % 200 == 0) tidy();
            }
            memory.push_back(resident_bytes());
            work().recordings().stop();
            EXPECT_TRUE(finish_jobs()) << "a job does not end";
        } catch (const std::exception& error) {
            FAIL() << error.what() << "\nseed " << seed << ", after\n" << monkey.story();
        }
        memory.push_back(resident_bytes());
        EXPECT_GT(monkey.taken(), 0);
        std::printf("%lld steps, %lld settings taken, %zu notices\n", static_cast<long long>(monkey.steps()),
                    static_cast<long long>(monkey.taken()), work().notices().all().size());
        expect_flat(memory, seconds);
    }

  private:
    // Like the window, lets the view source report views that cannot be shown.
    void see() {
        try {
            turn(work());
        } catch (const Error& error) {
            if (error.code() != ErrorCode::bad_setting) throw;
        }
    }

    // Like until(), but tolerates views that cannot be shown.
    bool finish_jobs() {
        const auto start = Clock::now();
        while (!work().jobs().is_idle() && Clock::now() - start < std::chrono::minutes(2)) {
            see();
            std::this_thread::yield();
        }
        return work().jobs().is_idle();
    }

    // Removes recordings and pictures, which are not growth of the program.
    void tidy() {
        work().recordings().stop();
        std::error_code ignored;
        for (const auto& entry : std::filesystem::directory_iterator(folder().path(), ignored)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("echolux-20")) std::filesystem::remove(entry.path(), ignored);
        }
    }

    static std::ptrdiff_t entries(const char* folder) {
        return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    }

    // Compares memory in the last third of the run with the middle third. Mesa's software driver keeps the last
    // thousand compiled shaders, half a MB each, and needs minutes to collect them. Before that, only an upper limit
    // can be checked.
    static void expect_flat(const std::vector<double>& memory, double seconds) {
        constexpr double warm_up_s = 900, ceiling = 3e9;
        constexpr std::ptrdiff_t max_files = 100, max_threads = 64;
        ASSERT_FALSE(memory.empty());
        EXPECT_LT(*std::ranges::max_element(memory), ceiling);
        EXPECT_LT(entries("/proc/self/fd"), max_files);
        EXPECT_LT(entries("/proc/self/task"), max_threads);
        const std::size_t third = memory.size() / 3;
        if (third < 5) return;  // too short to see growth
        const auto part = [&](std::size_t begin) {
            const auto first = memory.begin() + static_cast<std::ptrdiff_t>(begin);
            return median({first, first + static_cast<std::ptrdiff_t>(third)});
        };
        const double before = part(third), after = part(2 * third);
        std::printf("memory: %.0f MB, then %.0f MB\n", before / 1e6, after / 1e6);
        if (seconds < warm_up_s) return;
        EXPECT_LT(after, 1.1 * before + 32e6) << "memory grows";
    }
};

TEST_F(Monkeys, BreakNoRuleInFewSeconds) {
    let_loose(5, 20260601);
}

// Runs for ECHOLUX_MONKEY_MINUTES, by default one minute.
TEST_F(Monkeys, SlowBreakNoRuleForLong) {
    const char* minutes = std::getenv("ECHOLUX_MONKEY_MINUTES");
    let_loose(60 * (minutes == nullptr ? 1.0 : std::atof(minutes)), 7);
}

}  // namespace
}  // namespace echolux::test
