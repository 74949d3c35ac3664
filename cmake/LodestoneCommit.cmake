# SPDX-License-Identifier: Apache-2.0
# cmake -DGIT=… -DSOURCE=… -DTEMPLATE=… -DOUTPUT=… -P LodestoneCommit.cmake, run by every build: OUTPUT from TEMPLATE with the commit of SOURCE, "-dirty" behind
# it where tracked files were changed, "unknown" without git or where SOURCE is no checkout of its own (a tarball unpacked inside another one).
set(LODESTONE_COMMIT "unknown")
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${GIT}" -C "${SOURCE}" describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(LODESTONE_COMMIT "${commit}")
  endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)  # writes only what changed
