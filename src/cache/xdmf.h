// frames.xdmf: a small index through which ParaView and others open the frames as one animation.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "cache/frame_file.h"
#include "cache/run_folder.h"

namespace barchan {

// The text for frames that lie in frames/ beside the file. Columns that do not have one row a
// particle (the spheres of clusters) are left out.
std::string xdmf_text(std::span<const FrameSummary> frames);

// Writes folder/frames.xdmf for all frames that are there; broken ones are skipped with a warning.
void write_xdmf(const RunFolder& folder);
void write_xdmf(const RunFolder& folder, std::span<const FrameSummary> frames);

}  // namespace barchan
