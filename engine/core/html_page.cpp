// SPDX-License-Identifier: Apache-2.0
#include "engine/core/html_page.hpp"

#include "engine/core/markup.hpp"

#include <fmt/format.h>

namespace lodestone::core {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 "DejaVu Sans", Verdana, system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto; padding: 0 24px 60px; max-width: 1060px; }
h1 { font-size: 26px; line-height: 1.25; margin: 36px 0 4px; }
h2 { font-size: 19px; margin: 44px 0 10px; padding-bottom: 4px; border-bottom: 1px solid #ccc; }
p.lead { color: #555; margin: 0 0 18px; }
nav a { margin-right: 18px; color: #1a5a96; text-decoration: none; }
figure { margin: 18px 0 26px; }
figcaption { font-size: 13px; color: #555; max-width: 900px; }
svg { max-width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
.soundings { display: flex; flex-wrap: wrap; }
table { border-collapse: collapse; font-size: 13px; margin: 10px 0 18px; }
th, td { text-align: left; vertical-align: top; padding: 4px 16px 4px 0; border-bottom: 1px solid #e4e4e4; }
th { font-weight: 600; border-bottom: 1px solid #999; }
pre { font: 12px/1.45 "DejaVu Sans Mono", monospace; background: #f6f6f4; padding: 12px 14px; overflow-x: auto; }
summary { cursor: pointer; color: #1a5a96; margin: 10px 0; }
@media print { body { max-width: none; } details > * { display: block; } figure { break-inside: avoid; } }
)";

}  // namespace

void HtmlPage::heading(const std::string& id, const std::string& text) {
  body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", id, escaped(text));
  navigation_ += fmt::format("<a href=\"#{}\">{}</a>", id, escaped(text));
}

void HtmlPage::paragraph(const std::string& text) { body_ += "<p>" + escaped(text) + "</p>\n"; }

std::string HtmlPage::text(const std::string& title, const std::string& lead) const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p "
      "class=\"lead\">{2}</p>\n<nav>{3}</nav>\n{4}</body>\n</html>\n",
      escaped(title), style, escaped(lead), navigation_, body_);
}

}  // namespace lodestone::core
