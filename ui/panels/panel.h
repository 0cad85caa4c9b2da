// Base of the foldable panels at the sides of the window. Panels display the workspace and call its actions and
// settings. They only keep state for drawing; PanelState is shared with the window.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "ui/panels/panel_state.h"
#include "ui/panels/style.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// References passed to a panel while it is drawn.
struct PanelContext {
    Workspace& work;
    const Style& style;
    PanelState& state;  // owned by the window
};

enum class PanelSide { left, right, bottom };

class Panel {
  public:
    virtual ~Panel() = default;

    virtual std::string_view id() const = 0;     // such as "transfer"; used in window.open_panels
    virtual std::string_view title() const = 0;  // such as "Transfer function"
    virtual PanelSide side() const = 0;
    virtual bool is_there(Workspace&) const { return true; }  // false hides the panel

    // Moves the panel to the top of its side.
    virtual bool comes_first(Workspace&) const { return false; }

    // Draws the content. Called within an ImGui child of the width of the side, below the title.
    virtual void draw(const PanelContext& context) = 0;
};

// Creates all panels in their order from top to bottom.
std::vector<std::unique_ptr<Panel>> make_panels();

// Creates the view that replaces the panes during alignment with a mirror in the sample arm.
std::unique_ptr<Panel> make_alignment_view();

}  // namespace echolux
