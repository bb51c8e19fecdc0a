# Writes the commit that is being built, and whether what is built differs from it, if either has changed.
#   SOURCE    the folder of the tree
#   COMPILED  a file that names the files in it that become part of the program, one a line
#   EXPORTED  the commit of a clean tree that was exported without its history; else empty
#   OUTPUT    the header
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(commit "unknown")
set(dirty "true")
if(EXPORTED)
  set(commit ${EXPORTED})
  set(dirty "false")
elseif(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${head})
    execute_process(COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
    # Sources are globbed: a source that git does not know, or ignores, is compiled as well. Other untracked files, such
    # as results, are no part of the program.
    file(STRINGS ${COMPILED} compiled ENCODING UTF-8)
    execute_process(COMMAND ${GIT_EXECUTABLE} --literal-pathspecs ls-files --error-unmatch -- ${compiled}
      WORKING_DIRECTORY ${SOURCE} OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE untracked)
    if(status EQUAL 0 AND changes STREQUAL "" AND untracked EQUAL 0)
      set(dirty "false")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
  "#pragma once\ninline constexpr char kGitCommit[] = \"@commit@\";\ninline constexpr bool kGitDirty = @dirty@;\n" @ONLY)
