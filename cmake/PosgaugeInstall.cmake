# Everything that find_package(posgauge) needs. *-inl.h are Highway's per-target bodies: not public;
# vectors/ and models/ hold data, no headers.
get_property(libraries GLOBAL PROPERTY POSGAUGE_LIBRARIES)
install(TARGETS ${libraries} EXPORT posgauge-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(room schemes reference verify fast properties golden)
  install(DIRECTORY ${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/posgauge
          FILES_MATCHING PATTERN "*.h"
          PATTERN "*-inl.h" EXCLUDE PATTERN vectors EXCLUDE PATTERN models EXCLUDE)
endforeach()
install(DIRECTORY golden/vectors golden/models
        DESTINATION ${CMAKE_INSTALL_DATADIR}/posgauge/golden)
install(FILES golden/manifest.schema.json golden/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/posgauge/golden)
install(DIRECTORY adapters DESTINATION ${CMAKE_INSTALL_DATADIR}/posgauge
        FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES verify/kernel.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/posgauge)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/posgauge DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(EXPORT posgauge-targets NAMESPACE posgauge::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posgauge)
configure_package_config_file(cmake/posgauge-config.cmake.in
                              ${PROJECT_BINARY_DIR}/posgauge-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posgauge)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/posgauge-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/posgauge-config.cmake
              ${PROJECT_BINARY_DIR}/posgauge-config-version.cmake cmake/FindMPFR.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posgauge)
