#include "cache/xdmf.h"

#include <fmt/format.h>

#include <vector>

#include "barchan/error.h"
#include "base/atomic_file.h"
#include "base/log.h"

namespace barchan {

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Xdmf readers know no unsigned 64-bit numbers; ids fit the signed ones, and HDF5 converts them.
const char* number_type(Type type) {
  switch (type) {
    case Type::f32:
      return R"(NumberType="Float" Precision="4")";
    case Type::f64:
      return R"(NumberType="Float" Precision="8")";
    case Type::u8:
      return R"(NumberType="UChar" Precision="1")";
    case Type::u32:
      return R"(NumberType="UInt" Precision="4")";
    case Type::u64:
      return R"(NumberType="Int" Precision="8")";
  }
  return "";
}

const char* attribute_type(int components) {
  switch (components) {
    case 1:
      return "Scalar";
    case 3:
      return "Vector";
    case 6:
      return "Tensor6";
    case 9:
      return "Tensor";
    default:
      return "Matrix";
  }
}

std::string data_item(const FrameSummary& frame, const FrameField& field) {
  const std::string size = field.components == 1
                               ? fmt::format("{}", field.size)
                               : fmt::format("{} {}", field.size, field.components);
  return fmt::format(
      R"(<DataItem Format="HDF" {} Dimensions="{}">frames/frame_{:06}.h5:/{}</DataItem>)",
      number_type(field.type), size, frame.index, escaped(field.name));
}

std::string grid(const FrameSummary& frame) {
  std::string text =
      fmt::format("      <Grid Name=\"frame_{:06}\" GridType=\"Uniform\">\n", frame.index);
  text += fmt::format("        <Time Value=\"{}\"/>\n", frame.time);
  text += fmt::format(
      "        <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"{}\" "
      "NodesPerElement=\"1\"/>\n",
      frame.particles);
  for (const FrameField& field : frame.fields) {
    const std::string item = data_item(frame, field);
    if (field.name == "position") {
      text +=
          "        <Geometry GeometryType=\"XYZ\">\n          " + item + "\n        </Geometry>\n";
    } else if (field.size == frame.particles && field.name.find('/') == std::string::npos) {
      text += fmt::format(
          "        <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"Node\">\n          {}\n"
          "        </Attribute>\n",
          escaped(field.name), attribute_type(field.components), item);
    }
  }
  return text + "      </Grid>\n";
}

}  // namespace

std::string xdmf_text(std::span<const FrameSummary> frames) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n<Xdmf Version=\"3.0\">\n"
      "  <Domain>\n"
      "    <Grid Name=\"particles\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
  for (const FrameSummary& frame : frames) text += grid(frame);
  return text + "    </Grid>\n  </Domain>\n</Xdmf>\n";
}

void write_xdmf(const RunFolder& folder) {
  std::vector<FrameSummary> frames;
  for (const std::int64_t index : folder.frames()) {
    try {
      frames.push_back(summarize_frame(folder.frame(index)));
      frames.back().index = index;  // its name counts, should someone have renamed it
    } catch (const Error& error) {
      warn("{}; frames.xdmf leaves it out", error.what());
    }
  }
  write_xdmf(folder, frames);
}

void write_xdmf(const RunFolder& folder, std::span<const FrameSummary> frames) {
  write_file_atomic(folder.xdmf(), xdmf_text(frames));
}

}  // namespace barchan
