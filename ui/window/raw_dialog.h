// Dialog for a raw file without a description: a proposal with a preview, which the user corrects and accepts.
#pragma once

#include "ui/window/overlay.h"

namespace echolux {

class RawDialog : public Overlay {
  public:
    // Draws the dialog while the workspace has a proposal.
    void draw(const PanelContext& context, ImVec2 size) override;

    void close(const PanelContext& context);  // discards the proposal; the file stays without a description

  private:
    void draw_guesses(const PanelContext& context);
    void draw_settings(const PanelContext& context);
    void draw_preview(const PanelContext& context, ImVec2 size) const;
    void draw_answer(const PanelContext& context);
};

}  // namespace echolux
