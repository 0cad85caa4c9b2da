// Results of a benchmark: figures with their spread, each with its limit, and their relation to the targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/validation/check.h"

namespace echolux {

struct Spread {
    double median = 0;
    double low = 0;   // 10th percentile
    double high = 0;  // 90th percentile
    std::int64_t count = 0;
};

// All zero without values.
Spread spread_of(std::vector<double> values);

struct BenchRatio {
    std::string of;  // key of the figure to divide by, in the same unit after conversion
    double value = 0;
};

struct BenchFigure {
    std::string key;      // such as "texture/2048"; docs/performance.md lists them
    std::string meaning;  // description for the report
    std::string unit;     // "A-scans/s", "B/s", "s", ...
    Spread spread;
    std::vector<BenchRatio> ratios;
    std::string skipped;      // why it was not measured; empty if it was
    std::string remark = {};  // deviation from the usual procedure
};

// Medians of figures of one kind over two sizes; 0 if not measured.
struct BenchSheet {
    std::string title;
    std::string unit;
    std::vector<std::string> columns;
    struct Row {
        std::string name;
        std::vector<double> values;
    };
    std::vector<Row> rows;
};

// Stages of a running system, each compared with its rate when nothing else runs.
struct BenchPipeline {
    std::string title;
    struct Step {
        std::string name;
        std::string unit;
        double reached = 0;
        std::string of;      // key of the ceiling
        double ceiling = 0;  // if 0, not measured

        double share() const { return ceiling > 0 ? reached / ceiling : 0; }
    };
    std::vector<Step> stages;
};

// A published figure and ours.
struct BenchComparison {
    std::string paper;     // "Wang 2012"
    std::string what;      // "512 A-scans, 10 iterations"
    std::string hardware;  // "GeForce GTX 580"
    std::string unit;
    double published = 0;
    std::string figure;  // our key
    double ours = 0;     // if 0, not measured
    double factor = 0;   // how many times better ours is; 0 if not measured
};

struct BenchMachine {
    std::string processor;
    int threads = 0;
    std::string backend;  // name given by the reconstructor
    std::string remark;   // why no GPU is used; "" if one is, or if a CPU was requested
    std::string driver;   // version of the NVIDIA driver; "" without a GPU
    std::string display;  // path from voxels to pictures; "" without a renderer
};

struct BenchReport {
    BenchMachine machine;
    std::string conditions;    // one sentence that applies to all figures
    std::int64_t a_scans = 0;  // of the volume used for most reconstruction figures; 0 without such figures
    std::int64_t b_scans = 0;
    std::int64_t block_b_scans = 0;
    bool quick = false;
    bool is_interrupted = false;  // contains what was measured before
    std::vector<BenchFigure> ceilings;
    std::vector<BenchFigure> figures;
    std::vector<BenchSheet> sheets;
    std::vector<BenchPipeline> stages;
    std::vector<BenchComparison> published;
    std::vector<Check> targets;  // empty if sizes are smaller than those of the targets

    // Returns null if the figure is missing or was skipped.
    const BenchFigure* find(const std::string& key) const;
};

// Text for docs/performance.md: machine, ceilings, figures, targets.
std::string markdown_of(const BenchReport& report);

// Text for a terminal, one line per figure.
std::string text_of(const BenchReport& report);

// One JSON object over several lines; docs/performance.md lists the keys.
std::string json_of(const BenchReport& report);

// "1.23 M A-scans/s", "45.6 GB/s", "2.10 ms", "98.5 %": three significant digits.
std::string spelled_amount(double value, const std::string& unit);

// "149 .. 159 M A-scans/s": low to high, in the median's unit.
std::string spelled_range(const Spread& spread, const std::string& unit);

}  // namespace echolux
