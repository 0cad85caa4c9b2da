// Where measurements of `echolux bench` write what they find. One that cannot be made here is noted with its reason,
// and the others go on; Ctrl-C ends them all.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "bench/report.h"
#include "compute/ceilings.h"
#include "engine/progress.h"

namespace echolux {

// The figure `of` is what limits: ratio = figure * each / that, with `each` converting units (bytes of an A-scan, ...).
struct BenchLimit {
    std::string of;
    double each = 1;
};

class BenchBook {
  public:
    BenchBook(BenchReport& report, const CeilingEffort& effort, Progress& progress)
        : report_(report), effort_(effort), progress_(progress) {}

    // Followed by `count` figures.
    void begin(const std::string& task, std::int64_t count);
    void end() { progress_.end(); }

    // `values`: repetitions of the same measurement.
    BenchFigure& figure(const std::string& key, const std::string& meaning, const std::string& unit,
                        const std::function<std::vector<double>()>& values,
                        std::initializer_list<BenchLimit> limits = {});
    void ceiling(const Ceiling& ceiling);
    void skip(const std::string& key, const std::string& meaning, const std::string& reason);

    // Between two pieces of work: throws Error{cancelled} when the user wants to stop.
    void poll() { progress_.advance(0); }

    const CeilingEffort& effort() const { return effort_; }
    const BenchReport& report() const { return report_; }

  private:
    BenchReport& report_;
    CeilingEffort effort_;
    Progress& progress_;
};

}  // namespace echolux
