// Part of the export panel that makes movies.
#pragma once

#include <memory>

#include "ui/panels/panel.h"

namespace echolux {

class ExportMovie {
  public:
    ExportMovie();
    ~ExportMovie();

    // Draws the settings and the button. The movie is made by a job.
    void draw(const PanelContext& context);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
