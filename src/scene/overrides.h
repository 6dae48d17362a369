// --set section.key=value
#pragma once

#include <string>

#include "scene/node.h"

namespace barchan {

// Puts the value into the document as if the file had said so. Items of lists are named by their
// `name` or counted from 1: solid.tank.friction=0.2, fill.1.velocity=[0,0,1].
void apply_override(const std::string& setting, Node& document);

}  // namespace barchan
