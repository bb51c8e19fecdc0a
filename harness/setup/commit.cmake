# Writes the commit that is being built, and whether the tree differs from it, if either has changed.
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
      OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(changes STREQUAL "")
      set(dirty "false")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
  "#pragma once\ninline constexpr char kGitCommit[] = \"@commit@\";\ninline constexpr bool kGitDirty = @dirty@;\n" @ONLY)
