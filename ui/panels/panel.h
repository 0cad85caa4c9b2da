// A foldable part of the window's sides. Panels show what the workspace holds and call its actions and settings; they
// keep nothing but what is needed to draw themselves; what they share with the window around them is a PanelState.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ui/panels/panel_state.h"
#include "ui/panels/style.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct PanelContext {
    Workspace& work;
    const Style& style;
    PanelState& state;  // of the window
};

enum class PanelSide { left, right, bottom };

class Panel {
  public:
    virtual ~Panel() = default;

    virtual std::string_view id() const = 0;     // "transfer": in window.open_panels
    virtual std::string_view title() const = 0;  // "Transfer function"
    virtual PanelSide side() const = 0;
    virtual bool is_there(Workspace&) const { return true; }  // false: it has nothing to say now

    // Above the other panels of its side, while that is what one looks at.
    virtual bool comes_first(Workspace&) const { return false; }

    // Inside an ImGui child as wide as the side; the title stands above already.
    virtual void draw(const PanelContext& context) = 0;
};

// All panels in their order from the top.
std::vector<std::unique_ptr<Panel>> make_panels();

// In the middle instead of the panes, for alignment with a mirror in the sample arm.
std::unique_ptr<Panel> make_alignment_view();

}  // namespace echolux
