#include "harness/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/program.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStyle = R"(
body { font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222; background: #fff;
       max-width: 1400px; margin: 2em auto; padding: 0 1.5em; }
h1 { font-size: 1.7em; } h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
h3 { margin: 1.6em 0 0.3em; }
table { border-collapse: collapse; margin: 0.8em 0; }
th, td { padding: 0.25em 0.9em; border-bottom: 1px solid #ddd; text-align: right;
         font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child, .text { text-align: left; }
th { border-bottom: 2px solid #888; }
.good { color: #1a7a35; } .bad { color: #b3261e; font-weight: bold; }
.pictures { display: grid; gap: 0.7em; margin: 0.8em 0; align-items: start; }
figure { margin: 0; } figure img { max-width: 100%; display: block; border-radius: 3px; }
figcaption { color: #666; font-size: 0.85em; }
pre { background: #f4f2ee; padding: 0.7em 1em; overflow-x: auto; }
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

// Renders are large as PNG: of those a page has a JPEG, 960 pixels wide at most.
std::string picture_address(const fs::path& file) {
  if (file.extension() == ".svg") {
    return "data:image/svg+xml;base64," + base64(read_text_file(file));
  }
  constexpr std::uintmax_t kLarge = 120'000;  // [bytes]
  if (fs::file_size(file) <= kLarge) {
    return "data:image/png;base64," + base64(read_text_file(file));
  }
  const TemporaryFile jpeg(file.string() + ".part.jpg");
  try {
    run_tool({"ffmpeg", "-v", "error", "-y", "-i", file.string(), "-vf", "scale='min(960,iw)':-2",
              "-q:v", "3", jpeg.path.string()},
             "cannot make " + file.string() + " smaller", "ffmpeg");
    return "data:image/jpeg;base64," + base64(read_text_file(jpeg.path));
  } catch (const Error&) {  // without ffmpeg the page is larger, that is all
    return "data:image/png;base64," + base64(read_text_file(file));
  }
}

// Numbers may have a unit, a sign or a percentage beside them.
bool is_number(const std::string& text) {
  return text.empty() || text.find_first_of("0123456789") < 2 || text == "-";
}

}  // namespace

std::string base64(const std::string& bytes) {
  constexpr const char* kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() * 4 / 3 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8 | (k < there ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= there ? kLetters[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

HtmlPage::HtmlPage(const std::string& title)
    : text_(fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                        "<title>{0}</title>\n<style>{1}</style></head><body>\n<h1>{0}</h1>\n",
                        escaped(title), kStyle)) {}

void HtmlPage::heading(const std::string& text, int level) {
  text_ += fmt::format("<h{0}>{1}</h{0}>\n", level, escaped(text));
}
void HtmlPage::paragraph(const std::string& text) {
  text_ += "<p>" + escaped(text) + "</p>\n";
}
void HtmlPage::command(const std::string& text) {
  text_ += "<pre>" + escaped(text) + "</pre>\n";
}

void HtmlPage::list(const std::vector<std::string>& items) {
  text_ += "<ul>\n";
  for (const std::string& item : items) text_ += "<li>" + escaped(item) + "</li>\n";
  text_ += "</ul>\n";
}

void HtmlPage::table(const std::vector<std::string>& header,
                     const std::vector<std::vector<Cell>>& rows) {
  text_ += "<table>\n<tr>";
  for (std::size_t c = 0; c < header.size(); ++c) {
    const bool text = std::any_of(rows.begin(), rows.end(), [&](const std::vector<Cell>& row) {
      return c < row.size() && !is_number(row[c].text);
    });
    text_ += fmt::format("<th class=\"{}\">{}</th>", text ? "text" : "number", escaped(header[c]));
  }
  text_ += "</tr>\n";
  for (const std::vector<Cell>& row : rows) {
    text_ += "<tr>";
    for (const Cell& cell : row) {
      const std::string mark = cell.mark == Mark::good  ? " good"
                               : cell.mark == Mark::bad ? " bad"
                                                        : "";
      const std::string kind = (is_number(cell.text) ? "number" : "text") + mark;
      text_ += fmt::format("<td class=\"{}\">{}</td>", kind, escaped(cell.text));
    }
    text_ += "</tr>\n";
  }
  text_ += "</table>\n";
}

void HtmlPage::pictures(const std::vector<Picture>& pictures, int columns) {
  text_ += fmt::format(
      "<div class=\"pictures\" style=\"grid-template-columns: repeat({}, minmax(0, 1fr))\">\n",
      columns);
  for (const Picture& picture : pictures) {
    std::error_code none;
    const bool there = fs::is_regular_file(picture.file, none);
    const std::string caption = escaped(picture.caption);
    text_ += "<figure>";
    if (there) {
      text_ += "<img alt=\"" + caption + "\" src=\"" + picture_address(picture.file) + "\">";
    }
    text_ += "<figcaption>" + caption + "</figcaption></figure>\n";
  }
  text_ += "</div>\n";
}

void HtmlPage::write(const fs::path& file) const {
  if (file.has_parent_path()) fs::create_directories(file.parent_path());
  write_file_atomic(file, text_ + "</body></html>\n");
}

}  // namespace barchan
