// A page of results as one HTML file: pictures and plots are inside it, nothing is fetched.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barchan {

class HtmlPage {
 public:
  enum class Mark { none, good, bad };
  struct Cell {
    Cell(std::string of, Mark how = Mark::none) : text(std::move(of)), mark(how) {}
    Cell(const char* of) : text(of) {}
    std::string text;
    Mark mark = Mark::none;
  };
  struct Picture {
    std::filesystem::path file;  // PNG or SVG
    std::string caption;
  };

  explicit HtmlPage(const std::string& title);

  // Texts are plain; what HTML would take for its own is written so that it is read as it stands.
  void heading(const std::string& text, int level = 2);
  void paragraph(const std::string& text);
  void command(const std::string& text);  // what to type
  void list(const std::vector<std::string>& items);
  // The first cell of a row is its name; cells of numbers stand on the right.
  void table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows);
  // Side by side, so many in a row. Files that are missing leave their place empty.
  void pictures(const std::vector<Picture>& pictures, int columns);

  void write(const std::filesystem::path& file) const;  // aside, then renamed

 private:
  std::string text_;
};

std::string base64(const std::string& bytes);

}  // namespace barchan
