// Fixture: a workspace steered by requests that may open the files in its folder.
#pragma once

#include <memory>
#include <vector>

#include "engine/io/file_name.h"
#include "ui/control/control.h"
#include "workspace_fixture.h"

namespace echolux::test {

class ControlledTest : public WorkspaceTest {
  protected:
    void SetUp() override {
        WorkspaceTest::SetUp();
        const auto folders = std::make_shared<AllowedFolders>(std::vector{folder().path()});
        control_ = std::make_unique<Control>(work(), ControlOptions{folders});
    }
    void TearDown() override {
        control_.reset();
        WorkspaceTest::TearDown();
    }

    Control& control() { return *control_; }

  private:
    std::unique_ptr<Control> control_;
};

}  // namespace echolux::test
