// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a page that has pictures.
#pragma once

#include "engine/core/html_page.hpp"
#include "io/report/canvas.hpp"

namespace lodestone::io::report {

/// A page that also writes each of its pictures as PNG.
class Page : public core::HtmlPage {
 public:
  /// `pictures`: the folder of the PNG files, which exists.
  explicit Page(std::filesystem::path pictures) : pictures_(std::move(pictures)) {}

  /// errors of both: FileError.
  void figure(const Canvas& canvas, const std::string& name, const std::string& caption);
  void png(const Canvas& canvas, const std::string& name) const {
    canvas.write_png(pictures_ / (name + ".png"));
  }

 private:
  std::filesystem::path pictures_;
};

}  // namespace lodestone::io::report
