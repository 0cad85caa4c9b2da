// The last minute of a figure as a small curve.
#pragma once

#include <deque>
#include <string>

#include "ui/panels/panel.h"

namespace echolux {

class RecentValues {
  public:
    // Twice a second at most; what is older than a minute is forgotten.
    void add(double now_s, double value);

    double max() const;

    struct At {
        double time_s, value;
    };
    const std::deque<At>& values() const { return values_; }

  private:
    std::deque<At> values_;
};

// "name   [curve]   value unit".
void sparkline(const PanelContext& context, const char* name, const RecentValues& recent, double now_s,
               const std::string& value, const char* unit);

}  // namespace echolux
