# scanlab::DeviceScan for other programs: the target Scanlab::device_scan, and its installation. Included by CMakeLists.txt,
# for Scanlab itself and where it is a part of another project (FetchContent, add_subdirectory).

# Writes `header` as one file `output`: each project header that it includes in its place, the first time that it is included.
function(scanlab_single_header header output)
  file(READ ${PROJECT_SOURCE_DIR}/LICENSE license)
  file(READ ${PROJECT_SOURCE_DIR}/tools/device_scan_namespace.hpp namespace)
  set(text "// ${PROJECT_NAME} ${PROJECT_VERSION}: made of the repository's headers, each at its first #include.\n/*\n${license}*/\n")
  string(APPEND text "#pragma once\n#pragma GCC system_header\n${namespace}#include \"${header}\"\n")
  set(seen "")
  while(text MATCHES "#include \"([^\"\n]+)\"[^\n]*\n")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_1}")
    set(body "")
    if(NOT name IN_LIST seen)
      list(APPEND seen ${name})
      file(READ ${PROJECT_SOURCE_DIR}/${name} body)
      string(REPLACE "#pragma once\n" "" body "${body}")
      string(PREPEND body "\n// ---- ${name}\n")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${name})
    endif()
    string(FIND "${text}" "${line}" begin)
    string(LENGTH "${line}" length)
    math(EXPR end "${begin} + ${length}")
    string(SUBSTRING "${text}" 0 ${begin} before)
    string(SUBSTRING "${text}" ${end} -1 after)
    set(text "${before}${body}${after}")
  endwhile()
  # Code for other architectures, or from another text, has other names: both may be linked to the same program.
  string(REGEX REPLACE "namespace scanlab([ :])" "namespace scanlab::inline SCANLAB_ABI\\1" text "${text}")
  string(SHA256 digest "${text}")
  string(SUBSTRING ${digest} 0 8 digest)
  string(REPLACE "(scanlab_0_1_sm," "(scanlab_0_1_${digest}_sm," text "${text}")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
scanlab_single_header(include/scanlab/device_scan.cuh ${PROJECT_BINARY_DIR}/include/scanlab/device_scan.cuh)

add_library(scanlab_device_scan INTERFACE)
add_library(Scanlab::device_scan ALIAS scanlab_device_scan)
set_target_properties(scanlab_device_scan PROPERTIES EXPORT_NAME device_scan)
include(CMakePackageConfigHelpers)
target_include_directories(scanlab_device_scan INTERFACE
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:include>)
if(NOT PROJECT_IS_TOP_LEVEL)  # what another project installs is its own affair
  return()
endif()

set(package share/cmake/Scanlab)  # nothing of it is of an architecture, and no compiler is asked for one
install(TARGETS scanlab_device_scan EXPORT ScanlabConfig COMPONENT device_scan)
install(EXPORT ScanlabConfig NAMESPACE Scanlab:: DESTINATION ${package} COMPONENT device_scan)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ScanlabConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/ScanlabConfigVersion.cmake DESTINATION ${package} COMPONENT device_scan)
install(FILES ${PROJECT_BINARY_DIR}/include/scanlab/device_scan.cuh DESTINATION include/scanlab COMPONENT device_scan)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/scanlab COMPONENT device_scan)
